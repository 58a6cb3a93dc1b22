"""Connected regions: flood fill of row bitboards, and labels of components.

A flood is a loop that ends when nothing changes. A round goes up to three points
along the rows and one along the columns; rounds that fill whole rows, by five
doubling steps, are fewer but were slower.
"""

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import mailbox


def pack(mask: jax.Array) -> jax.Array:
    """Row bitboards of points. bool [..., N, N] -> uint32 [..., N]."""
    bits = np.uint32(1) << np.arange(mask.shape[-1], dtype=np.uint32)
    return jnp.sum(jnp.where(mask, bits, np.uint32(0)), axis=-1, dtype=jnp.uint32)


def beside_rows(rows: jax.Array) -> jax.Array:
    """Points next to the points of row bitboards. uint32 [..., N] -> same.

    Bits beyond the last column may be set; mask them with the board.
    """
    edge = [(0, 0)] * (rows.ndim - 1)
    up = jnp.pad(rows[..., 1:], [*edge, (0, 1)])
    down = jnp.pad(rows[..., :-1], [*edge, (1, 0)])
    return (rows << np.uint32(1)) | (rows >> np.uint32(1)) | up | down


def flood(seeds: jax.Array, allowed: jax.Array) -> jax.Array:
    """Points that a path over allowed points joins to a seed.

    Args:
      seeds: uint32 [..., N], row bitboards; seeds that are not allowed are ignored.
      allowed: uint32 [..., N].

    Returns:
      uint32 [..., N].
    """
    # Points whose neighbour to one side is open too: the spread may go on by two.
    from_left = allowed & (allowed << np.uint32(1))
    from_right = allowed & (allowed >> np.uint32(1))

    def spread(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        before, _ = carry
        after = before | (allowed & beside_rows(before))
        after = after | (from_left & (after << 2)) | (from_right & (after >> 2))
        return after, jnp.any(after != before)

    start = seeds & allowed
    filled, _ = jax.lax.while_loop(
        lambda carry: carry[1], spread, (start, jnp.any(start != 0))
    )
    return filled


def components(mask: jax.Array, preferred: jax.Array | None = None) -> jax.Array:
    """Labels connected points with one point of their component.

    All points of a component stand as candidates, and every bit of the row and then
    of the column strikes out those with a one if there is one with a zero. This takes
    ten floods on boards up to 32×32, whatever the shapes, and no label is ever looked
    up; passing the smallest label from point to point took five times as long.

    Args:
      mask: uint32 [N], row bitboard.
      preferred: uint32 [N], points that are to be labels where a component holds one;
        by default all.

    Returns:
      int32 [N, N]: row · N + column of the first point of the component (the first
      preferred one); −1 outside the mask.
    """
    size = mask.shape[-1]
    candidates = mask
    if preferred is not None:
        holds = flood(preferred, mask)
        candidates = mask & (preferred | ~holds)

    def strike(candidates: jax.Array, zeros: jax.Array) -> tuple[jax.Array, jax.Array]:
        has_zero = flood(candidates & zeros, mask)
        return candidates & (zeros | ~has_zero), has_zero

    _, has_zero = jax.lax.scan(strike, candidates, jnp.asarray(_zero_bits(size)))
    points = mailbox.unpack_rows(has_zero)  # [2·bits, N, N]
    labels = jnp.sum(
        jnp.where(points, 0, _bit_values(size)[:, None, None]), axis=0, dtype=jnp.int32
    )
    return jnp.where(mailbox.unpack_rows(mask), labels, -1)


def _zero_bits(size: int) -> np.ndarray:
    """Points whose row, then column, has a zero in each bit. uint32 [2·bits, N]."""
    number = np.arange(size)
    all_columns = (1 << size) - 1
    rows, columns = [], []
    for bit in reversed(range((size - 1).bit_length())):
        zero = (number >> bit) & 1 == 0
        rows.append(np.where(zero, all_columns, 0))
        columns.append(np.full(size, int(np.sum(zero * (1 << number)))))
    return np.array(rows + columns, np.uint32)


def _bit_values(size: int) -> np.ndarray:
    """What each bit of `_zero_bits` adds to row · N + column. int32 [2·bits]."""
    bits = 1 << np.arange((size - 1).bit_length())[::-1]
    return np.concatenate([bits * size, bits]).astype(np.int32)
