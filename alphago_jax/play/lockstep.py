"""Two agents in many games at once, on the device."""

import functools
from typing import Any, NamedTuple

import jax
import numpy as np

from alphago_jax import go
from alphago_jax.go import scoring
from alphago_jax.go.state import NO_RESULT, TWO_PASSES
from alphago_jax.play.agents import ActFn, Agent


class PlayedOut(NamedTuple):
    """Games of a batch after their end.

    Attributes:
      actions: the moves of each game after its start.
      margins: Black − White with komi on the board as it stands. float32 [B].
      no_result: bool [B], games that an endless cycle has ended.
      over_by_passes: bool [B], False where the move limit or a cycle ended the game.
    """

    actions: list[list[int]]
    margins: np.ndarray
    no_result: np.ndarray
    over_by_passes: np.ndarray


@functools.lru_cache(maxsize=16)
def _compiled_ply(act: ActFn):
    def ply(
        params: Any, carry: Any, rng_key: jax.Array, states: go.GoState
    ) -> tuple[jax.Array, Any, go.GoState, jax.Array]:
        output, carry = act(params, carry, rng_key, states)
        after = jax.vmap(go.step)(states, output.action)
        return output.action, carry, after, jax.vmap(go.is_over)(after)

    return jax.jit(ply)


@functools.cache
def _compiled_scores():
    return jax.jit(jax.vmap(scoring.score))


def play_both_ways(
    first: Agent, second: Agent, starts: go.GoState, rng_key: jax.Array
) -> tuple[PlayedOut, PlayedOut]:
    """Plays every start twice, once with either agent to move first.

    Both halves go on in step, so that at every ply the two agents look at one half
    each: no row waits for the other player's turn.

    Args:
      first: moves first in the first half of the result.
      second: moves first in the second half.
      starts: states with a leading [B].
      rng_key: the key is consumed. The same key, agents and starts give the same games.

    Returns:
      The games where `first` moved first, and those where `second` did.
    """
    agents = (first, second)
    # carries[half][agent]
    carries = [[agent.init(starts) for agent in agents] for _ in range(2)]
    states = [starts, starts]
    actions: list[list[np.ndarray]] = [[], []]
    over = [np.asarray(jax.vmap(go.is_over)(starts)) for _ in range(2)]
    played: list[list[np.ndarray]] = [[], []]
    ply = 0
    while not (over[0].all() and over[1].all()):
        for half in range(2):
            mover = (ply + half) % 2
            agent = agents[mover]
            key = jax.random.fold_in(rng_key, 2 * ply + half)
            ply_of_agent = _compiled_ply(agent.act)
            action, carries[half][mover], states[half], now_over = ply_of_agent(
                agent.params, carries[half][mover], key, states[half]
            )
            actions[half].append(np.asarray(action))
            played[half].append(~over[half])
            over[half] = np.asarray(now_over)
        ply += 1
    halves = [
        _played_out(states[half], np.array(actions[half]), np.array(played[half]))
        for half in range(2)
    ]
    return halves[0], halves[1]


def _played_out(
    states: go.GoState, actions: np.ndarray, played: np.ndarray
) -> PlayedOut:
    """Gathers results. `actions` and `played` are [T, B]."""
    num_games = states.position.to_play.shape[0]
    moves = [
        [int(a) for a in actions[played[:, row], row]] if len(actions) else []
        for row in range(num_games)
    ]
    status = np.asarray(states.position.status)
    return PlayedOut(
        actions=moves,
        margins=np.asarray(_compiled_scores()(states).margin),
        no_result=status == NO_RESULT,
        over_by_passes=status == TWO_PASSES,
    )
