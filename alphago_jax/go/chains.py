"""Chains of stones on the walled board: placing, capturing, counting liberties.

One int16 array [P] holds everything: 0 is empty, `WALL` is off the board, and a
stone of chain `k` is ±(2k + atari): the sign is the colour, `k` the cell of one
stone of the chain, and the lowest bit says that the chain has exactly one
liberty. That bit is all that legality needs, and it makes capture detection
free: a neighbouring enemy chain in atari is captured, whatever its shape.

A move therefore never searches the board. Chains merge by comparing labels,
liberties of the five chains next to the move are counted by looking at the
empty cells around each label, and only a capture needs more: the chains next to
the removed stones leave atari, found one or two labels at a time. Every pass is
elementwise over contiguous slices, which XLA turns into vector code.

The other design that was tried, flood fill over row bitboards, needs a loop
whose length is the longest chain in the whole batch; docs/performance.md has
both figures.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import mailbox

WALL = np.int16(1 << 14)
# A label that no cell carries: neighbours that do not count compare with it.
_NO_LABEL = np.int16(-1)


class Placed(NamedTuple):
    """What a stone did to the board. All fields unbatched.

    Attributes:
      chains: int16 [P], the board after the move.
      captured: bool [P], enemy stones removed.
      num_captured: int32, their number.
      suicide: bool [P], own stones removed (all False without suicide).
      num_suicide: int32, their number.
      ko_cell: int32, cell where the enemy may not retake at once, or −1.
    """

    chains: jax.Array
    captured: jax.Array
    num_captured: jax.Array
    suicide: jax.Array
    num_suicide: jax.Array
    ko_cell: jax.Array


def is_stone(chains: jax.Array) -> jax.Array:
    """Cells with a stone of either colour. [...] -> bool [...]."""
    return (chains != 0) & (jnp.abs(chains) < WALL)


def in_atari(chains: jax.Array) -> jax.Array:
    """Cells whose stone's chain has exactly one liberty. [...] -> bool [...]."""
    return is_stone(chains) & ((chains & 1) == 1)


def _has_label(chains: jax.Array, labels: list[jax.Array]) -> jax.Array:
    """Cells that carry one of a few labels. -> bool [P]."""
    mask = chains == labels[0]
    for label in labels[1:]:
        mask = mask | (chains == label)
    return mask


def liberty_counts(
    chains: jax.Array, labels: list[jax.Array], size: int
) -> list[jax.Array]:
    """Liberties of a few chains, each liberty counted once.

    Args:
      chains: int16 [P].
      labels: int16 scalars, the labels as they stand in `chains`.
      size: array side N.

    Returns:
      One int32 scalar for each label; 0 where no cell carries it.
    """
    empty = mailbox.interior(chains, size) == 0
    sides = mailbox.shifts(chains, size)
    counts = []
    # Three counters share one integer (N·N < 1024), so that one vectorised sum
    # over the board serves three chains.
    for start in range(0, len(labels), 3):
        group = labels[start : start + 3]
        total = jnp.zeros(empty.shape, jnp.int32)
        for k, label in enumerate(group):
            touches = empty & _has_label_any(sides, label)
            total = total + (touches.astype(jnp.int32) << (10 * k))
        packed = jnp.sum(total, dtype=jnp.int32)
        counts += [(packed >> (10 * k)) & 1023 for k in range(len(group))]
    return counts


def _has_label_any(sides: list[jax.Array], label: jax.Array) -> jax.Array:
    return (
        (sides[0] == label)
        | (sides[1] == label)
        | (sides[2] == label)
        | (sides[3] == label)
    )


