"""States to network outputs: the one home of sign, mask and perspective.

Everything above this module (agents, search, analysis) gets `Evaluation`s, in which
these points are settled:

* **Perspective.** Planes are made for the player to move, so `value` is the expected
  outcome for the player to move, in [−1, 1]. `value_for_black` turns it round.
* **Mask.** `legal_actions` is the rule itself (`go.legal_actions`); logits of illegal
  moves are the lowest finite number, which a softmax turns into exactly 0. A finished
  game allows the pass alone, so that its row of the batch stays a distribution.
* **Numbers.** Logits and values are fp32. A network that gives NaN, or no mass to any
  legal move, is uniform over the legal moves; a NaN value is 0.
"""

import functools
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import flax.struct
import jax
import jax.numpy as jnp

from alphago_jax import go
from alphago_jax.go import scoring, symmetry
from alphago_jax.networks import Network, get_move_probabilities

Symmetries = Literal["none", "random", "all"]
Params: TypeAlias = Any
PlanesFn: TypeAlias = Callable[[go.GoState], jax.Array]


@flax.struct.dataclass
class Evaluation:
    """What a network says about a batch of states.

    Attributes:
      prior_logits: float32 [B, A], masked; log-probabilities up to a constant.
      legal_actions: bool [B, A]; the pass alone where the game is over.
      value: float32 [B] expected outcome for the player to move, in [−1, 1], or None
        from a network without a value.
    """

    prior_logits: jax.Array  # [B, A]
    legal_actions: jax.Array  # [B, A]
    value: jax.Array | None = None  # [B]


Evaluator: TypeAlias = Callable[[Params, jax.Array, go.GoState], Evaluation]
"""`(params, rng_key, states) -> Evaluation`; the key is consumed."""


def make_evaluator(
    network: Network, planes_fn: PlanesFn, *, symmetries: Symmetries = "none"
) -> Evaluator:
    """A pure function that evaluates batches of states.

    Args:
      network: with policy, value or both. Without a policy the prior is uniform over
        the legal moves.
      planes_fn: unbatched state → [N, N, C], as `alphago_jax.features` has them.
      symmetries: "none" shows the board as it is; "random" in one of its eight
        symmetries, drawn for the batch; "all" averages the probabilities and values of
        all eight (the ensemble of Silver et al. 2016, at eight times the cost).

    Returns:
      `evaluate(params, rng_key, states)`, to be compiled by the caller; `params` are
      the network's variables and `states` has a leading [B]. Only "random" uses the
      key.
    """

    def evaluate(params: Params, rng_key: jax.Array, states: go.GoState) -> Evaluation:
        legal = legal_or_pass(states)
        planes = jax.vmap(planes_fn)(states)  # [B, N, N, C]
        side = states.rules.board_size  # [B]
        probabilities, value = look(
            network, params, rng_key, planes, legal, side, symmetries=symmetries
        )
        return Evaluation(_masked_logits(probabilities, legal), legal, value)

    return evaluate


def look(
    network: Network,
    params: Params,
    rng_key: jax.Array,
    planes: jax.Array,
    candidates: jax.Array,
    side: jax.Array,
    *,
    symmetries: Symmetries = "none",
) -> tuple[jax.Array, jax.Array | None]:
    """Looks at planes in one symmetry of the board, or averages all eight.

    Args:
      network: see `make_evaluator`.
      params: the network's variables.
      rng_key: used by "random" only; it is consumed.
      planes: [B, N, N, C].
      candidates: bool [B, A], the moves that share all probability.
      side: int32 [B], side of the board in play.
      symmetries: see `make_evaluator`.

    Returns:
      Probabilities float32 [B, A], and the value float32 [B] or None.
    """
    one = functools.partial(_look, network, params, planes, candidates, side)
    if symmetries == "none":
        return one(None)
    if symmetries == "random":
        return one(jax.random.randint(rng_key, (), 0, symmetry.NUM_SYMMETRIES))
    # One symmetry after the other: eight batches need no more memory.
    numbers = jnp.arange(symmetry.NUM_SYMMETRIES, dtype=jnp.int32)
    looks = jax.lax.map(one, numbers)
    return jax.tree.map(lambda x: jnp.mean(x, axis=0), looks)


def legal_or_pass(states: go.GoState) -> jax.Array:
    """Legal actions; where the game is over, the pass. States [B] -> bool [B, A]."""
    legal = jax.vmap(go.legal_actions)(states)
    return legal.at[:, -1].set(True)


def value_for_black(value: jax.Array, states: go.GoState) -> jax.Array:
    """Turns the player to move's value [B] into Black's, and back again."""
    return value * states.position.to_play.astype(value.dtype)


def final_value(states: go.GoState) -> jax.Array:
    """Outcome of finished games for the player to move. States [B] -> float32 [B].

    +1 won, −1 lost, 0 drawn or without a result, by the rules' count of the board as
    it stands.
    """
    return value_for_black(jax.vmap(scoring.outcome)(states), states)


def _look(
    network: Network,
    params: Params,
    planes: jax.Array,
    legal: jax.Array,
    side: jax.Array,
    number: jax.Array | None,
) -> tuple[jax.Array, jax.Array | None]:
    """Probabilities [B, A] and value [B], seen through one symmetry or none."""
    size = planes.shape[1]
    if number is not None:
        turn = jax.vmap(symmetry.transform_board, in_axes=(0, None, 0))
        planes = turn(planes, number, side)
    outputs = network.apply(params, planes)
    value = outputs.value
    if value is not None:
        value = jnp.nan_to_num(value.astype(jnp.float32), nan=0.0)
    if outputs.prior_logits is None:
        return get_move_probabilities(jnp.zeros(legal.shape), legal), value
    logits = outputs.prior_logits.astype(jnp.float32)
    if number is not None:
        back = jax.vmap(symmetry.transform_policy, in_axes=(0, None, None, 0))
        logits = back(logits, symmetry.inverse(number), size, side)
    return get_move_probabilities(logits, legal), value


def _masked_logits(probabilities: jax.Array, legal: jax.Array) -> jax.Array:
    """Logs of probabilities, with finite numbers where the log is not."""
    lowest = jnp.finfo(jnp.float32).min
    tiny = jnp.finfo(jnp.float32).tiny
    # Legal moves that got no mass stay above the illegal ones.
    logits = jnp.log(jnp.maximum(probabilities, tiny))
    return jnp.where(legal, logits, lowest)
