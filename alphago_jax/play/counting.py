"""Counting one game on the host: results, and stones that are dead beyond doubt."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax import go
from alphago_jax.go import pass_alive, scoring


@functools.cache
def _compiled_score():
    return jax.jit(scoring.score)


@functools.cache
def _compiled_pass_alive():
    return jax.jit(pass_alive.pass_alive)


def margin(state: go.GoState, dead: np.ndarray | None = None) -> float:
    """Black − White with komi, by the rules of the game.

    Args:
      state: unbatched.
      dead: bool [N, N], stones to take off first; none by default, under territory
        rules too.
    """
    if dead is None:
        dead = np.zeros(go.stones(state).shape, bool)
    return float(_compiled_score()(state, jnp.asarray(dead)).margin)


def estimated_dead(state: go.GoState) -> np.ndarray:
    """Stones that are dead beyond doubt: in the opponent's pass-alive territory.

    Returns:
      bool [N, N].
    """
    territory = np.asarray(_compiled_pass_alive()(state).territory)  # [2, N, N]
    stones = np.asarray(go.stones(state))
    return (territory[0] & (stones < 0)) | (territory[1] & (stones > 0))


def takes_dead_off(rules: go.Rules) -> bool:
    """Whether the rules agree on dead stones instead of playing them out."""
    return rules.friendly_pass or rules.scoring == "territory"


def final_margin(game: go.Game) -> float:
    """Black − White by the rules, dead stones taken off where the rules do that.

    0 for a game without a result.
    """
    if go.is_no_result(game.state):
        return 0.0
    dead = estimated_dead(game.state) if takes_dead_off(game.rules) else None
    return margin(game.state, dead)


def format_margin(points: float) -> str:
    """Writes a result as GTP and SGF do: "B+3.5", "W+0.5" or "0"."""
    if points == 0:
        return "0"
    return f"{'B' if points > 0 else 'W'}+{abs(points):g}"
