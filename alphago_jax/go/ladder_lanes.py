"""Reads the ladders of a batch of boards in lanes; `ladders` says what is read.

A lane reads the chains of one board after another, depth first, and then takes the
next board of the batch. One step of the loop plays one stone in every lane, so no
lane waits for another; when few lanes are busy, these go on in a narrower loop. Moves
that counting refutes are never tried, so most ladders have no choice at all; a small
stack of boards holds the choices of the others.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from alphago_jax.go.ladder_reading import (
    CAPTURE,
    ESCAPE,
    IS_CAUGHT,
    Bounds,
    Reading,
    begin,
    step,
)

# Lanes that go on when the others are done: one in eight.
_NARROWER = 8
_BOARDS_A_LANE = 4
_MIN_LANES = 16
DEFAULT_BOUNDS = Bounds()


class Ladders(NamedTuple):
    """What was read. All bool [P].

    Attributes:
      captures: first moves of the attacker that catch some prey.
      escapes: first moves of the defender that free some prey.
      caught: cells of `prey` whose chain is caught: by the attacker, who moves
        first if it has two liberties; or though the defender moves first, if it
        has one.
    """

    captures: jax.Array
    escapes: jax.Array
    caught: jax.Array


def read_batch(
    chains: jax.Array,
    prey: jax.Array,
    defends: jax.Array,
    allowed: jax.Array,
    *,
    bounds: Bounds = DEFAULT_BOUNDS,
) -> Ladders:
    """Reads the ladders of a batch of boards.

    Args:
      chains: int16 [B, P].
      prey: bool [B, P], one cell of every chain to read.
      defends: bool [B, P], the defender of that chain moves first.
      allowed: bool [B, P], where first moves may be.
      bounds: how far to read.

    Returns:
      Results [B, P].
    """
    boards = (chains, prey, defends, allowed)
    num_boards = chains.shape[0]
    num_lanes = max(num_boards // _BOARDS_A_LANE, min(num_boards, _MIN_LANES))
    begin_all = jax.vmap(functools.partial(begin, bounds=bounds))
    lanes = begin_all(*[v[:num_lanes] for v in boards])
    number = jnp.arange(num_lanes, dtype=jnp.int32)
    queue = _Queue(jnp.int32(num_lanes), number, jnp.zeros(chains.shape, jnp.uint8))
    lanes, queue = _run(lanes, queue, boards, bounds)
    narrow = num_lanes // _NARROWER
    if narrow:
        # Sorting brings the lanes that are left to the front.
        order = jnp.argsort(~lanes.active, stable=True)[:narrow]
        left = jax.tree.map(lambda v: v[order], lanes)
        left = _finish(left, 0, bounds)
        found = lanes.found.at[order].set(left.found)
    else:
        found = lanes.found
    found = queue.found.at[queue.board].set(found, mode="drop")
    return Ladders(*[(found & bit) > 0 for bit in (CAPTURE, ESCAPE, IS_CAUGHT)])


class _Queue(NamedTuple):
    """Which boards are in the lanes, which wait, and the results so far.

    Attributes:
      taken: int32, boards taken so far.
      board: int32 [W], board in each lane; past the end for none.
      found: uint8 [B, P].
    """

    taken: jax.Array
    board: jax.Array
    found: jax.Array


def _finish(lanes: Reading, num_left: int, bounds: Bounds) -> Reading:
    """Reads on until at most `num_left` lanes are busy."""
    step_all = jax.vmap(functools.partial(step, bounds=bounds))
    return jax.lax.while_loop(
        lambda r: jnp.sum(r.active, dtype=jnp.int32) > num_left, step_all, lanes
    )


def _run(
    lanes: Reading, queue: _Queue, boards: tuple[jax.Array, ...], bounds: Bounds
) -> tuple[Reading, _Queue]:
    """Reads until every board is in a lane and few lanes are busy."""
    num_boards, num_lanes = boards[0].shape[0], queue.board.shape[0]
    step_all = jax.vmap(functools.partial(step, bounds=bounds))
    begin_all = jax.vmap(functools.partial(begin, bounds=bounds))
    # Filling costs about as much as a step, so a few idle lanes wait for more.
    fill_at = max(num_lanes // 8, 1)

    def refill(carry: tuple[Reading, _Queue]) -> tuple[Reading, _Queue]:
        lanes, queue = carry
        idle = ~lanes.active
        number = queue.taken + jnp.cumsum(idle, dtype=jnp.int32) - 1
        takes = idle & (number < num_boards)
        # Idle lanes hand in what they found; rows past the end are dropped.
        row = jnp.where(takes, queue.board, num_boards)
        found = queue.found.at[row].set(lanes.found, mode="drop")
        board = jnp.where(takes, number, queue.board)
        new = begin_all(*[v[board] for v in boards])
        lanes = jax.tree.map(
            lambda old, new: jnp.where(
                takes.reshape(-1, *[1] * (old.ndim - 1)), new, old
            ),
            lanes,
            new,
        )
        return lanes, _Queue(
            queue.taken + jnp.sum(takes, dtype=jnp.int32), board, found
        )

    def more(carry: tuple[Reading, _Queue]) -> jax.Array:
        lanes, queue = carry
        busy = jnp.sum(lanes.active, dtype=jnp.int32)
        return (busy > num_lanes // _NARROWER) | (queue.taken < num_boards)

    def one_stone(carry: tuple[Reading, _Queue]) -> tuple[Reading, _Queue]:
        lanes, queue = carry
        idle = jnp.sum(~lanes.active, dtype=jnp.int32)
        due = (idle >= fill_at) & (queue.taken < num_boards)
        lanes, queue = jax.lax.cond(due, refill, lambda same: same, (lanes, queue))
        return step_all(lanes), queue

    return jax.lax.while_loop(more, one_stone, (lanes, queue))
