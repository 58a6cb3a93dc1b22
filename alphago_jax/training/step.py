"""One training step and one evaluation step, as pure functions.

A step computes the gradient of Σ w·loss / Σ w over the whole batch. The two sums are
kept apart until the end, so that micro-batches, a sharded batch under `jit`, and
`pmap` or `shard_map` with an axis name all give the same update.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import optax
from flax import struct

from alphago_jax.training.averages import Mean, weighted_mean
from alphago_jax.training.losses import LossOutput
from alphago_jax.types import Examples

Variables = Mapping[str, Any]
Metrics = dict[str, Mean]
LossFn = Callable[[Any, Examples], LossOutput]


class TrainApply(Protocol):
    """A network's forward pass in training."""

    def __call__(
        self,
        variables: dict[str, Any],
        planes: jax.Array,
        *,
        rngs: dict[str, jax.Array],
        axis_name: str | None,
    ) -> tuple[Any, Mapping[str, Any]]:
        """Returns the outputs and the updated collections (batch statistics)."""
        ...


class EvalApply(Protocol):
    """A network's forward pass outside training."""

    def __call__(self, variables: dict[str, Any], planes: jax.Array) -> Any:
        """Returns the outputs."""
        ...


@struct.dataclass
class TrainState:
    """Everything that a step changes.

    Attributes:
        step: int32 [] number of steps taken, skipped ones included.
        num_skipped: int32 [] steps whose loss or gradient was not finite.
        params: the parameters.
        batch_stats: running statistics of normalisation; empty where there are none.
        opt_state: the optimiser's state.
        ema_params: exponential moving average of `params`, or None.
        rng_key: the run's key; every step folds its number in, so it never changes.
    """

    step: jax.Array  # []
    num_skipped: jax.Array  # []
    params: Any
    batch_stats: Any
    opt_state: optax.OptState
    ema_params: Any
    rng_key: jax.Array

    @property
    def variables(self) -> dict[str, Any]:
        """What `Network.apply` takes, with the parameters being trained."""
        return _variables(self.params, self.batch_stats)

    @property
    def averaged_variables(self) -> dict[str, Any]:
        """The same with the averaged parameters, where they are kept."""
        params = self.params if self.ema_params is None else self.ema_params
        return _variables(params, self.batch_stats)


def init_train_state(
    variables: Variables,
    optimizer: optax.GradientTransformation,
    rng_key: jax.Array,
    *,
    keep_average: bool = False,
) -> TrainState:
    """The state before the first step.

    Args:
        variables: as `Network.init` or `checkpoint.load_network` returns them.
        optimizer: the optimiser to start afresh.
        rng_key: key for dropout and the like.
        keep_average: keep an exponential moving average of the parameters.
    """
    params = jax.tree.map(jnp.asarray, variables["params"])
    return TrainState(
        step=jnp.zeros((), jnp.int32),
        num_skipped=jnp.zeros((), jnp.int32),
        params=params,
        batch_stats=jax.tree.map(jnp.asarray, dict(variables.get("batch_stats", {}))),
        opt_state=optimizer.init(params),
        # A copy: two names for one buffer could not both be donated.
        ema_params=jax.tree.map(jnp.copy, params) if keep_average else None,
        rng_key=rng_key,
    )


def make_train_step(
    apply: TrainApply,
    loss: LossFn,
    optimizer: optax.GradientTransformation,
    *,
    axis_name: str | None = None,
    accumulate: int = 1,
    ema_decay: float = 0.999,
    schedule: optax.Schedule | None = None,
) -> Callable[[TrainState, Examples], tuple[TrainState, Metrics]]:
    """Makes `step(state, examples) -> (state, metrics)`.

    A step whose loss or gradient is not finite changes nothing but the counters.

    Args:
        apply: the network in training.
        loss: the loss of its outputs.
        optimizer: the optimiser that `init_train_state` was given.
        axis_name: mapped axis over which devices share one update, under `pmap` or
            `shard_map`; None under `jit`, where a sharded batch needs nothing. It is
            passed on to `apply`, for batch normalisation.
        accumulate: micro-batches per update, which divides the batch size. Each
            takes every `accumulate`-th row, so a batch sharded over devices stays
            where it is. Batch statistics pass from one to the next.
        ema_decay: decay of the average, if the state keeps one.
        schedule: the learning rate by steps, only to report it.

    Returns:
        A pure function. Its metrics are `loss`, `gradient_norm` (before clipping),
        `skipped`, those of `loss`, and `learning_rate` if there is a `schedule`.
    """

    def step(state: TrainState, examples: Examples) -> tuple[TrainState, Metrics]:
        rng_key = jax.random.fold_in(state.rng_key, state.step)
        if axis_name is not None:
            rng_key = jax.random.fold_in(rng_key, jax.lax.axis_index(axis_name))

        def gradient_of(
            batch_stats: Any, part: Examples, index: jax.typing.ArrayLike
        ) -> tuple[Any, Any, Metrics]:
            forward = functools.partial(
                apply,
                rngs={"dropout": jax.random.fold_in(rng_key, index)},
                axis_name=axis_name,
            )
            return _gradient_sums(forward, loss, state.params, batch_stats, part)

        batch_stats, sums, metrics = _over_micro_batches(
            gradient_of, state.batch_stats, examples, accumulate
        )
        if axis_name is not None:
            sums, metrics = jax.lax.psum((sums, metrics), axis_name)
            batch_stats = jax.lax.pmean(batch_stats, axis_name)
        weight = metrics["loss"].weight
        if schedule is not None:
            rate = jnp.asarray(schedule(state.step), jnp.float32)
            metrics = metrics | {"learning_rate": Mean(rate, jnp.ones(()))}
        # A batch of padding only has no gradient, rather than 0 / 0.
        gradient = jax.tree.map(lambda g: g / jnp.where(weight > 0, weight, 1.0), sums)
        return _update(state, gradient, batch_stats, metrics, optimizer, ema_decay)

    return step


