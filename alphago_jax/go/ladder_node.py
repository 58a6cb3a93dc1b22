"""A position inside a ladder: settled by counting, or the moves worth trying."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import chains as chains_lib
from alphago_jax.go import mailbox

UNDECIDED, CAUGHT, FREE = range(3)
# Moves listed for one position; the defender's are an extension and captures.
NUM_OPTIONS = 8


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
) -> tuple[jax.Array, jax.Array]:
    """Settles a position by counting, or lists the moves worth trying.

    Args:
      node: unbatched.
      is_first: only list the moves; every one that might work is wanted.

    Returns:
      int32 scalar, undecided, caught or free; int32 [NUM_OPTIONS], cells of the
      moves, the first to try first, −1 for none.
    """
    board = node.board
    size = mailbox.board_side(board.shape[0])
    label = board[node.prey]
    inner = mailbox.interior(board, size)
    beside = _touches(mailbox.shifts(board, size), label)
    cells = np.arange(inner.shape[0], dtype=np.int32) + (size + 1)
    liberty = (inner == 0) & beside
    # The number of liberties and the sum of their cells, which are below 1024.
    total = jnp.sum(jnp.where(liberty, cells + (1 << 20), 0), dtype=jnp.int32)
    count, cell_sum = total >> 20, total & ((1 << 20) - 1)
    low = jnp.min(jnp.where(liberty, cells, cells[-1]))
    high = jnp.where(count == 2, cell_sum - low, low)
    pair = [low, high]
    points = [_examine(board, label, cell, size) for cell in pair]
    other = (cells != low) & (cells != high)
    gains = (points[0].extension & other).astype(jnp.int32)
    gains += (points[1].extension & other).astype(jnp.int32) << 10
    gains = jnp.sum(gains, dtype=jnp.int32)
    gains = [gains & 1023, gains >> 10]
    verdict, options = _attacks(node, count, pair, points, gains)
    defence = _defences(node, count, low, points[0], gains[0])
    captures = _rescues(node, beside, size)
    captures = jnp.where(captures == node.ko_cell, -1, captures)
    verdict = jnp.where(node.defends, defence[0], verdict)
    defences = _each_once(jnp.concatenate([defence[1][None], captures]))
    options = jnp.where(node.defends, defences, options)
    stuck = jnp.where(node.defends, CAUGHT, FREE)
    is_stuck = (verdict == UNDECIDED) & jnp.all(options < 0)
    verdict = jnp.where(is_stuck, stuck, verdict)
    return jnp.where(is_first, UNDECIDED, verdict), options


def _each_once(options: jax.Array) -> jax.Array:
    """Options with repetitions replaced by −1. int32 [NUM_OPTIONS]."""
    earlier = np.tri(NUM_OPTIONS, k=-1, dtype=bool)
    again = jnp.any((options[:, None] == options) & earlier, axis=1)
    return jnp.where(again, -1, options)


def _touches(sides: list[jax.Array], label: jax.Array) -> jax.Array:
    """Cells beside a cell with a label, from the four shifted boards."""
    found = sides[0] == label
    for side in sides[1:]:
        found = found | (side == label)
    return found


def _attacks(
    node: Node,
    count: jax.Array,
    pair: list[jax.Array],
    points: list[_Point],
    gains: list[jax.Array],
) -> tuple[jax.Array, jax.Array]:
    """Verdict and options where the attacker is to move."""
    tries = []
    for k in range(2):
        # From the other liberty the prey must not reach three.
        holds = points[k].attacker_captures | (gains[1 - k] < 3)
        is_legal = points[k].attacker_lives & (pair[k] != node.ko_cell)
        tries.append(jnp.where(is_legal & holds, pair[k], -1))
    # First the move after which the prey gains less.
    swap = gains[0] < gains[1]
    first = jnp.where(swap, tries[1], tries[0])
    second = jnp.where(swap, tries[0], tries[1])
    verdict = jnp.where(count < 2, CAUGHT, jnp.where(count > 2, FREE, UNDECIDED))
    none = jnp.full(NUM_OPTIONS - 2, -1, jnp.int32)
    return verdict, jnp.concatenate([jnp.stack([first, second]), none])


def _defences(
    node: Node, count: jax.Array, cell: jax.Array, point: _Point, gain: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Verdict, and the prey's liberty or −1, where the defender is to move."""
    is_legal = cell != node.ko_cell
    helps = point.defender_captures | (gain >= 2)
    is_free = (count > 1) | (is_legal & (gain >= 3))
    verdict = jnp.where(is_free, FREE, UNDECIDED)
    return verdict, jnp.where(is_legal & helps, cell, -1)


def _rescues(node: Node, beside: jax.Array, size: int) -> jax.Array:
    """Cells where the defender captures a chain in atari that touches the prey.

    Args:
      node: unbatched.
      beside: bool [N·(N+1)], cells next to the prey.
      size: array side N.

    Returns:
      int32 [NUM_OPTIONS − 1], −1 for none; further ones are left out.
    """
    inner = mailbox.interior(node.board, size)
    sides = mailbox.shifts(node.board, size)
    cells = np.arange(inner.shape[0], dtype=np.uint32) + np.uint32(size + 1)
    # Walls may be negative, but are even.
    near = beside & (inner < 0) & ((inner & 1) == 1) & node.defends
    lowest = jnp.min(jnp.where(near, inner, np.int16(0)))
    highest = jnp.max(jnp.where(near, inner, -chains_lib.WALL))
    more = near & (inner != lowest) & (inner != highest)

    def liberties(*labels: jax.Array) -> list[jax.Array]:
        """The liberties of two chains in atari, in one sum; −1 for no chain."""
        total = jnp.zeros(inner.shape, jnp.uint32)
        for k, label in enumerate(labels):
            here = (inner == 0) & _touches(sides, label)
            total += jnp.where(here, cells << (16 * k), np.uint32(0))
        total = jnp.sum(total, dtype=jnp.uint32)
        halves = [total & 0xFFFF, total >> 16]
        return [
            jnp.where((label < 0) & (label > -chains_lib.WALL), half, -1).astype(
                jnp.int32
            )
            for half, label in zip(halves, labels, strict=True)
        ]

    found = jnp.stack(liberties(lowest, highest))
    found = jnp.where((np.arange(2) == 1) & (lowest == highest), -1, found)
    found = jnp.concatenate([found, jnp.full(NUM_OPTIONS - 3, -1, jnp.int32)])

    def one_more(
        carry: tuple[jax.Array, jax.Array, jax.Array],
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        more, found, number = carry
        label = jnp.min(jnp.where(more, inner, np.int16(0)))
        cell = liberties(label, label)[0]
        found = jnp.where(np.arange(NUM_OPTIONS - 1) == number, cell, found)
        return more & (inner != label), found, number + 1

    return jax.lax.while_loop(
        lambda carry: jnp.any(carry[0]), one_more, (more, found, jnp.int32(2))
    )[1]