def release(chains: jax.Array, removed: jax.Array, size: int) -> jax.Array:
    """Takes the chains next to removed stones out of atari.

    Two labels a round; a second round is rare, and the loop ends as soon as no
    row of a batch needs one.

    Args:
      chains: int16 [P], the removed cells already empty.
      removed: bool [P].
      size: array side N.

    Returns:
      int16 [P].
    """
    sides = mailbox.shifts(removed, size)
    beside = sides[0] | sides[1] | sides[2] | sides[3]  # [N·(N+1)]

    def waiting(chains: jax.Array) -> jax.Array:
        inner = mailbox.interior(chains, size)
        return jnp.where(beside & in_atari(inner), jnp.abs(inner), np.int16(0))

    def one_round(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        chains, _ = carry
        labels = waiting(chains)
        high = jnp.max(labels)
        low = jnp.min(jnp.where(labels > 0, labels, WALL))
        label = jnp.abs(chains)
        freed = ((label == high) | (label == low)) & (high > 0)
        chains = jnp.where(freed, chains - jnp.sign(chains), chains)
        return chains, jnp.any((labels > 0) & (labels != high) & (labels != low))

    chains, _ = jax.lax.while_loop(
        lambda carry: carry[1], one_round, one_round((chains, jnp.bool_(True)))
    )
    return chains


def place(
    chains: jax.Array,
    to_play: jax.Array,
    cell: jax.Array,
    size: int,
    *,
    can_suicide: bool,
) -> Placed:
    """Places a stone on an empty cell and removes what it captures.

    The result for an occupied or off-board cell is meaningless, but finite; the
    caller selects it away.

    Args:
      chains: int16 [P].
      to_play: int8 scalar, +1 or −1.
      cell: int32 scalar.
      size: array side N.
      can_suicide: whether the program must handle moves without liberties.

    Returns:
      The board after the move and what was removed.
    """
    mine_sign = to_play.astype(jnp.int16)
    board = chains * mine_sign  # own stones positive; a wall keeps its size
    beside = board[cell + mailbox.offsets(size)]  # [4]
    stone = jnp.abs(beside) < WALL
    own = stone & (beside > 0)
    enemy = stone & (beside < 0)
    dying = enemy & ((beside & 1) == 1)
    own_labels = list(jnp.where(own, beside, _NO_LABEL))
    dying_labels = list(jnp.where(dying, beside, _NO_LABEL))
    enemy_labels = list(jnp.where(enemy & ~dying, beside, _NO_LABEL))

    cells = np.arange(board.shape[0], dtype=np.int16)
    label = (2 * cell).astype(jnp.int16)
    captured = _has_label(board, dying_labels)  # [P]
    merged = _has_label(board, own_labels) | (cells == cell.astype(jnp.int16))
    board = jnp.where(merged, label, jnp.where(captured, np.int16(0), board))
    num_captured = jnp.sum(captured, dtype=jnp.int32)
    board = release(board, captured, size)

    labels = [label, *enemy_labels]
    liberties = liberty_counts(board, labels, size)
    threatened = _has_label(
        board,
        [
            jnp.where(count == 1, label, _NO_LABEL)
            for label, count in zip(labels, liberties, strict=True)
        ],
    )
    board = jnp.where(threatened, board + jnp.sign(board), board)

    suicide = jnp.zeros_like(captured)
    num_suicide = jnp.int32(0)
    if can_suicide:
        suicide = (board == label) & (liberties[0] == 0)
        num_suicide = jnp.sum(suicide, dtype=jnp.int32)
        board = release(jnp.where(suicide, np.int16(0), board), suicide, size)

    taken = jnp.max(jnp.where(dying, cell + mailbox.offsets(size), 0))
    retakable = (num_captured == 1) & ~jnp.any(own) & (liberties[0] == 1)
    return Placed(
        chains=board * mine_sign,
        captured=captured,
        num_captured=num_captured,
        suicide=suicide,
        num_suicide=num_suicide,
        ko_cell=jnp.where(retakable, taken, -1),
    )


def legal_cells(
    chains: jax.Array, to_play: jax.Array, size: int, suicide: jax.Array | bool
) -> jax.Array:
    """Interior cells where a stone keeps a liberty (or may take its own away).

    A stone may go to an empty cell that touches an empty cell, an own chain with
    a liberty to spare, or an enemy chain in atari. Ko and superko are not looked
    at.

    Args:
      chains: int16 [P].
      to_play: int8 scalar.
      size: array side N.
      suicide: whether chains of two stones or more may remove themselves.

    Returns:
      bool [N·(N+1)].
    """
    is_own = (chains * to_play.astype(jnp.int16)) > 0
    atari = (chains & 1) == 1
    helps = (chains == 0) | ((is_own != atari) & (jnp.abs(chains) < WALL))
    if suicide is not False:
        helps = helps | (is_own & (jnp.abs(chains) < WALL) & suicide)
    sides = mailbox.shifts(helps, size)
    touches = sides[0] | sides[1] | sides[2] | sides[3]
    return touches & (mailbox.interior(chains, size) == 0)
