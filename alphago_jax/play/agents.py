"""Players as pairs of pure functions.

An agent looks at a batch of states and chooses an action in each. It never sees the
host: GTP, matches and self-play all drive the same two functions.

| agent | chooses |
|---|---|
| `random_agent` | uniformly among sensible moves, passes when there is none |
| `policy_agent` | by a network's policy alone, without search |
"""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeAlias

import flax.struct
import jax
import jax.numpy as jnp

from alphago_jax import go
from alphago_jax.networks import get_move_probabilities
from alphago_jax.play.evaluator import Evaluator, final_value, legal_or_pass
from alphago_jax.play.sensible import sensible_points


@flax.struct.dataclass
class AgentOutput:
    """What an agent decides in a batch of states.

    Attributes:
      action: int32 [B], legal; the pass where the game is over.
      action_weights: float32 [B, A], probabilities that the action was drawn from.
      value: float32 [B] expected outcome for the player to move, or None from an
        agent that has no opinion.
    """

    action: jax.Array  # int32 [B]
    action_weights: jax.Array  # [B, A]
    value: jax.Array | None = None  # [B]


ActFn: TypeAlias = Callable[[Any, Any, jax.Array, go.GoState], tuple[AgentOutput, Any]]
"""`(params, carry, rng_key, states) -> (AgentOutput, carry)`; the key is consumed."""


@dataclasses.dataclass(frozen=True, eq=False)
class Agent:
    """A player.

    `init(states) -> carry` starts a batch of games, and
    `act(params, carry, rng_key, states) -> (AgentOutput, carry)` chooses a move in
    each; `states` has a leading [B], the key is consumed. Both can be compiled. Agents
    without a memory carry `()`. A game may go on between two calls by any number of
    moves, and back by undo.

    Attributes:
      name: for result tables.
      params: what `act` needs besides code, such as a network's variables.
      init: see above.
      act: see above.
    """

    name: str
    params: Any = dataclasses.field(repr=False)
    init: Callable[[go.GoState], Any] = dataclasses.field(repr=False)
    act: ActFn = dataclasses.field(repr=False)


def random_agent(name: str = "random") -> Agent:
    """Plays uniformly at random among the legal moves that fill no own eye.

    It passes when there is no such move. Two of them always finish a game, and leave
    a board that area scoring counts rightly.
    """
    return Agent(name=name, params=None, init=_no_carry, act=_random_act)


def _random_act(
    params: None, carry: tuple[()], rng_key: jax.Array, states: go.GoState
) -> tuple[AgentOutput, tuple[()]]:
    del params
    legal = legal_or_pass(states)
    points = jax.vmap(sensible_points)(states, legal)  # [B, N²]
    candidates = _with_pass(points, ~jnp.any(points, axis=1))
    weights = get_move_probabilities(jnp.zeros(legal.shape), candidates)
    return AgentOutput(_draw(rng_key, weights), weights), carry


def policy_agent(
    name: str,
    evaluator: Evaluator,
    params: Any,
    *,
    temperature: float = 0.0,
) -> Agent:
    """Plays by a network's policy alone.

    A move a is drawn with probability ∝ p(a)^(1/T) among the candidates: the legal
    moves that fill no own eye, and the pass under these rules, in this order:

    1. no such move is left: it passes;
    2. the opponent has just passed and the board as it stands is won by area: it
       passes, which wins the game;
    3. the opponent has just passed and the board is not won: it does not pass;
    4. otherwise the pass is a candidate with the network's own probability, which is 0
       in a network without a pass.

    Args:
      name: for result tables.
      evaluator: as from `make_evaluator`; it does the symmetry ensemble.
      params: the evaluator's.
      temperature: T ≥ 0; 0 plays the most probable move.

    Raises:
      ValueError: for a negative temperature.
    """
    if not temperature >= 0:
        raise ValueError(f"temperature must be at least 0, got {temperature}")

    def act(
        params: Any, carry: tuple[()], rng_key: jax.Array, states: go.GoState
    ) -> tuple[AgentOutput, tuple[()]]:
        look_key, draw_key = jax.random.split(rng_key)
        evaluation = evaluator(params, look_key, states)
        candidates = _policy_candidates(states, evaluation.legal_actions)
        weights = get_move_probabilities(
            evaluation.prior_logits, candidates, temperature
        )
        output = AgentOutput(_draw(draw_key, weights), weights, evaluation.value)
        return output, carry

    return Agent(name=name, params=params, init=_no_carry, act=act)


def _policy_candidates(states: go.GoState, legal: jax.Array) -> jax.Array:
    """Moves that the policy may choose from; see `policy_agent`. bool [B, A]."""
    points = jax.vmap(sensible_points)(states, legal)
    opponent_passed = states.position.num_passes > 0  # [B]
    # Counting floods the board: only when somebody in the batch has passed.
    wins = jax.lax.cond(
        jnp.any(opponent_passed),
        lambda states: final_value(states) > 0,
        lambda states: jnp.zeros(legal.shape[0], bool),
        states,
    )
    pass_wins = opponent_passed & wins
    points = points & ~pass_wins[:, None]
    no_point = ~jnp.any(points, axis=1)
    return _with_pass(points, no_point | ~opponent_passed)


def _with_pass(points: jax.Array, passes: jax.Array) -> jax.Array:
    """Appends the pass. bool [B, N²] and [B] -> [B, A]."""
    return jnp.concatenate([points, passes[:, None]], axis=1)


def _draw(rng_key: jax.Array, weights: jax.Array) -> jax.Array:
    """One action of each row of probabilities. float32 [B, A] -> int32 [B]."""
    logits = jnp.where(weights > 0, jnp.log(weights), -jnp.inf)
    return jax.random.categorical(rng_key, logits, axis=-1).astype(jnp.int32)


def _no_carry(states: go.GoState) -> tuple[()]:
    """`init` of an agent without a memory."""
    del states
    return ()
