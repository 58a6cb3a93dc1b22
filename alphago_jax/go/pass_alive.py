"""Stones that live even if their owner always passes, and the area they enclose.

Benson, D. B. (1976). Life in the game of Go. Information Sciences 10, 17–29.

For one colour, a *region* is a maximal connected set of points without its stones. A
region is *vital* to a chain if each of its empty points is a liberty of the chain;
where suicide is legal, each of its points must be next to the chain, because the
opponent can empty the region by suicide. Chains with fewer than two vital regions
are struck off, then the regions next to them, and so on until nothing changes.

A region can only be vital to chains next to any one of its empty points, hence to
four at most. So the whole relation "vital" is four booleans for every region, kept
at the region's first empty point, and a round is a few passes over the board.
"""

import flax.struct
import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import chains as chains_lib
from alphago_jax.go import mailbox, regions
from alphago_jax.go.state import GoState, stones


@flax.struct.dataclass
class PassAlive:
    """Benson's sets; first axis Black, White. Unbatched.

    Attributes:
      stones: bool [2, N, N], pass-alive stones.
      territory: bool [2, N, N], regions that border pass-alive chains only and have
        at most one point that is not next to a stone of their colour: the opponent
        cannot live there, and its stones in them are dead.
    """

    stones: jax.Array  # bool [2, N, N]
    territory: jax.Array  # bool [2, N, N]


class _Side(flax.struct.PyTreeNode):
    """What Benson's algorithm finds for one colour.

    Attributes:
      alive: bool [N, N], pass-alive stones.
      sealed: bool [N, N], regions that border a chain, and pass-alive chains only.
      no_opponent: bool [N, N], regions without opposing stones, if there is a chain.
      small: bool [N, N], regions with at most one point away from own stones.
    """

    alive: jax.Array
    sealed: jax.Array
    no_opponent: jax.Array
    small: jax.Array


def pass_alive(state: GoState, *, suicide: jax.Array | bool | None = None) -> PassAlive:
    """Pass-alive stones and territory of both colours.

    Args:
      state: unbatched.
      suicide: whether to allow for multi-stone suicide; by default as the rules.

    Returns:
      Benson's sets.
    """
    sides = _both_sides(state, suicide)
    return PassAlive(stones=sides.alive, territory=sides.sealed & sides.small)


def area(state: GoState, *, suicide: jax.Array | bool | None = None) -> jax.Array:
    """Who owns each point if the game ended here: KataGo's area planes.

    Pass-alive stones and territory, and regions without opposing stones, belong to
    their colour; so does every other stone that is not in pass-alive territory of
    its opponent.

    Args:
      state: unbatched.
      suicide: whether to allow for multi-stone suicide; by default as the rules.

    Returns:
      int8 [N, N], +1 Black, −1 White, 0 nobody.
    """
    sides = _both_sides(state, suicide)
    certain = sides.alive | (sides.sealed & (sides.small | sides.no_opponent))
    likely = sides.no_opponent
    owner = stones(state)
    # From the weakest claim to the strongest, so that the last one written stands.
    claims = ((likely[1], -1), (likely[0], 1), (certain[1], -1), (certain[0], 1))
    for points, colour in claims:
        owner = jnp.where(points, jnp.int8(colour), owner)
    return owner


def _both_sides(state: GoState, suicide: jax.Array | bool | None) -> _Side:
    position = state.position
    if suicide is None:
        suicide = state.rules.suicide
    grid = mailbox.to_points(position.chains, position.size)
    boards = jnp.stack([grid, jnp.where(chains_lib.is_stone(grid), -grid, grid)])
    return jax.vmap(_one_side, in_axes=(0, None))(boards, jnp.asarray(suicide))


def _one_side(board: jax.Array, suicide: jax.Array) -> _Side:
    """Benson's algorithm for the positive colour of a grid of chains. [N, N]."""
    size = board.shape[0]
    stone = chains_lib.is_stone(board)
    own, opponent, empty = stone & (board > 0), stone & (board < 0), board == 0
    free = opponent | empty
    free_rows = regions.pack(free)
    chain = jnp.where(own, board >> 1, 0).astype(jnp.int32)  # 0 is no chain
    num_chains = mailbox.num_cells(size)

    def any_in_region(mask: jax.Array) -> jax.Array:
        return mailbox.unpack_rows(regions.flood(regions.pack(mask), free_rows))

    vital, candidate = _vital(
        regions.components(free_rows, regions.pack(empty)),
        chain,
        free & (empty | suicide),
    )

    def strike(
        carry: tuple[jax.Array, jax.Array, jax.Array],
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        alive, sound, _ = carry
        counted = (vital & sound).astype(jnp.int32)
        counts = jnp.zeros(num_chains, jnp.int32).at[candidate].add(counted)
        still = alive & (counts[chain] >= 2)
        sound = sound & ~any_in_region(_beside(alive & ~still))
        return still, sound, jnp.any(alive != still)

    alive, sound, _ = jax.lax.while_loop(
        lambda carry: carry[2], strike, (own, free, jnp.any(own))
    )
    next_to_own = _beside(own)
    away = free & ~next_to_own
    label = regions.components(free_rows, regions.pack(away))
    second = away & (label != np.arange(size * size).reshape(size, size))
    return _Side(
        alive=alive,
        sealed=sound & any_in_region(next_to_own),
        no_opponent=free & ~any_in_region(opponent) & jnp.any(own),
        small=free & ~any_in_region(second),
    )


def _sides(grid: jax.Array) -> list[jax.Array]:
    """The four neighbours of every point, 0 beyond the edge. [N, N] -> 4 × [N, N]."""
    walled = jnp.pad(grid, 1)
    return [walled[:-2, 1:-1], walled[1:-1, :-2], walled[1:-1, 2:], walled[2:, 1:-1]]


def _beside(mask: jax.Array) -> jax.Array:
    """Points next to points of the mask. bool [N, N] -> bool [N, N]."""
    up, left, right, down = _sides(mask)
    return up | left | right | down


def _vital(
    region: jax.Array, chain: jax.Array, must: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """To which chains each region is vital.

    Args:
      region: int32 [N, N], labels of regions, −1 for none.
      chain: int32 [N, N], labels of own chains, 0 for none.
      must: bool [N, N], points that a chain must touch.

    Returns:
      bool [4, N, N], true at a region's label point only, and int32 [4, N, N], the
      chains.
    """
    size = region.shape[0]
    region = region.reshape(-1)
    beside = [side.reshape(-1) for side in _sides(chain)]
    is_label = region == np.arange(size * size)
    candidates, fails = [], []
    for k in range(4):
        here = jnp.where(is_label, beside[k], 0)
        for j in range(k):
            here = jnp.where(beside[j] == beside[k], 0, here)
        wanted = here[region]
        touches = beside[0] == wanted
        for side in beside[1:]:
            touches = touches | (side == wanted)
        candidates.append(here)
        fails.append((must.reshape(-1) & ~touches).astype(jnp.int32))
    failed = jnp.zeros((size * size, 4), jnp.int32).at[region].add(jnp.stack(fails, 1))
    candidate = jnp.stack(candidates)
    vital = (candidate > 0) & (failed.T == 0)
    return vital.reshape(4, size, size), candidate.reshape(4, size, size)
