"""Ladders: chains that are caught by atari after atari, read to the end.

The *prey* is a chain with one or two liberties; its owner is the defender.

- Attacker to move: with three liberties or more the prey is free, with one or none
  it is caught. With two, the attacker plays on one of them, and the prey is caught
  if one of the two moves leads to that.
- Defender to move, the prey in atari: the defender plays on its liberty, or
  captures an attacking chain in atari that touches it. The prey is free if one of
  these moves leads to that.

Inside the reading ko is simple ko, suicide is illegal, and a line that returns to a
position already on it has not caught the prey. A ladder *capture* is an attacker's
first move that catches, a ladder *escape* a defender's first move that frees.

Bounds, so that the reading always ends (`Bounds`): `num_moves` stones for each first
move, `num_plies` for each line, `num_branches` choices left open at a time. A line
that is too long has not caught the prey. An attacker's choice that finds no room is
not looked at again; a reading that meets another bound is given up. Either way the
bounds can only turn "caught" into "free". (Seven captures at a time are looked at;
a chain that touches eight in atari may be misjudged.)
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap

from alphago_jax.go import chains as chains_lib
from alphago_jax.go import liberties, mailbox
from alphago_jax.go.ladder_lanes import DEFAULT_BOUNDS, Bounds, Ladders, read_batch
from alphago_jax.go.moves import legal_actions
from alphago_jax.go.state import GoState


def captures(state: GoState, bounds: Bounds = DEFAULT_BOUNDS) -> jax.Array:
    """Legal moves that start a working ladder against an opposing chain.

    Args:
      state: unbatched; under `jax.vmap` the whole batch is read together.
      bounds: how far to read.

    Returns:
      bool [N, N].
    """
    return moves(state, bounds)[0]


def escapes(state: GoState, bounds: Bounds = DEFAULT_BOUNDS) -> jax.Array:
    """Legal moves after which an own chain in atari can no longer be caught.

    Args and result as for `captures`.
    """
    return moves(state, bounds)[1]


def moves(
    state: GoState, bounds: Bounds = DEFAULT_BOUNDS
) -> tuple[jax.Array, jax.Array]:
    """`captures` and `escapes` in one reading. Two bool [N, N]."""
    position = state.position
    size = position.size
    legal = legal_actions(state)[:-1].reshape(size, size)
    counts = liberties.count(position.chains, size).liberties
    return read_moves(position.chains, counts, legal, position.to_play, bounds)


def read_moves(
    chains: jax.Array,
    counts: jax.Array,
    legal: jax.Array,
    to_play: jax.Array,
    bounds: Bounds = DEFAULT_BOUNDS,
) -> tuple[jax.Array, jax.Array]:
    """As `moves`, from parts that the caller already has. Unbatched.

    Args:
      chains: int16 [P].
      counts: int16 [P], liberties of the chain on each cell.
      legal: bool [N, N], legal board moves of `to_play`.
      to_play: int8 scalar.
      bounds: how far to read.
    """
    size = legal.shape[0]
    own = (chains * to_play.astype(jnp.int16)) > 0
    prey = one_cell_each(chains) & (counts == jnp.where(own, 1, 2))
    found = read(chains, counts, prey, mailbox.from_points(legal, False), bounds)
    return (
        mailbox.to_points(found.captures, size),
        mailbox.to_points(found.escapes, size),
    )


def one_cell_each(chains: jax.Array) -> jax.Array:
    """One cell of every chain: the one its label names. int16 [P] -> bool [P]."""
    cells = np.arange(chains.shape[0], dtype=np.int16)
    return chains_lib.is_stone(chains) & ((jnp.abs(chains) >> 1) == cells)


def read(
    chains: jax.Array,
    counts: jax.Array,
    prey: jax.Array,
    allowed: jax.Array,
    bounds: Bounds = DEFAULT_BOUNDS,
) -> Ladders:
    """Reads the ladders of chosen chains of either colour.

    Args:
      chains: int16 [P].
      counts: int16 [P], liberties of the chain on each cell.
      prey: bool [P], one cell of every chain to read. With one liberty the
        defender moves first, with two the attacker; others are not read.
      allowed: bool [P], where the first move may be.
      bounds: how far to read.

    Returns:
      Unbatched results; under `jax.vmap` the whole batch is read together.
    """
    prey = prey & ((counts == 1) | (counts == 2))
    defends = counts == 1
    one = [v[None] for v in (chains, prey, defends, allowed)]
    return Ladders(*[v[0] for v in _mergeable(bounds)(*one)])


@functools.cache
def _mergeable(bounds: Bounds) -> custom_vmap:
    """`read_batch` for which `vmap` means a longer batch."""

    @custom_vmap
    def merged(*args: jax.Array) -> tuple[jax.Array, ...]:
        return tuple(read_batch(*args, bounds=bounds))

    @merged.def_vmap
    def _(axis_size: int, in_batched: list[bool], *args: jax.Array):
        whole = [
            v if batched else jnp.broadcast_to(v, (axis_size, *v.shape))
            for v, batched in zip(args, in_batched, strict=True)
        ]
        flat = merged(*[v.reshape(-1, *v.shape[2:]) for v in whole])
        out = tuple(v.reshape(axis_size, -1, *v.shape[1:]) for v in flat)
        return out, (True,) * len(out)

    return merged
