"""Losses and accuracies, one number per example.

Every function here returns [B]; the weighting and averaging happen in one place, the
training step. `policy_loss`, `value_loss` and `policy_value_loss` are what
`make_train_step` takes: functions of a network's output and the examples.
"""

from typing import Protocol

import jax
import jax.numpy as jnp
import optax
from flax import struct

from alphago_jax.training.averages import Mean, weighted_mean
from alphago_jax.types import Examples


class PolicyOutput(Protocol):
    """Network output with move logits."""

    @property
    def prior_logits(self) -> jax.Array | None:
        """Float [B, A]."""
        ...


class ValueOutput(Protocol):
    """Network output with a value."""

    @property
    def value(self) -> jax.Array | None:
        """Float [B], for the player to move."""
        ...


class PolicyValueOutput(PolicyOutput, ValueOutput, Protocol):
    """Network output with both."""


@struct.dataclass
class LossOutput:
    """What a loss function says about a batch.

    Attributes:
        per_example: float32 [B] the loss of each example, before weighting.
        weights: float32 [B] how much each counts; must not depend on parameters.
        metrics: further means, by name.
    """

    per_example: jax.Array  # [B]
    weights: jax.Array  # [B]
    metrics: dict[str, Mean]


def policy_cross_entropy(
    prior_logits: jax.Array,  # [B, A]
    actions: jax.Array,  # [B]
) -> jax.Array:  # [B]
    """−log p(action), computed on logits in float32.

    Silver et al. 2016, methods, "Policy network: classification".
    """
    return optax.softmax_cross_entropy_with_integer_labels(
        prior_logits.astype(jnp.float32), actions
    )


def guarded_policy_cross_entropy(
    prior_logits: jax.Array,  # [B, A]
    actions: jax.Array,  # [B]
    *,
    epsilon: float = 1e-8,
) -> jax.Array:  # [B]
    """−log(p(action) + ε), a form often written with probabilities.

    For comparison only: its gradient fades where p(action) is near ε, just where the
    network is most wrong.
    """
    log_prob = -policy_cross_entropy(prior_logits, actions)
    return -jnp.logaddexp(log_prob, jnp.log(epsilon))


def policy_target_cross_entropy(
    prior_logits: jax.Array,  # [B, A]
    target_probs: jax.Array,  # [B, A]
) -> jax.Array:  # [B]
    """−Σ π(a) log p(a): cross-entropy to a distribution, such as visit counts."""
    # safe_softmax_...: a move with no target mass may have a logit of −inf.
    return optax.losses.safe_softmax_cross_entropy(
        prior_logits.astype(jnp.float32), target_probs
    )


def value_squared_error(
    value: jax.Array,  # [B]
    returns: jax.Array,  # [B]
) -> jax.Array:  # [B]
    """(z − v)², both in [−1, 1] and seen by the player to move.

    The papers' figures for the mean on a [0, 1] scale are a quarter of this one's.
    """
    return jnp.square(value.astype(jnp.float32) - returns)


def sign_correct(
    value: jax.Array,  # [B]
    returns: jax.Array,  # [B]
) -> jax.Array:  # [B]
    """1.0 where the value names the winner; 0.0 elsewhere, also where it is 0."""
    return (value * returns > 0).astype(jnp.float32)


def top_k_correct(
    prior_logits: jax.Array,  # [B, A]
    actions: jax.Array,  # [B]
    k: int,
) -> jax.Array:  # [B]
    """1.0 where the action is among the k largest logits.

    Of equal logits the lower index comes first, as in `argmax`; NaN is never correct.
    """
    num_actions = prior_logits.shape[-1]
    chosen = jnp.take_along_axis(prior_logits, actions[:, None], axis=-1)  # [B, 1]
    earlier = jnp.arange(num_actions)[None, :] < actions[:, None]  # [B, A]
    ahead = (prior_logits > chosen) | ((prior_logits == chosen) & earlier)  # [B, A]
    inside = (jnp.sum(ahead, axis=-1) < k) & ~jnp.isnan(chosen[:, 0])
    return inside.astype(jnp.float32)


def policy_loss(
    outputs: PolicyOutput, examples: Examples, *, pass_move: bool = True
) -> LossOutput:
    """Cross-entropy of the move that was played.

    Args:
        outputs: with `prior_logits` [B, A].
        examples: the batch.
        pass_move: whether the pass is a move that the network can make; if not,
            passes have no weight.

    Returns:
        The loss, and the metrics `top_1` and `top_5` over moves that are no passes,
        and `top_1_with_passes` where passes are targets.
    """
    assert outputs.prior_logits is not None
    logits, actions = outputs.prior_logits, examples.actions
    pass_action = examples.planes.shape[1] * examples.planes.shape[2]
    on_board = examples.weights * (actions < pass_action)
    weights = examples.weights if pass_move else on_board
    top_1 = top_k_correct(logits, actions, 1)
    metrics = {
        "top_1": weighted_mean(top_1, on_board),
        "top_5": weighted_mean(top_k_correct(logits, actions, 5), on_board),
    }
    if pass_move:
        metrics["top_1_with_passes"] = weighted_mean(top_1, weights)
    return LossOutput(policy_cross_entropy(logits, actions), weights, metrics)


def value_loss(outputs: ValueOutput, examples: Examples) -> LossOutput:
    """Squared error of the value, with `sign_accuracy` over games that were not drawn.

    Silver et al. 2016, methods, "Value network: regression".
    """
    assert outputs.value is not None
    decided = examples.weights * (examples.returns != 0)
    correct = sign_correct(outputs.value, examples.returns)
    error = value_squared_error(outputs.value, examples.returns)
    metrics = {"sign_accuracy": weighted_mean(correct, decided)}
    return LossOutput(error, examples.weights, metrics)


def policy_value_loss(outputs: PolicyValueOutput, examples: Examples) -> LossOutput:
    """Cross-entropy plus squared error, equally weighted.

    Silver et al. 2017, equation 1, without its regulariser: that one belongs to the
    optimiser (`OptimizerConfig.l2`).
    """
    policy, value = policy_loss(outputs, examples), value_loss(outputs, examples)
    metrics = policy.metrics | value.metrics
    metrics["policy_loss"] = weighted_mean(policy.per_example, policy.weights)
    metrics["value_loss"] = weighted_mean(value.per_example, value.weights)
    total = policy.per_example + value.per_example
    return LossOutput(total, examples.weights, metrics)
