"""The Go engine's other design, kept to be measured: flood fill over bitboards.

A board row is one uint32. A move floods the five chains around it at once, all
games of a batch in lockstep, until the slowest has converged. Simple ko, area,
no superko, no history: less than the engine does. `bench_engine.py` times it
beside `alphago_jax.go`, and docs/performance.md says why it lost.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class FloodState(NamedTuple):
    """One game. N is the board side, own stones come first.

    Attributes:
      stones: uint32 [2, N], of the player to move and of the opponent.
      atari: uint32 [2, N], those whose chain has one liberty.
      ko: uint32 [N], a point that may not be retaken.
      passes: int32, passes in a row.
      plies: int32.
    """

    stones: jax.Array
    atari: jax.Array
    ko: jax.Array
    passes: jax.Array
    plies: jax.Array


def init(size: int) -> FloodState:
    """An empty board."""
    rows = jnp.zeros((2, size), jnp.uint32)
    return FloodState(rows, rows, rows[0], jnp.int32(0), jnp.int32(0))


def _around(rows: jax.Array) -> jax.Array:
    """The four neighbours of every set bit. [..., N] -> [..., N]."""
    size = rows.shape[-1]
    full = np.uint32((1 << size) - 1)
    none = jnp.zeros_like(rows[..., :1])
    up = jnp.concatenate([rows[..., 1:], none], axis=-1)
    down = jnp.concatenate([none, rows[..., :-1]], axis=-1)
    return (up | down | (rows << 1) | (rows >> 1)) & full


def _fill(seed: jax.Array, mask: jax.Array) -> jax.Array:
    """The parts of `mask` that are connected to `seed`. [..., N] -> [..., N]."""

    def along_rows(rows: jax.Array) -> jax.Array:
        # A carry runs through a run of ones towards the high bits at once; the
        # other way takes five doublings.
        rows = rows | (((rows + mask) ^ mask) & mask)
        open_bits = mask
        for shift in (1, 2, 4, 8, 16):
            rows = rows | ((rows >> shift) & open_bits)
            open_bits = open_bits & (open_bits >> shift)
        return rows & mask

    def grow(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        rows, _ = carry
        grown = along_rows(rows | (_around(rows) & mask))
        return grown, jnp.any(grown != rows)

    first = along_rows(seed & mask)
    return jax.lax.while_loop(lambda c: c[1], grow, (first, jnp.any(first != 0)))[0]


def _count(rows: jax.Array) -> jax.Array:
    return jnp.sum(jax.lax.population_count(rows), axis=-1)


def legal_actions(state: FloodState) -> jax.Array:
    """Bool [N² + 1]; the last is the pass."""
    size = state.stones.shape[-1]
    full = np.uint32((1 << size) - 1)
    own, enemy = state.stones
    empty = ~(own | enemy) & full
    helps = empty | (own & ~state.atari[0]) | state.atari[1]
    legal = empty & _around(helps) & ~state.ko
    points = (legal[:, None] >> np.arange(size, dtype=np.uint32)) & 1
    return jnp.append(points.astype(bool).reshape(-1), True)


def step(state: FloodState, action: jax.Array) -> FloodState:
    """Plays a legal action."""
    size = state.stones.shape[-1]
    full = np.uint32((1 << size) - 1)
    own, enemy = state.stones
    is_pass = action == size * size
    row, column = action // size, action % size
    stone = jnp.where(
        (np.arange(size) == row) & ~is_pass, np.uint32(1) << column, 0
    ).astype(jnp.uint32)
    own = own | stone
    sides = jnp.stack(  # [4, N], the neighbours one by one
        [
            jnp.append(stone[1:], np.uint32(0)),
            jnp.append(np.uint32(0), stone[:-1]),
            (stone << 1) & full,
            stone >> 1,
        ]
    )
    seeds = jnp.concatenate([stone[None], sides])  # [5, N]
    masks = jnp.stack([own, *[enemy] * 4])
    chains = _fill(seeds, masks)  # [5, N]
    empty = ~(own | enemy) & full
    dead = jnp.where(_count(_around(chains) & empty)[:, None] == 0, chains, 0)
    captured = dead[1] | dead[2] | dead[3] | dead[4]
    enemy = enemy & ~captured
    empty = ~(own | enemy) & full
    liberties = _count(_around(chains) & empty)  # [5]
    one = jnp.where((liberties == 1)[:, None], chains, 0)
    freed = _fill(_around(captured) & state.atari[0], state.atari[0])
    own_atari = (state.atari[0] & ~chains[0] & ~freed) | one[0]
    enemy_atari = (state.atari[1] | one[1] | one[2] | one[3] | one[4]) & ~captured
    ko = (_count(captured) == 1) & (_count(chains[0]) == 1) & (liberties[0] == 1)
    return FloodState(
        stones=jnp.stack([enemy, own]),
        atari=jnp.stack([enemy_atari, own_atari]),
        ko=jnp.where(ko, captured, 0).astype(jnp.uint32),
        passes=jnp.where(is_pass, state.passes + 1, 0),
        plies=state.plies + 1,
    )


def is_over(state: FloodState) -> jax.Array:
    """Two passes, or as many plies as `alphago_jax.go` allows."""
    size = state.stones.shape[-1]
    return (state.passes >= 2) | (state.plies >= 2 * size * size)
