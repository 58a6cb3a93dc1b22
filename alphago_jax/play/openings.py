"""Openings of a match: a few random sensible plies, one opening for each pair of games.

Deterministic players repeat one game for ever from the empty board, so that a hundred
games say no more than two. Both players of a pair get the same opening with both
colours, which takes its luck out of the result.
"""

import functools

import jax
import numpy as np

from alphago_jax import go
from alphago_jax.go.state import default_move_limit
from alphago_jax.play.sensible import sensible_points

_TRIES = 20


@functools.cache
def _compiled_sensible():
    return jax.jit(lambda state: sensible_points(state, go.legal_actions(state)))


def new_game(size: int, rules: go.Rules, opening: tuple[int, ...] = ()) -> go.Game:
    """A game of a match after its opening, at most 2 N² plies long."""
    game = go.Game(size, rules, move_limit=default_move_limit(size))
    for action in opening:
        game.play(action)
    return game


def make_openings(
    size: int,
    rules: go.Rules,
    count: int,
    *,
    seed: int = 0,
    shortest: int = 2,
    longest: int = 6,
) -> list[tuple[int, ...]]:
    """Random openings, all different where the board has room for it.

    The first openings of a longer list are those of a shorter one.

    Args:
      size: board side.
      rules: of the match.
      count: how many.
      seed: the same seed gives the same openings.
      shortest: plies at least.
      longest: plies at most.

    Returns:
      Actions of each opening; stones only, no passes.

    Raises:
      ValueError: unless 0 ≤ shortest ≤ longest.
    """
    if not 0 <= shortest <= longest:
        raise ValueError(f"opening plies must be 0 ≤ {shortest} ≤ {longest}")
    known: set[tuple[int, ...]] = set()
    openings = []
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        opening = _random_opening(size, rules, rng, shortest, longest)
        tries = 1
        while opening in known and tries < _TRIES:
            opening = _random_opening(size, rules, rng, shortest, longest)
            tries += 1
        known.add(opening)
        openings.append(opening)
    return openings


def _random_opening(
    size: int, rules: go.Rules, rng: np.random.Generator, shortest: int, longest: int
) -> tuple[int, ...]:
    game = new_game(size, rules)
    opening: list[int] = []
    for _ in range(int(rng.integers(shortest, longest + 1))):
        points = np.flatnonzero(np.asarray(_compiled_sensible()(game.state)))
        if game.is_over or points.size == 0:
            break
        opening.append(int(rng.choice(points)))
        game.play(opening[-1])
    return tuple(opening)
