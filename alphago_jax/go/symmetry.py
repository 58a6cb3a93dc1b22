"""The eight symmetries of the board, one definition for everything.

A symmetry is a number k in 0..7: bit 0 flips the rows, bit 1 flips the columns,
bit 2 transposes, in this order (KataGo's numbering). Planes, policy, ownership
and moves all go through `sources` and `transform_action`, so that they cannot
disagree. `k` may be traced, and a board smaller than its arrays turns in place.
"""

import jax
import jax.numpy as jnp
import numpy as np

NUM_SYMMETRIES = 8


def inverse(k: int | jax.Array) -> int | jax.Array:
    """The symmetry that undoes `k`."""
    flips = k & 3
    swapped = ((flips & 1) << 1) | (flips >> 1)
    transposed = k >> 2
    # A transposition exchanges the two flips.
    return transposed * (4 | swapped) + (1 - transposed) * flips


def sources(
    k: int | jax.Array, size: int, board_size: int | jax.Array | None = None
) -> jax.Array:
    """Where every point of the transformed board comes from.

    Args:
      k: symmetry, may be traced.
      size: array side N.
      board_size: side of the board in play (N by default), may be traced.

    Returns:
      int32 [N²]; `transformed[i] = original[sources[i]]`. Points off the board
      in play stay where they are.
    """
    last = (size if board_size is None else board_size) - 1
    row, column = np.divmod(np.arange(size * size, dtype=np.int32), size)
    transposed = (k & 4) > 0
    r = jnp.where(transposed, column, row)
    c = jnp.where(transposed, row, column)
    r = jnp.where((k & 1) > 0, last - r, r)
    c = jnp.where((k & 2) > 0, last - c, c)
    inside = (row <= last) & (column <= last)
    return jnp.where(inside, r * size + c, row * size + column).astype(jnp.int32)


def transform_action(
    action: jax.Array,
    k: int | jax.Array,
    size: int,
    board_size: int | jax.Array | None = None,
) -> jax.Array:
    """Where an action goes; a pass stays a pass. int32 [...] -> int32 [...]."""
    last = (size if board_size is None else board_size) - 1
    row, column = jnp.divmod(jnp.asarray(action, jnp.int32), size)
    r = jnp.where((k & 1) > 0, last - row, row)
    c = jnp.where((k & 2) > 0, last - column, column)
    transposed = (k & 4) > 0
    moved = jnp.where(transposed, c * size + r, r * size + c)
    return jnp.where(action == size * size, action, moved)


def transform_board(
    board: jax.Array, k: int | jax.Array, board_size: int | jax.Array | None = None
) -> jax.Array:
    """Transforms planes or one board. [N, N, ...] -> [N, N, ...]."""
    size = board.shape[0]
    flat = board.reshape(size * size, *board.shape[2:])
    return flat[sources(k, size, board_size)].reshape(board.shape)


def transform_policy(
    policy: jax.Array,
    k: int | jax.Array,
    size: int,
    board_size: int | jax.Array | None = None,
) -> jax.Array:
    """Transforms one value per action; the pass keeps its own. [A] -> [A]."""
    points = policy[sources(k, size, board_size)]
    return jnp.concatenate([points, policy[size * size :]])
