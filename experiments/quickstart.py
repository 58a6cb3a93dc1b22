"""Learn to play 9×9 Go from the bundled games, and play one: five minutes on a laptop.

    python experiments/quickstart.py

Trains a small policy network on games of GNU Go against itself, reports how often
it names the move that was played, against the random baseline, draws the learning
curve and what the network sees, and plays a game against a random player.

Hardware: 2 CPU cores, no accelerator. Time and accuracy: docs/results.md.
"""

import dataclasses
import pathlib
from typing import Any, Literal

import _command
import jax
import numpy as np
from rich.console import Console

from alphago_jax import features, go, plots
from alphago_jax.checkpoint import NetworkMetadata, save_network_file
from alphago_jax.data.games import (
    GameSet,
    load_game_set,
    sample_path,
    split_game_set,
)
from alphago_jax.data.replay import Positions, as_states, replay
from alphago_jax.data.stream import StreamConfig
from alphago_jax.networks import Network
from alphago_jax.pipelines.evaluation import evaluate_network
from alphago_jax.pipelines.supervised import SupervisedConfig, train_supervised
from alphago_jax.play import counting
from alphago_jax.play.agents import Agent, policy_agent, random_agent
from alphago_jax.play.evaluator import make_evaluator
from alphago_jax.play.seat import Seat
from alphago_jax.training import LoopConfig, OptimizerConfig, read_metrics

SIZE = 9
RULES = go.Rules.chinese(komi=7.0)
MOVE_LIMIT = 2 * SIZE * SIZE


@dataclasses.dataclass(frozen=True)
class Config:
    """What to do, and where to put it.

    Attributes:
      out: folder for the run, the pictures and the game.
      preset: cpu (minutes) or smoke (seconds).
      seed: everything random.
      resume: go on with the run in `out`.
    """

    out: pathlib.Path = pathlib.Path("runs/quickstart")
    preset: Literal["cpu", "smoke"] = "cpu"
    seed: int = 0
    resume: bool = False


