"""Liberties, sizes and captures for every chain and every move at once.

Two ideas keep this exact and cheap. The chain on each cell is written as row
bitboards (one uint32 word for each row of the board), so that its liberties are a
few shifts and a population count that counts a shared liberty once. And most
moves touch at most one own chain and capture nothing: what they do follows from
that chain's count and the points two steps away. Only moves that join chains or
capture are worked out on the board, a few of every position a round.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import chains as chains_lib
from alphago_jax.go import mailbox

# A label that no cell carries.
_NO_LABEL = np.int16(-1)
_HALF = 16
_MOVES_A_ROUND = 3


class ChainCounts(NamedTuple):
    """Facts about the chain on each cell, 0 where there is no stone.

    Attributes:
      liberties: int16 [P].
      stones: int16 [P], the size of the chain.
    """

    liberties: jax.Array
    stones: jax.Array


class AfterMove(NamedTuple):
    """What a stone on each interior cell would do. All int16 [N·(N+1)].

    Meaningful on empty cells only; whether the move is legal is not looked at.

    Attributes:
      liberties: of the chain that the stone becomes part of, captured stones
        removed; 0 means suicide.
      chain_size: stones of that chain, the new one counted.
      num_captured: enemy stones removed.
    """

    liberties: jax.Array
    chain_size: jax.Array
    num_captured: jax.Array


def count(chains: jax.Array, size: int) -> ChainCounts:
    """Liberties and stones of every chain. int16 [P] -> two int16 [P]."""
    grid = chains.reshape(size + 2, size + 1)[:, 1:]  # walls above and below too
    bits = np.uint32(1) << np.arange(size, dtype=np.uint32)
    # [row, column, cell]: cells last, so that all work runs along the cells in
    # vector code. Wall rows carry no stone's label, so their words are zero
    # wherever it matters.
    same = chains[None, None, :] == grid[:, :, None]
    rows = jnp.where(same, bits[:, None], np.uint32(0))
    rows = jnp.sum(rows, axis=1, dtype=jnp.uint32)  # [N + 2, P]
    empty = jnp.where(grid == 0, bits, np.uint32(0))
    empty = jnp.sum(empty, axis=1, dtype=jnp.uint32)  # [N + 2]
    middle = rows[1:-1]
    beside = (middle << 1) | (middle >> 1) | rows[:-2] | rows[2:]
    liberties = jax.lax.population_count(beside & empty[1:-1, None])
    packed = liberties + (jax.lax.population_count(middle) << _HALF)
    total = jnp.sum(packed, axis=0, dtype=jnp.uint32)
    total = jnp.where(chains_lib.is_stone(chains), total, np.uint32(0))
    return ChainCounts(total.astype(jnp.int16), (total >> _HALF).astype(jnp.int16))


def after_moves(
    chains: jax.Array,
    counts: ChainCounts,
    to_play: jax.Array,
    moves: jax.Array,
    size: int,
    *,
    enough: int = 1024,
) -> AfterMove:
    """The effect of a stone of `to_play` on each interior cell.

    Args:
      chains: int16 [P].
      counts: of the same board.
      to_play: int8 scalar, +1 or −1.
      moves: bool [N·(N+1)], empty cells whose liberties are wanted.
      size: array side N.
      enough: liberties need to be exact up to this number only; where there are
        more, any number from `enough` on may come back. Saves most of the work.
    """
    board = chains * to_play.astype(jnp.int16)
    sides = mailbox.shifts(board, size)
    stone = [jnp.abs(v) < chains_lib.WALL for v in sides]
    own = [s & (v > 0) for v, s in zip(sides, stone, strict=True)]
    dying = [s & (v < 0) & ((v & 1) == 1) for v, s in zip(sides, stone, strict=True)]
    stones = mailbox.shifts(counts.stones, size)
    new_own, new_dying = _first(sides, own), _first(sides, dying)
    zero = jnp.zeros_like(sides[0])
    chain_size, num_captured, num_chains = zero + np.int16(1), zero, zero
    for k in range(4):
        chain_size = chain_size + jnp.where(new_own[k], stones[k], np.int16(0))
        num_captured = num_captured + jnp.where(new_dying[k], stones[k], np.int16(0))
        num_chains = num_chains + new_own[k].astype(jnp.int16)
    simple = _beside_one_chain(board, sides, own, counts.liberties, size)
    # A chain joined to others and a capture only add to what one chain has.
    hard = moves & ((num_chains > 1) | (num_captured > 0)) & (simple < enough)
    return AfterMove(
        liberties=_worked_out(board, hard, simple, size),
        chain_size=chain_size,
        num_captured=num_captured,
    )


def _first(labels: list[jax.Array], masks: list[jax.Array]) -> list[jax.Array]:
    """Masks that keep each label once among the four neighbours."""
    kept = []
    for k in range(4):
        new = masks[k]
        for j in range(k):
            new = new & ~(masks[j] & (labels[j] == labels[k]))
        kept.append(new)
    return kept


def _beside_one_chain(
    board: jax.Array,
    sides: list[jax.Array],
    own: list[jax.Array],
    liberties: jax.Array,
    size: int,
) -> jax.Array:
    """Liberties after a move that joins at most one chain and captures nothing.

    The chain's liberties but for the move's point, and the empty points beside
    the move that were not the chain's liberties already.

    Returns:
      int16 [N·(N+1)]; where chains are joined, as if only the one with the most
      liberties were.
    """
    width = size + 1
    length = size * width
    padded = jnp.pad(board, width, constant_values=chains_lib.WALL)

    def at(offset: int) -> jax.Array:
        return padded[2 * width + offset : 2 * width + offset + length]

    label = jnp.full_like(sides[0], _NO_LABEL)
    most = jnp.zeros_like(label)
    chain_liberties = mailbox.shifts(liberties, size)
    for k in range(4):
        more = own[k] & (chain_liberties[k] > most)
        label = jnp.where(more, sides[k], label)
        most = jnp.where(more, chain_liberties[k], most)
    total = most - (most > 0)
    steps = (-width, -1, 1, width)
    for k, step in enumerate(steps):
        known = jnp.zeros(label.shape, bool)
        for onward in steps:
            if onward != -step:
                known = known | (at(step + onward) == label)
        total = total + ((sides[k] == 0) & ~known).astype(jnp.int16)
    return total


def _worked_out(
    board: jax.Array, hard: jax.Array, liberties: jax.Array, size: int
) -> jax.Array:
    """Replaces the liberties of the moves in `hard` by those counted on the board.

    Args:
      board: int16 [P], own stones positive.
      hard: bool [N·(N+1)].
      liberties: int16 [N·(N+1)].
      size: array side N.
    """
    cells = np.arange(hard.shape[0], dtype=np.int16)
    row = np.arange(size, dtype=np.int32)

    def take(waiting: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Takes one point off row bitboards; −1 where none is left."""
        lowest = waiting & (~waiting + np.uint32(1))
        column = jax.lax.population_count(lowest - np.uint32(1)).astype(jnp.int32)
        cell = jnp.where(waiting > 0, row * (size + 1) + column + 1, -1)
        cell = jnp.max(cell)
        here = (row == cell // (size + 1)) & (cell >= 0)
        return jnp.where(here, waiting ^ lowest, waiting), cell

    def one_round(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        waiting, liberties = carry
        picked = []
        for _ in range(_MOVES_A_ROUND):
            waiting, cell = take(waiting)
            picked.append(cell)
        # Three counts share one sum over the board: N·N < 1024.
        total = jnp.zeros(hard.shape, jnp.int32)
        for k, cell in enumerate(picked):
            gained = _liberties_after(board, cell + size + 1, size)
            total = total + (gained.astype(jnp.int32) << (10 * k))
        total = jnp.sum(total, dtype=jnp.int32)
        for k, cell in enumerate(picked):
            exact = ((total >> (10 * k)) & 1023).astype(jnp.int16)
            liberties = jnp.where(cells == cell.astype(jnp.int16), exact, liberties)
        return waiting, liberties

    _, liberties = jax.lax.while_loop(
        lambda carry: jnp.any(carry[0] > 0),
        one_round,
        (mailbox.pack_rows(hard, size), liberties),
    )
    return liberties


def _liberties_after(board: jax.Array, cell: jax.Array, size: int) -> jax.Array:
    """Liberties of the chain made by one own stone. bool [N·(N+1)]."""
    beside = board[cell + mailbox.offsets(size)]  # [4]
    stone = jnp.abs(beside) < chains_lib.WALL
    own = jnp.where(stone & (beside > 0), beside, _NO_LABEL)
    dying = stone & (beside < 0) & ((beside & 1) == 1)
    dying = jnp.where(dying, beside, chains_lib.WALL + np.int16(1))
    here = np.arange(board.shape[0], dtype=np.int16) == cell.astype(jnp.int16)
    merged, free = here, board == 0
    for k in range(4):
        merged = merged | (board == own[k])
        free = free | (board == dying[k])
    sides = mailbox.shifts(merged, size)
    touches = sides[0] | sides[1] | sides[2] | sides[3]
    return mailbox.interior(free & ~here, size) & touches
