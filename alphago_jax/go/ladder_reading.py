"""One board's ladders, one stone at a time: the state of a reading and its step.

The search is depth first with a small stack of boards, for one board; `ladder_lanes`
runs many at once.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import chains as chains_lib
from alphago_jax.go import hashing, mailbox
from alphago_jax.go.ladder_node import (
    CAUGHT,
    FREE,
    NUM_OPTIONS,
    UNDECIDED,
    Node,
    analyse,
)

# Bits of a cell's results.
CAPTURE, ESCAPE, IS_CAUGHT = (np.uint8(1), np.uint8(2), np.uint8(4))


class Bounds(NamedTuple):
    """How far ladders are read, see the top of this module.

    Attributes:
      num_moves: stones played for each first move.
      num_plies: stones of one line.
      num_branches: choices open at a time.
    """

    num_moves: int = 500
    num_plies: int = 250
    num_branches: int = 20


class Reading(NamedTuple):
    """One board and how far its reading has come. Unbatched.

    S stack entries, K options of a position, −1 for none.

    Attributes:
      root: int16 [P], the board.
      allowed: bool [P], where first moves may be.
      defends: bool [P], cells whose chain's defender moves first.
      waiting: bool [P], one cell of every chain not yet begun.
      active: bool, a chain is being read.
      is_new: bool, its first moves have not been listed.
      defends_first: bool, the defender moves first.
      untried: int32 [K], its first moves not yet read.
      works: bool, some first move has worked.
      first_move: int32, cell of the first move being read.
      num_moves: int32, stones played for this first move.
      node: the position to look at next.
      ply: int32, stones of the line after the first.
      height: int32, stack entries in use.
      stack_board: int16 [S, P].
      stack_options: int32 [S, K], the moves left to try.
      stack_defends: bool [S], whose choice it is.
      stack_ply: int32 [S].
      line: uint32 [T], hashes of the line's positions.
      found: uint8 [P], the results as bits.
    """

    root: jax.Array
    defends: jax.Array
    allowed: jax.Array
    waiting: jax.Array
    active: jax.Array
    is_new: jax.Array
    defends_first: jax.Array
    untried: jax.Array
    works: jax.Array
    first_move: jax.Array
    num_moves: jax.Array
    node: Node
    ply: jax.Array
    height: jax.Array
    stack_board: jax.Array
    stack_options: jax.Array
    stack_defends: jax.Array
    stack_ply: jax.Array
    line: jax.Array
    found: jax.Array


def begin(
    chains: jax.Array,
    prey: jax.Array,
    defends: jax.Array,
    allowed: jax.Array,
    *,
    bounds: Bounds,
) -> Reading:
    """A reading with its first chain in place."""
    num_cells = chains.shape[0]
    number, cell, false = jnp.int32(0), jnp.int32(-1), jnp.bool_(False)
    none = jnp.full(NUM_OPTIONS, -1, jnp.int32)
    reading = Reading(
        root=chains,
        defends=defends,
        allowed=allowed,
        waiting=prey,
        active=false,
        is_new=false,
        defends_first=false,
        untried=none,
        works=false,
        first_move=cell,
        num_moves=number,
        node=Node(chains, cell, false, cell),
        ply=number,
        height=number,
        stack_board=jnp.zeros((bounds.num_branches, num_cells), jnp.int16),
        stack_options=jnp.tile(none, (bounds.num_branches, 1)),
        stack_defends=jnp.zeros(bounds.num_branches, bool),
        stack_ply=jnp.zeros(bounds.num_branches, jnp.int32),
        line=jnp.zeros(bounds.num_plies, jnp.uint32),
        found=jnp.zeros(num_cells, jnp.uint8),
    )
    return _next_chain(reading, jnp.bool_(True))


def _next_chain(reading: Reading, done: jax.Array) -> Reading:
    """Goes on to the next chain of the board if this one is `done`."""
    cells = np.arange(reading.root.shape[0], dtype=np.int32)
    cell = jnp.max(jnp.where(reading.waiting, cells, -1))
    takes = done & (cell >= 0)
    prey = jnp.where(takes, cell, reading.node.prey)
    defends = reading.defends[cell]
    node = reading.node
    return reading._replace(
        waiting=reading.waiting & ~(takes & (cells == cell)),
        active=jnp.where(done, takes, reading.active),
        is_new=takes,
        defends_first=jnp.where(takes, defends, reading.defends_first),
        works=reading.works & ~takes,
        height=jnp.where(done, 0, reading.height),
        node=Node(
            board=jnp.where(takes, _seen_by(reading.root, prey), node.board),
            prey=prey,
            defends=jnp.where(takes, defends, node.defends),
            ko_cell=jnp.where(takes, -1, node.ko_cell),
        ),
    )


def _seen_by(board: jax.Array, prey: jax.Array) -> jax.Array:
    """The board with the stones of the prey's colour positive."""
    return board * jnp.sign(board[prey])