def supervised_config(config: Config) -> SupervisedConfig:
    """A small residual network and a schedule that ends with the run."""
    smoke = config.preset == "smoke"
    steps, batch_size = (6, 16) if smoke else (1_200, 32)
    return SupervisedConfig(
        network={
            "filters": 8 if smoke else 32,
            "layers": 2 if smoke else 6,
            "residual": True,
            "batch_norm": True,
        },
        stream=StreamConfig(
            batch_size=batch_size,
            seed=config.seed,
            positions_per_game=4 if smoke else 64,
            games_per_chunk=16 if smoke else 256,
        ),
        optimizer=OptimizerConfig(
            schedule="cosine",
            learning_rate=0.08,
            decay_examples=float(steps * batch_size),
            warmup_examples=1_000.0,
            clip_norm=5.0,
            l2=1e-4,
        ),
        loop=LoopConfig(
            num_steps=steps,
            log_every=max(steps // 40, 1),
            eval_every=max(steps // 6, 1),
            save_every=steps,
            watch="top_1",
            watch_mode="max",
        ),
        ema_decay=0.9 if smoke else 0.99,
        validation_every=20 if smoke else 2,
        seed=config.seed,
    )


def random_baseline(games: GameSet) -> float:
    """Mean of 1 / (legal moves on the board): a random player's top-1 accuracy."""
    mask = jax.jit(jax.vmap(go.legal_actions))
    hits = []
    for part in replay(games.games, games.size):
        hits.append(1.0 / np.maximum(_num_moves(mask, part), 1))
    return float(np.concatenate(hits).mean())


def _num_moves(mask: Any, positions: Positions) -> np.ndarray:
    legal = np.asarray(mask(as_states(positions.position, SIZE)))
    return legal[:, :-1].sum(axis=1)


def make_player(network: Network, variables: Any) -> Agent:
    """The policy as a player; it draws its moves as it thinks of them."""
    planes_fn = features.get(network.planes).planes
    evaluator = make_evaluator(network, planes_fn)
    return policy_agent("the network", evaluator, variables, temperature=1.0)


def draw_heat_maps(player: Agent, games: GameSet, path: pathlib.Path) -> None:
    """Three moments of one game: what the network would play."""
    record = games.games[0]
    game = go.Game(SIZE, RULES, move_limit=MOVE_LIMIT)
    seat = Seat(player)
    boards = []
    moments = [min(len(record) - 1, ply) for ply in (6, 20, 36)]
    for ply, (action, colour) in enumerate(
        zip(record.actions, record.colours, strict=True)
    ):
        if ply in moments:
            heat = seat.choose(game.state).action_weights
            last = game.moves[-1].action if game.moves else None
            title = f"move {ply + 1}, {'Black' if colour > 0 else 'White'} to play (%)"
            options = {"heat": heat, "last_move": last, "title": title}
            boards.append((game.stones, options))
        game.play(int(action), int(colour))
    plots.save(plots.board_row(boards, "What the policy network would play"), path)


def play_random(player: Agent, seed: int, max_moves: int) -> tuple[go.Game, float]:
    """The network (Black) against a player of random sensible moves.

    Returns:
      The game, and Black's points less White's on its last board.
    """
    game = go.Game(SIZE, RULES, move_limit=MOVE_LIMIT)
    seats = {1: Seat(player, seed=seed), -1: Seat(random_agent(), seed=seed)}
    while not game.is_over and len(game.moves) < max_moves:
        game.play(seats[game.to_play].choose(game.state).action)
    return game, counting.margin(game.state)


def main(config: Config) -> None:
    """Trains, evaluates, draws and plays."""
    console = Console(stderr=True)
    games, report = load_game_set([sample_path(SIZE)], SIZE)
    console.print(f"[bold]1. Games.[/bold] {report}")
    games, held = split_game_set(games, 0.1)
    if config.preset == "smoke":
        games, held = games.take(range(16)), held.take(range(2))
    console.print(
        f"   learning from {len(games)} games, watching {len(held)} others\n"
        "[bold]2. Training.[/bold] The first step compiles for some seconds."
    )
    supervised = supervised_config(config)
    network, result = train_supervised(
        supervised, games, held, config.out, resume=config.resume
    )
    variables = result.state.averaged_variables
    figures = evaluate_network(network, variables, held)[0].figures
    baseline = random_baseline(held)
    curve = plots.learning_curve(
        read_metrics(config.out),
        ["train/top_1", "validation/top_1"],
        examples_per_step=supervised.stream.batch_size,
        levels={f"random {baseline:.1%}": baseline},
        title="A small policy network on 9×9 games of GNU Go",
        ylabel="top-1 accuracy",
    )
    plots.save(curve, config.out / "learning_curve.png")
    player = make_player(network, variables)
    draw_heat_maps(player, held, config.out / "policy.png")
    saved = config.out / "policy_9x9.npz"
    metadata = _metadata(network, result.step, figures)
    save_network_file(saved, variables, metadata, overwrite=True)
    print(
        f"top-1 accuracy {figures['top_1']:.1%} on games not learnt from "
        f"(top-5 {figures['top_5']:.1%}); a random player {baseline:.1%}"
    )
    console.print("[bold]3. A game[/bold] against a random player.")
    limit = 40 if config.preset == "smoke" else MOVE_LIMIT
    game, margin = play_random(player, config.seed, limit)
    print(go.to_diagram(game.state))
    winner = "the network (X)" if margin > 0 else "the random player (O)"
    print(f"{len(game.moves)} moves, {winner} wins by {abs(margin):g} points")
    print(f"pictures: {config.out}/learning_curve.png {config.out}/policy.png")
    print(f"play it:  alphago-jax gtp policy:{saved}")


def _metadata(
    network: Network, step: int, figures: dict[str, float]
) -> NetworkMetadata:
    return NetworkMetadata(
        name=network.name,
        board_size=network.board_size,
        config=network.config_dict(),
        planes=network.planes,
        step=step,
        metrics=figures,
        notes={"data": "GNU Go self-play, alphago_jax/data/sample"},
    )


if __name__ == "__main__":
    _command.run(main, Config, __doc__ or "")
