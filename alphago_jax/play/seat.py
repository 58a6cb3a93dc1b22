"""An agent at one board: the host's side of `Agent`, one state at a time."""

import functools
from typing import Any, NamedTuple

import jax
import numpy as np

from alphago_jax import go
from alphago_jax.play.agents import ActFn, Agent, AgentOutput


class Choice(NamedTuple):
    """What an agent chose in one state.

    Attributes:
      action: in [0, A).
      action_weights: float32 [A], probabilities that it was drawn from.
      value: expected outcome for the player to move, or None if it has no opinion.
    """

    action: int
    action_weights: np.ndarray  # [A]
    value: float | None


class Seat:
    """Drives an agent move by move; the same seed gives the same game."""

    def __init__(self, agent: Agent, *, seed: int = 0) -> None:
        """Seats an agent.

        Args:
          agent: who plays.
          seed: of the agent's random choices.
        """
        self.agent = agent
        self._rng_key = jax.random.key(seed)
        self._num_choices = 0
        self._carry: Any = None

    def new_game(self, state: go.GoState) -> None:
        """Forgets the last game; random choices go on from where they were."""
        self._carry = self.agent.init(_batch_of_one(state))

    def choose(self, state: go.GoState, *, advance: bool = True) -> Choice:
        """Chooses a move for the player to move. `state` is unbatched.

        Args:
          state: the game so far.
          advance: draw other random numbers at the next call. Without, the call
            leaves no trace: asked again, the agent answers the same.
        """
        if self._carry is None:
            self.new_game(state)
        rng_key = jax.random.fold_in(self._rng_key, self._num_choices)
        choose = _compiled_choice(self.agent.act)
        output, carry = choose(self.agent.params, self._carry, rng_key, state)
        if advance:
            self._num_choices += 1
            self._carry = carry
        value = None if output.value is None else float(output.value[0])
        weights = np.asarray(output.action_weights[0])
        return Choice(int(output.action[0]), weights, value)


@functools.lru_cache(maxsize=16)
def _compiled_choice(act: ActFn):
    """One compiled function for each kind of agent, however many games it plays."""

    def choose(
        params: Any, carry: Any, rng_key: jax.Array, state: go.GoState
    ) -> tuple[AgentOutput, Any]:
        return act(params, carry, rng_key, _batch_of_one(state))

    return jax.jit(choose)


def _batch_of_one(state: go.GoState) -> go.GoState:
    return jax.tree.map(lambda leaf: leaf[None], state)