def step(reading: Reading, *, bounds: Bounds) -> Reading:
    """Looks at one position and plays one stone."""
    verdict, options, line = _look(reading, bounds)
    slot, node, ply, options = _backtrack(reading, verdict, options, bounds)
    over = reading.active & (slot < 0)  # the first move is settled, or there is none
    reading = _note(reading._replace(line=line), over, verdict)
    again = over & jnp.any(reading.untried >= 0)
    first = again | reading.is_new
    options = jnp.where(again, reading.untried, options)
    number = jnp.argmax(options >= 0)
    cell = jnp.maximum(options[number], 0)
    rest = jnp.where(np.arange(NUM_OPTIONS) == number, -1, options)
    board = jnp.where(again, _seen_by(reading.root, node.prey), node.board)
    node = node._replace(
        board=board, defends=jnp.where(again, reading.defends_first, node.defends)
    )
    reading = reading._replace(
        node=node,
        ply=jnp.where(first, -1, ply),
        num_moves=jnp.where(first, 0, reading.num_moves),
        first_move=jnp.where(first, cell, reading.first_move),
        untried=jnp.where(first, rest, reading.untried),
    )
    reading = _push(reading, rest, jnp.where(first, -1, slot), bounds)
    reading = _play(reading, cell)
    return _next_chain(reading, over & ~again)


