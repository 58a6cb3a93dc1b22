"""Counting a board: area and territory, seki, tax, button, bonuses.

Dead stones are taken off first. A *region* is a maximal connected set of empty
points; it belongs to a colour that alone borders it. A *group* is a set of chains of
one colour joined by regions of that colour, and it is in *seki* if it borders a
region that touches both colours: the test is for boards whose neutral points are
filled. docs/rules.md has the definitions with drawn boards.

Everything here is flood fill on row bitboards; what no rule of the batch needs
(seki, group tax) floods nothing and ends at once.
"""

import flax.struct
import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import mailbox, pass_alive, regions
from alphago_jax.go.state import (
    GoState,
    is_no_result,
    on_board,
    rows,
)

_TAX_NONE, _TAX_ALL = 0, 2
_GROUP_TAX = 2
_BONUS_N_MINUS_1, _BONUS_N = 1, 2


@flax.struct.dataclass
class Score:
    """The result of a count. All fields unbatched.

    Attributes:
      black: float32, Black's points with half a point for the button.
      white: float32, White's points with komi, handicap bonus and button.
      margin: float32, `black` − `white`; 0 is a draw.
      ownership: int8 [N, N], +1 Black's point (stone or region), −1 White's, 0
        nobody's or off the board.
    """

    black: jax.Array  # float32 []
    white: jax.Array  # float32 []
    margin: jax.Array  # float32 []
    ownership: jax.Array  # int8 [N, N]


def score(state: GoState, dead: jax.Array | None = None) -> Score:
    """Counts the board as it stands, by the rules of the game.

    Args:
      state: unbatched; the game need not be over.
      dead: bool [N, N], dead stones (empty points in it are ignored). By default
        every stone lives under area scoring, as Tromp and Taylor count, and under
        territory scoring the stones in pass-alive territory of the opponent are dead.

    Returns:
      Points of both sides. It says nothing of "no result"; see `outcome`.
    """
    board = rows(state.position)  # [2, N]
    removed = _dead_rows(state, board, dead)
    living = board if removed is None else board & ~removed
    open_rows = regions.pack(on_board(state)) & ~(living[0] | living[1])
    owned, neutral = _owned_regions(living, open_rows)
    owned, tax = _apply_tax(state, living, owned, neutral)
    points = _count(owned | living)
    if state.rules.scope.territory:
        lost = state.position.prisoners.astype(jnp.int32)
        if removed is not None:
            lost = lost + _count(board & removed)
        territory = _count(owned) + lost[::-1]
        points = jnp.where(state.rules.territory, territory, points)
    black, white = (points - tax).astype(jnp.float32) + _bonuses(state)
    held = mailbox.unpack_rows(owned | living).astype(jnp.int8)
    return Score(
        black=black, white=white, margin=black - white, ownership=held[0] - held[1]
    )


def outcome(state: GoState) -> jax.Array:
    """Who has won if the game ends here: +1 Black, −1 White, 0 draw or no result.

    Args:
      state: unbatched.

    Returns:
      float32 scalar.
    """
    return jnp.where(is_no_result(state), 0.0, jnp.sign(score(state).margin))


def _count(sides: jax.Array) -> jax.Array:
    """Points of each side's row bitboards. uint32 [2, N] -> int32 [2]."""
    return jnp.sum(jax.lax.population_count(sides), axis=-1).astype(jnp.int32)


def _dead_rows(
    state: GoState, board: jax.Array, dead: jax.Array | None
) -> jax.Array | None:
    """Dead stones of Black and White, uint32 [2, N]; None if there are none."""
    if dead is not None:
        return board & regions.pack(dead)
    if not state.rules.scope.territory:
        return None
    territory = pass_alive.pass_alive(state).territory  # [2, N, N]
    in_opposing = jnp.stack([regions.pack(territory[1]), regions.pack(territory[0])])
    return jnp.where(state.rules.territory, board & in_opposing, np.uint32(0))


def _owned_regions(
    living: jax.Array, open_rows: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Regions of each colour, uint32 [2, N], and those between both, uint32 [N]."""
    both = jnp.broadcast_to(open_rows, living.shape)
    touched = regions.flood(regions.beside_rows(living), both)
    neutral = touched[0] & touched[1]
    return touched & ~neutral, neutral


def _apply_tax(
    state: GoState, living: jax.Array, owned: jax.Array, neutral: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Regions that count, uint32 [2, N], and the points to pay, int32 [2]."""
    tax = state.rules.tax
    groups = living | owned
    seeds = groups & regions.beside_rows(neutral)
    in_seki = regions.flood(jnp.where(tax != _TAX_NONE, seeds, np.uint32(0)), groups)
    pays = jnp.where(tax == _TAX_ALL, groups & ~in_seki, np.uint32(0))
    return owned & ~in_seki, _GROUP_TAX * _num_components(pays)


def _num_components(sides: jax.Array) -> jax.Array:
    """Connected sets of each side's row bitboards. uint32 [2, N] -> int32 [2]."""
    labels = jax.vmap(regions.components)(sides)  # [2, N, N]
    size = sides.shape[-1]
    own_label = labels == np.arange(size * size).reshape(size, size)
    return jnp.sum(own_label, axis=(1, 2), dtype=jnp.int32)


def _bonuses(state: GoState) -> jax.Array:
    """Points that are not on the board, of Black and White. float32 [2]."""
    rules, stones = state.rules, state.handicap.astype(jnp.float32)
    bonus = jnp.where(
        rules.handicap_bonus == _BONUS_N_MINUS_1,
        jnp.maximum(stones - 1.0, 0.0),
        jnp.where(rules.handicap_bonus == _BONUS_N, stones, 0.0),
    )
    taker = state.position.button.astype(jnp.float32)
    half = jnp.where(rules.button, 0.5 * jnp.stack([taker, -taker]), 0.0)
    return jnp.maximum(half, 0.0) + jnp.stack([jnp.float32(0.0), rules.komi + bonus])
