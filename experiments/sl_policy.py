r"""Supervised learning of the policy network (or the naive value network).

    python experiments/sl_policy.py --preset cpu --out runs/sl_policy \
        --games GAMES/*.sgfs.xz --validation GAMES/2023.sgfs.xz
    python experiments/sl_policy.py --preset cpu --out runs/sl_policy --resume \
        --games GAMES/*.sgfs.xz --validation GAMES/2023.sgfs.xz

Games are SGF files, folders, archives or `.sgfs.xz` collections. Without
`--validation` a tenth of the games is held out, split by game. Without `--games`
the bundled 9×9 games are used.

`--preset cpu` is a 64-filter residual network with batch norm that learns
19×19 in hours on two cores; `--preset paper` is the article's network and
schedule (192 filters, 12 layers, batch 16, SGD with momentum, 0.003 halved every
80 million positions), weeks on one accelerator; `--preset smoke` takes seconds.
Expected and measured accuracy: docs/results.md.

Claim (Silver et al. 2016): 55.4 % top-1 with 192 filters on human games, 57.0 %
with 256 filters and the eight symmetries; the best before was 44.4 %.
"""

import dataclasses
import pathlib
import sys
from collections.abc import Mapping
from typing import Any, Literal

import _command

from alphago_jax import plots
from alphago_jax.checkpoint import NetworkMetadata, load_network
from alphago_jax.data.games import (
    GameSet,
    load_game_set,
    sample_path,
    split_game_set,
)
from alphago_jax.data.stream import StreamConfig
from alphago_jax.pipelines.supervised import SupervisedConfig, train_supervised
from alphago_jax.training import LoopConfig, OptimizerConfig, read_metrics

PAPER_CLAIMS = {"best before AlphaGo 44.4 %": 0.444, "AlphaGo 57.0 %": 0.57}


@dataclasses.dataclass(frozen=True)
class Config:
    """A supervised run; what is None comes from the preset.

    Attributes:
      out: run directory; also holds the picture of the learning curve.
      preset: smoke, cpu or paper.
      target: learn the move played, or the game's result (the naive value net).
      games: files and folders to learn from; the bundled 9×9 games by default.
      validation: games to watch; by default a tenth of the others is held out.
      size: board side; games of other sizes are left out.
      resume: go on with the run in `out`.
      init: network to start from, and whose size to take: a run or a `.npz` file.
      seed: everything random.
      steps: updates in all.
      batch_size: positions an update.
      learning_rate: after the warm-up.
      symmetries: turn every example by a random symmetry of the board; without, the
        network also learns which way round games are recorded (the first move of a
        professional goes to the upper right).
      filters: width of the network.
      layers: convolutions in the tower.
    """

    out: pathlib.Path
    preset: Literal["smoke", "cpu", "paper"] = "cpu"
    target: Literal["policy", "value"] = "policy"
    games: tuple[pathlib.Path, ...] = ()
    validation: tuple[pathlib.Path, ...] = ()
    size: int | None = None
    resume: bool = False
    init: pathlib.Path | None = None
    seed: int = 0
    steps: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    symmetries: bool = True
    filters: int | None = None
    layers: int | None = None


@dataclasses.dataclass(frozen=True)
class Preset:
    """Defaults of a run."""

    network: Mapping[str, Any]
    optimizer: OptimizerConfig
    steps: int
    batch_size: int
    eval_every: int
    log_every: int
    validation_every: int
    games_per_chunk: int = 1024
    ema_decay: float | None = None
    limit_games: int | None = None


def presets(steps: int | None, batch_size: int | None) -> dict[str, Preset]:
    """The presets; schedules that end do so with the run."""
    cpu_steps, cpu_batch = steps or 80_000, batch_size or 64
    return {
        "smoke": Preset(
            network={"filters": 8, "layers": 2},
            optimizer=OptimizerConfig(learning_rate=0.03),
            steps=steps or 12,
            batch_size=batch_size or 16,
            eval_every=6,
            log_every=3,
            validation_every=40,
            games_per_chunk=8,
            limit_games=24,
        ),
        "cpu": Preset(
            network={
                "filters": 64,
                "layers": 11,
                "residual": True,
                "batch_norm": True,
            },
            optimizer=OptimizerConfig(
                schedule="cosine",
                learning_rate=0.1,
                decay_examples=float(cpu_steps * cpu_batch),
                warmup_examples=20_000.0,
                nesterov=True,
                clip_norm=5.0,
                l2=1e-5,
            ),
            steps=cpu_steps,
            batch_size=cpu_batch,
            eval_every=2_000,
            log_every=100,
            validation_every=60,
            ema_decay=0.999,
        ),
        "paper": Preset(
            network={},
            optimizer=OptimizerConfig(),
            steps=steps or 340_000_000 // 16,
            batch_size=batch_size or 16,
            eval_every=20_000,
            log_every=1_000,
            validation_every=20,
        ),
    }