def _look(reading: Reading, bounds: Bounds) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Verdict, options and line of hashes for the current position."""
    verdict, options = analyse(reading.node, reading.is_new)
    key = _hash(reading.node)
    ply = np.arange(bounds.num_plies, dtype=np.int32)
    repeated = jnp.any((reading.line == key) & (ply < reading.ply))
    too_long = (verdict == UNDECIDED) & (reading.ply >= bounds.num_plies - 1)
    given_up = reading.num_moves > bounds.num_moves
    stopped = (repeated | too_long | given_up) & ~reading.is_new
    verdict = jnp.where(stopped, FREE, verdict)
    barred = reading.is_new & ~reading.allowed[options]
    options = jnp.where(barred, -1, options)
    return verdict, options, jnp.where(ply == reading.ply, key, reading.line)


def _hash(node: Node) -> jax.Array:
    """Hash of stones, player to move and ko. uint32 scalar."""
    board = node.board
    keys = hashing.keys(mailbox.board_side(board.shape[0]))[:, 0]  # [2, P]
    own = jnp.where(board > 0, keys[0], np.uint32(0))  # the keys of walls are 0
    stones = own ^ jnp.where(board < 0, keys[1], np.uint32(0))
    total = jax.lax.reduce(stones, np.uint32(0), jax.lax.bitwise_xor, (0,))
    rest = (node.ko_cell + 1) * 2 + node.defends
    # Knuth's multiplicative hash.
    return total ^ (rest.astype(jnp.uint32) * np.uint32(2654435761))


def _backtrack(
    reading: Reading,
    verdict: jax.Array,
    options: jax.Array,
    bounds: Bounds,
) -> tuple[jax.Array, Node, jax.Array, jax.Array]:
    """Where a verdict is reached, goes back to a choice that may change it.

    That is the latest choice of the side that the verdict is against: the other
    side is content, and its choices since then need no second look.

    Returns:
      The stack entry of the choice to be made now, −1 if the first move is settled;
      the node there, its ply, and its moves.
    """
    number = np.arange(bounds.num_branches, dtype=np.int32)
    is_open = number < reading.height
    loser = reading.stack_defends == (verdict == CAUGHT)
    latest = jnp.max(jnp.where(is_open & loser, number, -1))
    latest = jnp.where(reading.num_moves > bounds.num_moves, -1, latest)
    settled = verdict != UNDECIDED
    empty_handed = reading.is_new & jnp.all(options < 0)
    slot = jnp.where(settled, latest, reading.height)
    slot = jnp.where(empty_handed, -1, slot)
    back = settled & (slot >= 0) & ~reading.is_new
    here = number == slot
    # A masked sum, not a gather: the loop over the stack is vector code.
    board = jnp.where(here[:, None], reading.stack_board, np.int16(0))
    board = jnp.sum(board, axis=0, dtype=jnp.int16)
    moves = jnp.sum(jnp.where(here[:, None], reading.stack_options, 0), axis=0)
    node = reading.node
    node = node._replace(
        board=jnp.where(back, board, node.board),
        defends=jnp.where(back, verdict == CAUGHT, node.defends),
    )
    ply = jnp.where(back, jnp.sum(jnp.where(here, reading.stack_ply, 0)), reading.ply)
    options = jnp.where(back, moves, options)
    return slot, node, ply, options


def _note(reading: Reading, over: jax.Array, verdict: jax.Array) -> Reading:
    """Notes the first move that is `over`, and its chain after the last of them."""
    cells = np.arange(reading.root.shape[0], dtype=np.int32)
    worked = over & ~reading.is_new
    worked = worked & ((verdict == FREE) == reading.defends_first)
    works = reading.works | worked
    last = over & (reading.is_new | jnp.all(reading.untried < 0))
    caught = last & (works != reading.defends_first)
    move = worked & (cells == reading.first_move)
    kind = jnp.where(reading.defends_first, ESCAPE, CAPTURE)
    found = reading.found | jnp.where(move, kind, np.uint8(0))
    prey = caught & (cells == reading.node.prey)
    return reading._replace(
        works=works,
        untried=jnp.where(reading.is_new, -1, reading.untried),
        found=found | jnp.where(prey, IS_CAUGHT, np.uint8(0)),
    )


def _push(
    reading: Reading, rest: jax.Array, slot: jax.Array, bounds: Bounds
) -> Reading:
    """Keeps the other options in the stack's entry `slot`; −1 is the first move.

    A full stack takes no more of the attacker's choices: only the first counts.
    A choice of the defender must not be lost: the reading is given up instead.
    """
    full = slot >= bounds.num_branches
    has_rest = jnp.any(rest >= 0) & (slot >= 0)
    keep = has_rest & ~full
    number = np.arange(bounds.num_branches, dtype=np.int32)
    here = keep & (number == slot)
    given_up = has_rest & full & reading.node.defends
    height = jnp.minimum(jnp.maximum(slot, 0), bounds.num_branches)
    return reading._replace(
        height=height + keep,
        num_moves=jnp.where(given_up, bounds.num_moves, reading.num_moves),
        stack_board=jnp.where(here[:, None], reading.node.board, reading.stack_board),
        stack_options=jnp.where(here[:, None], rest, reading.stack_options),
        stack_defends=jnp.where(here, reading.node.defends, reading.stack_defends),
        stack_ply=jnp.where(here, reading.ply, reading.stack_ply),
    )


def _play(reading: Reading, cell: jax.Array) -> Reading:
    """Plays one stone."""
    node = reading.node
    size = mailbox.board_side(node.board.shape[0])
    to_play = jnp.where(node.defends, 1, -1).astype(jnp.int8)
    placed = chains_lib.place(node.board, to_play, cell, size, can_suicide=False)
    node = node._replace(
        board=placed.chains, defends=~node.defends, ko_cell=placed.ko_cell
    )
    return reading._replace(
        node=node, ply=reading.ply + 1, num_moves=reading.num_moves + 1
    )
