"""SGD as the papers use it, and learning rates that follow the examples seen.

Durations are counted in examples, so that a run with another batch size keeps its
schedule.
"""

import dataclasses
from typing import Literal

import jax
import jax.numpy as jnp
import optax


@dataclasses.dataclass(frozen=True)
class OptimizerConfig:
    """Stochastic gradient descent with a learning-rate schedule.

    Attributes:
        schedule: `constant`; `exponential`: halved smoothly every `decay_examples`;
            `halving`: halved in steps every `decay_examples`; `cosine`: down to 0
            over `decay_examples`.
        learning_rate: the rate after the warm-up.
        decay_examples: examples to a halving, or to the end of the cosine.
        warmup_examples: examples over which the rate first rises from 0.
        momentum: 0.0 for none.
        nesterov: Nesterov's form of momentum.
        clip_norm: largest global norm of a gradient; None for no limit.
        l2: c in the regulariser c·‖θ‖², whose gradient is 2cθ. It covers the weights
            of layers, not biases nor scales (parameters of rank 0 and 1).
    """

    schedule: Literal["constant", "exponential", "halving", "cosine"] = "exponential"
    learning_rate: float = 0.003
    decay_examples: float = 80e6
    warmup_examples: float = 0.0
    momentum: float = 0.9
    nesterov: bool = False
    clip_norm: float | None = None
    l2: float = 0.0

    @classmethod
    def alphago_paper(cls) -> "OptimizerConfig":
        """Plain SGD, 0.003 halved every 80 million positions.

        Silver et al. 2016, methods: halved every 80 million training steps, where
        the step that it counts is one position.
        """
        return cls(schedule="halving", momentum=0.0)


def learning_rate_schedule(config: OptimizerConfig, batch_size: int) -> optax.Schedule:
    """The learning rate as a function of the number of updates.

    Args:
        config: the schedule and its durations.
        batch_size: examples per update, over all devices and micro-batches.

    Returns:
        A function of the update count, int32 [], to the rate, float32 [].

    Raises:
        ValueError: a duration or the batch size is not positive.
    """
    if batch_size <= 0 or config.decay_examples <= 0 or config.warmup_examples < 0:
        raise ValueError(f"not a schedule: batch size {batch_size}, {config}")

    def rate(count: jax.typing.ArrayLike) -> jax.Array:
        # In float32: examples overflow int32 within a long run.
        examples = jnp.asarray(count, jnp.float32) * batch_size
        after_warmup = jnp.maximum(examples - config.warmup_examples, 0.0)
        progress = after_warmup / config.decay_examples
        warmup = 1.0
        if config.warmup_examples > 0:
            warmup = jnp.minimum(examples / config.warmup_examples, 1.0)
        return config.learning_rate * warmup * _decay(config.schedule, progress)

    return rate


def _decay(schedule: str, progress: jax.Array) -> jax.Array:
    if schedule == "constant":
        return jnp.ones_like(progress)
    if schedule == "exponential":
        return jnp.exp2(-progress)
    if schedule == "halving":
        return jnp.exp2(-jnp.floor(progress))
    if schedule == "cosine":
        return 0.5 * (1.0 + jnp.cos(jnp.pi * jnp.minimum(progress, 1.0)))
    raise ValueError(f"no schedule is called {schedule!r}")


def make_optimizer(
    config: OptimizerConfig, batch_size: int
) -> optax.GradientTransformation:
    """SGD for `batch_size` examples per update.

    In order: the regulariser's gradient is added, the sum is clipped, then momentum
    and the learning rate apply.
    """
    parts: list[optax.GradientTransformation] = []
    if config.l2:
        parts.append(optax.add_decayed_weights(2.0 * config.l2, mask=_is_weight))
    if config.clip_norm is not None:
        parts.append(optax.clip_by_global_norm(config.clip_norm))
    sgd = optax.sgd(
        learning_rate_schedule(config, batch_size),
        momentum=config.momentum or None,
        nesterov=config.nesterov,
    )
    return optax.chain(*parts, sgd)


def _is_weight(params: optax.Params) -> optax.Params:
    return jax.tree.map(lambda leaf: leaf.ndim > 1, params)