def make_eval_step(
    apply: EvalApply, loss: LossFn, *, axis_name: str | None = None
) -> Callable[[dict[str, Any], Examples], Metrics]:
    """Makes `step(variables, examples) -> metrics`: the loss without an update.

    Metrics of several batches are merged by adding them.
    """

    def step(variables: dict[str, Any], examples: Examples) -> Metrics:
        outputs = loss(apply(variables, examples.planes), examples)
        metrics = {"loss": weighted_mean(outputs.per_example, outputs.weights)}
        metrics |= outputs.metrics
        return metrics if axis_name is None else jax.lax.psum(metrics, axis_name)

    return step


def _variables(params: Any, batch_stats: Any) -> dict[str, Any]:
    return {"params": params} | ({"batch_stats": batch_stats} if batch_stats else {})


def _gradient_sums(
    forward: Callable[..., tuple[Any, Mapping[str, Any]]],
    loss: LossFn,
    params: Any,
    batch_stats: Any,
    examples: Examples,
) -> tuple[Any, Any, Metrics]:
    """New batch statistics, ∇ Σ w·loss, and the metrics of one micro-batch."""

    def total_loss(params: Any) -> tuple[jax.Array, tuple[Any, Metrics]]:
        variables = _variables(params, batch_stats)
        outputs, updates = forward(variables, examples.planes)
        result = loss(outputs, examples)
        mean = weighted_mean(result.per_example, result.weights)
        new_stats = updates.get("batch_stats", batch_stats)
        return mean.total, (new_stats, {"loss": mean} | result.metrics)

    gradient, (new_stats, metrics) = jax.grad(total_loss, has_aux=True)(params)
    return new_stats, gradient, metrics


def _over_micro_batches(
    gradient_of: Callable[..., tuple[Any, Any, Metrics]],
    batch_stats: Any,
    examples: Examples,
    accumulate: int,
) -> tuple[Any, Any, Metrics]:
    """Sums gradients and metrics over micro-batches, passing statistics along."""
    if accumulate == 1:
        return gradient_of(batch_stats, examples, 0)

    def split(rows: jax.Array) -> jax.Array:  # [B, ...] -> [accumulate, B', ...]
        # Rows k, k + accumulate, ...: cutting into runs of rows would move most of a
        # sharded batch to other devices.
        rows = rows.reshape(-1, accumulate, *rows.shape[1:])
        return jnp.swapaxes(rows, 0, 1)

    parts = jax.tree.map(split, examples)
    first = jax.tree.map(lambda rows: rows[0], parts)
    _, *shapes = jax.eval_shape(gradient_of, batch_stats, first, 0)
    zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)

    def body(carry: Any, part: Any) -> tuple[Any, None]:
        statistics, *sums = carry
        statistics, *more = gradient_of(statistics, *part)
        return (statistics, *jax.tree.map(jnp.add, sums, more)), None

    numbers = jnp.arange(accumulate)
    (statistics, sums, metrics), _ = jax.lax.scan(
        body, (batch_stats, *zeros), (parts, numbers)
    )
    return statistics, sums, metrics


def _update(
    state: TrainState,
    gradient: Any,
    batch_stats: Any,
    metrics: Metrics,
    optimizer: optax.GradientTransformation,
    ema_decay: float,
) -> tuple[TrainState, Metrics]:
    """Applies a gradient if it is finite; counts the step either way."""
    norm = optax.tree.norm(gradient)
    finite = jnp.isfinite(norm) & jnp.isfinite(metrics["loss"].total)
    updates, opt_state = optimizer.update(gradient, state.opt_state, state.params)
    params = optax.apply_updates(state.params, updates)
    ema_params = jax.tree.map(
        lambda average, new: ema_decay * average + (1.0 - ema_decay) * new,
        state.ema_params,
        None if state.ema_params is None else params,
    )
    proposed = dataclasses.replace(
        state,
        params=params,
        batch_stats=batch_stats,
        opt_state=opt_state,
        ema_params=ema_params,
    )
    kept = jax.tree.map(
        lambda new, old: jnp.where(finite, new, old),
        dataclasses.replace(proposed, rng_key=()),
        dataclasses.replace(state, rng_key=()),
    )
    one = jnp.ones(())
    metrics = metrics | {
        "gradient_norm": Mean(jnp.where(finite, norm, 0.0), finite.astype(norm.dtype)),
        "skipped": Mean(1.0 - finite, one),
    }
    # A loss that is not finite would make every running mean so.
    metrics["loss"] = jax.tree.map(lambda x: jnp.where(finite, x, 0.0), metrics["loss"])
    state = dataclasses.replace(
        kept,
        step=state.step + 1,
        num_skipped=state.num_skipped + (1 - finite),
        rng_key=state.rng_key,
    )
    return state, metrics
