"""Learning from recorded games: the policy network, and the naive value network.

Silver et al. 2016, Methods, "Policy network: classification". The value network
trained here sees every position of a game with the same outcome; it memorises
games and is kept as the comparison that the paper makes.
"""

import dataclasses
import functools
import operator
import os
from collections.abc import Callable, Mapping
from typing import Any, Literal

import jax
import jax.numpy as jnp

from alphago_jax import features, networks
from alphago_jax.checkpoint import NetworkMetadata, Retention, RunDirectory
from alphago_jax.data.stream import ExampleStream, GameSet, StreamConfig, all_examples
from alphago_jax.networks import Network
from alphago_jax.training import (
    LoopConfig,
    OptimizerConfig,
    TrainingResult,
    TrainState,
    compile_eval_step,
    compile_train_step,
    init_train_state,
    learning_rate_schedule,
    make_eval_step,
    make_mesh,
    make_optimizer,
    make_train_step,
    policy_loss,
    replicate,
    shard_batch,
    train,
    value_loss,
)
from alphago_jax.types import Examples

Target = Literal["policy", "value"]


@dataclasses.dataclass(frozen=True)
class SupervisedConfig:
    """A supervised run, whole: what decides what it computes.

    Attributes:
      target: "policy" (the move played) or "value" (the game's result).
      network: overrides for `networks.create`.
      stream: how examples are drawn.
      optimizer: SGD and its schedule.
      loop: steps, reports, evaluations, checkpoints.
      accumulate: micro-batches an update.
      ema_decay: decay of the averaged parameters; None keeps no average.
      validation_every: every so-manieth position of the validation games is used.
      seed: initial parameters and dropout.
    """

    target: Target = "policy"
    network: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    stream: StreamConfig = dataclasses.field(default_factory=StreamConfig)
    optimizer: OptimizerConfig = dataclasses.field(default_factory=OptimizerConfig)
    loop: LoopConfig = dataclasses.field(
        default_factory=lambda: LoopConfig(num_steps=10_000)
    )
    accumulate: int = 1
    ema_decay: float | None = None
    validation_every: int = 10
    seed: int = 0


# What may differ when a run goes on: its length and how often it reports.
_MAY_CHANGE = frozenset(
    {
        "loop.num_steps",
        "loop.log_every",
        "loop.eval_every",
        "loop.save_every",
        "loop.save_minutes",
        "loop.patience",
    }
)


def make_network(config: SupervisedConfig, board_size: int) -> Network:
    """The network that a configuration trains."""
    return networks.create(f"alphago_{config.target}", board_size, **config.network)


def train_supervised(
    config: SupervisedConfig,
    games: GameSet,
    validation: GameSet,
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    variables: networks.Variables | None = None,
    notes: Mapping[str, Any] | None = None,
) -> tuple[Network, TrainingResult]:
    """Trains on recorded games until the run ends.

    Args:
      config: the run.
      games: games to learn from.
      validation: games of the same board size to watch, never learnt from.
      out: run directory.
      resume: go on with the run that is there.
      variables: where to start instead of drawing them, as `load_network` returns
        them; the optimiser starts afresh. A run that is resumed has its own.
      notes: anything to keep with the network: data, command.

    Returns:
      The network and how the run ended.

    Raises:
      CheckpointError: if the directory holds a run and `resume` is False, or the
        run's configuration differs.
      ValueError: if the sets do not fit each other or hold nothing to learn from, or
        `variables` are not this network's.
    """
    if games.size != validation.size:
        raise ValueError(
            f"training games are {games.size}×{games.size}, validation games "
            f"{validation.size}×{validation.size}"
        )
    network = make_network(config, games.size)
    mesh = make_mesh()
    schedule = learning_rate_schedule(config.optimizer, config.stream.batch_size)
    optimizer = make_optimizer(config.optimizer, config.stream.batch_size)
    init_key, step_key = jax.random.split(jax.random.key(config.seed))
    drawn = network.init(init_key)
    state = init_train_state(
        drawn if variables is None else _fitting(variables, drawn),
        optimizer,
        step_key,
        keep_average=config.ema_decay is not None,
    )
    step = make_train_step(
        network.apply_train,
        _loss(config, network),
        optimizer,
        accumulate=config.accumulate,
        ema_decay=config.ema_decay or 0.0,
        schedule=schedule,
    )
    planes_fn = features.get(network.planes).planes
    stream = ExampleStream(games, planes_fn, config.stream)
    metadata = NetworkMetadata(
        name=network.name,
        board_size=network.board_size,
        config=network.config_dict(),
        planes=network.planes,
        notes=dict(notes or {}),
    )
    retention = Retention(metric=config.loop.watch, mode=config.loop.watch_mode)
    configuration = {
        **dataclasses.asdict(config),
        "games": len(games),
        "validation_games": len(validation),
    }
    with RunDirectory(
        out,
        configuration,
        network=metadata,
        resume=resume,
        may_change=_MAY_CHANGE,
        retention=retention,
    ) as run:
        result = train(
            run,
            replicate(state, mesh),
            compile_train_step(step, mesh),
            _Sharded(stream, mesh),
            config.loop,
            evaluate=_validator(config, network, validation, planes_fn),
            unit="positions",
        )
    return network, result


def _fitting(
    variables: networks.Variables, drawn: networks.Variables
) -> networks.Variables:
    """Given variables in the dtypes of the network's own; refuses other shapes."""
    given = {name: variables.get(name, {}) for name in drawn}
    if jax.tree.map(jnp.shape, given) != jax.tree.map(jnp.shape, drawn):
        raise ValueError("the variables to start from are those of another network")
    return jax.tree.map(lambda own, x: jnp.asarray(x, own.dtype), drawn, given)


class _Sharded:
    """A stream whose batches lie on the devices of a mesh."""

    def __init__(self, stream: ExampleStream, mesh: jax.sharding.Mesh) -> None:
        self._stream, self._mesh = stream, mesh
        self.state, self.restore = stream.state, stream.restore

    def __next__(self) -> Examples:
        return shard_batch(next(self._stream), self._mesh)


def _loss(config: SupervisedConfig, network: Network) -> Callable[..., Any]:
    if config.target == "value":
        return value_loss
    pass_move = network.config_dict()["pass_move"]
    return functools.partial(policy_loss, pass_move=pass_move)


def _validator(
    config: SupervisedConfig,
    network: Network,
    games: GameSet,
    planes_fn: Callable[..., jax.Array],
) -> Callable[[TrainState], dict[str, float]]:
    """Figures of a state on a fixed sample of the validation games."""
    mesh = make_mesh()
    eval_step = compile_eval_step(
        make_eval_step(network.apply, _loss(config, network)), mesh
    )
    num_devices = mesh.devices.size
    batch_size = -(-128 // num_devices) * num_devices

    def evaluate(state: TrainState) -> dict[str, float]:
        total = None
        for examples, _ in all_examples(
            games,
            planes_fn,
            batch_size,
            passes=config.stream.passes,
            every=config.validation_every,
        ):
            batch = shard_batch(examples, mesh)
            means = eval_step(state.averaged_variables, batch)
            total = means if total is None else jax.tree.map(operator.add, total, means)
        if total is None:
            raise ValueError("the validation games hold no position to evaluate")
        return {name: float(mean.compute()) for name, mean in total.items()}

    return evaluate