def supervised_config(
    config: Config, start: NetworkMetadata | None = None
) -> SupervisedConfig:
    """The pipeline's configuration from the command line's."""
    preset = presets(config.steps, config.batch_size)[config.preset]
    network = dict(start.config if start else preset.network)
    if config.filters is not None:
        network["filters"] = config.filters
    if config.layers is not None:
        network["layers"] = config.layers
    optimizer = preset.optimizer
    if config.learning_rate is not None:
        optimizer = dataclasses.replace(optimizer, learning_rate=config.learning_rate)
    return SupervisedConfig(
        target=config.target,
        network=network,
        stream=StreamConfig(
            batch_size=preset.batch_size,
            seed=config.seed,
            games_per_chunk=preset.games_per_chunk,
            symmetries=config.symmetries,
        ),
        optimizer=optimizer,
        loop=LoopConfig(
            num_steps=preset.steps,
            log_every=preset.log_every,
            eval_every=preset.eval_every,
            save_every=preset.eval_every,
            watch="top_1" if config.target == "policy" else "loss",
            watch_mode="max" if config.target == "policy" else "min",
            patience=10,
        ),
        ema_decay=preset.ema_decay,
        validation_every=preset.validation_every,
        seed=config.seed,
    )


def load(config: Config) -> tuple[GameSet, GameSet]:
    """Training and validation games, and a word on stderr about what was read."""
    preset = presets(None, None)[config.preset]
    size = config.size or (19 if config.games else 9)
    paths = config.games or (sample_path(size),)
    decided = config.target == "value"
    if config.validation:
        overlap = {p.resolve() for p in paths} & {
            p.resolve() for p in config.validation
        }
        # Whoever writes GAMES/* means all but the validation year.
        paths = tuple(p for p in paths if p.resolve() not in overlap)
    games, report = load_game_set(paths, size, decided_only=decided)
    print(report, file=sys.stderr)
    if config.validation:
        validation, report = load_game_set(
            config.validation, size, decided_only=decided
        )
        print(report, file=sys.stderr)
    else:
        games, validation = split_game_set(games, 0.1, seed=0)
    if preset.limit_games is not None:
        games = games.take(range(min(preset.limit_games, len(games))))
        validation = validation.take(range(min(8, len(validation))))
    return games, validation


def main(config: Config) -> None:
    """Trains, and draws the learning curve."""
    games, validation = load(config)
    start, variables = load_network(config.init) if config.init else (None, None)
    supervised = supervised_config(config, start)
    network, result = train_supervised(
        supervised,
        games,
        validation,
        config.out,
        resume=config.resume,
        variables=variables,
        notes={
            "games": [p.name for p in config.games],
            "target": config.target,
            "init": config.init and config.init.name,
        },
    )
    figure_name = "top_1" if config.target == "policy" else "loss"
    figure = plots.learning_curve(
        read_metrics(config.out),
        [f"train/{figure_name}", f"validation/{figure_name}"],
        examples_per_step=supervised.stream.batch_size,
        levels=PAPER_CLAIMS if config.target == "policy" else None,
        title=f"{network.name}, {games.size}×{games.size}",
        ylabel="top-1 accuracy" if config.target == "policy" else "squared error",
    )
    picture = plots.save(figure, config.out / "learning_curve.png")
    print(
        f"{result.reason} at step {result.step}; best {supervised.loop.watch} "
        f"{result.best} at step {result.best_step}; curve in {picture}"
    )


if __name__ == "__main__":
    _command.run(main, Config, __doc__ or "")
