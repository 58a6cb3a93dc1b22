"""A position inside a ladder: settled by counting, or the moves worth trying."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import chains as chains_lib
from alphago_jax.go import mailbox

UNDECIDED, CAUGHT, FREE = range(3)


class Node(NamedTuple):
    """A position inside a reading. Unbatched.

    Attributes:
      board: int16 [P], stones of the prey's colour positive.
      prey: int32, cell of a stone of the prey.
      defends: bool, the defender is to move.
      ko_cell: int32, cell that may not be retaken now, or −1.
    """

    board: jax.Array
    prey: jax.Array
    defends: jax.Array
    ko_cell: jax.Array


class _Point(NamedTuple):
    """A liberty of the prey, and what a stone there would do. Scalars.

    Attributes:
      extension: mask [N·(N+1)] of the liberties of the prey after the defender's
        stone, but for captures and for the prey's own two liberties.
      defender_captures: the defender's stone would capture.
      attacker_captures: the attacker's stone would capture.
      attacker_lives: the attacker's stone would have a liberty.
    """

    extension: jax.Array
    defender_captures: jax.Array
    attacker_captures: jax.Array
    attacker_lives: jax.Array


def _examine(board: jax.Array, label: jax.Array, cell: jax.Array, size: int) -> _Point:
    beside = board[cell + mailbox.offsets(size)]  # [4]
    stone = jnp.abs(beside) < chains_lib.WALL
    atari = (beside & 1) == 1
    friend = jnp.where(stone & (beside > 0), beside, label)
    group = np.arange(board.shape[0], dtype=np.int16) == cell.astype(jnp.int16)
    group = group | (board == label)
    for k in range(4):
        group = group | (board == friend[k])
    sides = mailbox.shifts(group, size)
    empty = mailbox.interior(board, size) == 0
    attacker_captures = jnp.any(stone & (beside > 0) & atari)
    joins = stone & (beside < 0) & ~atari
    return _Point(
        extension=empty & (sides[0] | sides[1] | sides[2] | sides[3]),
        defender_captures=jnp.any(stone & (beside < 0) & atari),
        attacker_captures=attacker_captures,
        attacker_lives=attacker_captures | jnp.any((beside == 0) | joins),
    )


def analyse(
    node: Node, is_first: jax.Array | bool = False
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Settles a position by counting, or lists the moves worth trying.

    Args:
      node: unbatched.
      is_first: only list the moves; every one that might work is wanted.

    Returns:
      int32 scalar, undecided, caught or free; bool [P], the moves; int32 scalar,
      the cell to try first, −1 for any.
    """
    board = node.board
    size = mailbox.board_side(board.shape[0])
    label = board[node.prey]
    inner = mailbox.interior(board, size)
    empty = inner == 0
    sides = mailbox.shifts(board, size)
    beside = (
        (sides[0] == label)
        | (sides[1] == label)
        | (sides[2] == label)
        | (sides[3] == label)
    )
    cells = np.arange(inner.shape[0], dtype=np.int32)
    # The number of liberties, and with two of them, both: N·(N+1) < 1024.
    total = jnp.sum(jnp.where(empty & beside, cells + (1 << 20), 0), dtype=jnp.int32)
    count, index_sum = total >> 20, total & ((1 << 20) - 1)
    low = jnp.min(jnp.where(empty & beside, cells, inner.shape[0] - 1))
    high = jnp.where(count == 2, index_sum - low, low)
    pair = [low, high]
    points = [_examine(board, label, c + size + 1, size) for c in pair]
    other = (cells != low) & (cells != high)
    packed = (points[0].extension & other).astype(jnp.int32)
    packed += (points[1].extension & other).astype(jnp.int32) << 10
    packed = jnp.sum(packed, dtype=jnp.int32)
    gains = [packed & 1023, packed >> 10]

    ko = node.ko_cell - (size + 1)
    tries = [
        points[k].attacker_lives
        & (pair[k] != ko)
        & (points[k].attacker_captures | (gains[1 - k] < 3))
        for k in range(2)
    ]
    attack = ((cells == low) & tries[0]) | ((cells == high) & tries[1])
    attack_verdict = jnp.where(count < 2, CAUGHT, jnp.where(count > 2, FREE, 0))

    extends = (points[0].defender_captures | (gains[0] >= 2)) & (low != ko)
    frees = (gains[0] >= 3) & (low != ko)
    rescue = _rescues(node, beside, size) & (cells != ko)
    rescue = rescue | ((cells == low) & extends)
    rescue_verdict = jnp.where((count > 1) | frees, FREE, UNDECIDED)

    options = empty & jnp.where(node.defends, rescue, attack)
    verdict = jnp.where(node.defends, rescue_verdict, attack_verdict)
    stuck = jnp.where(node.defends, CAUGHT, FREE)
    verdict = jnp.where((verdict == 0) & ~jnp.any(options), stuck, verdict)
    width = size + 1
    better = jnp.where(gains[1] <= gains[0], low, high)
    only = jnp.where(tries[0] & tries[1], better, -1 - width)
    best = jnp.where(node.defends | is_first, -1, only + width)
    options = jnp.pad(options, (width, board.shape[0] - width - cells.shape[0]))
    return jnp.where(is_first, UNDECIDED, verdict), options, best


def _rescues(node: Node, beside: jax.Array, size: int) -> jax.Array:
    """Cells where the defender captures a chain in atari that touches the prey.

    Args:
      node: unbatched.
      beside: bool [N·(N+1)], cells next to the prey.
      size: array side N.

    Returns:
      bool [N·(N+1)].
    """
    inner = mailbox.interior(node.board, size)
    sides = mailbox.shifts(node.board, size)
    near = beside & (inner < 0) & ((inner & 1) == 1) & node.defends
    labels = jnp.where(near, inner, np.int16(0))  # walls are positive

    def one_round(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        labels, found = carry
        lowest = jnp.min(labels)
        touches = sides[0] == lowest
        for side in sides[1:]:
            touches = touches | (side == lowest)
        found = found | (touches & (lowest < 0))
        return jnp.where(labels == lowest, np.int16(0), labels), found

    _, found = jax.lax.while_loop(
        lambda carry: jnp.any(carry[0] < 0),
        one_round,
        (labels, jnp.zeros(inner.shape, bool)),
    )
    return found & (inner == 0)
