"""`alphago-jax eval`: how well a network predicts recorded games."""

import dataclasses
import pathlib
import sys
from typing import Annotated

import tyro


@dataclasses.dataclass(frozen=True)
class Evaluate:
    """Compares a network with what happened in recorded games, by phase of the game."""

    checkpoint: Annotated[pathlib.Path, tyro.conf.Positional]
    """A saved network or a run directory."""

    games: tuple[pathlib.Path, ...]
    """Files, folders or archives of games."""

    ensemble: bool = False
    """Average over the eight symmetries of the board."""

    every: int = 1
    """Use only every so-manieth position of each game."""

    batch_size: int = 128
    """Positions at a time."""

    def run(self) -> None:
        """Prints the figures, a phase a line."""
        from alphago_jax import networks
        from alphago_jax.data.games import load_game_set
        from alphago_jax.pipelines.evaluation import evaluate_network

        network, variables, _ = networks.from_checkpoint(self.checkpoint)
        games, report = load_game_set(self.games, network.board_size)
        print(report, file=sys.stderr)
        phases = evaluate_network(
            network,
            variables,
            games,
            ensemble=self.ensemble,
            batch_size=self.batch_size,
            every=self.every,
        )
        names = list(phases[0].figures)
        print("  ".join([f"{'moves':<10}", f"{'positions':>9}", *names]))
        for phase in phases:
            values = [f"{phase.figures[n]:>{len(n)}.4f}" for n in names]
            print("  ".join([f"{phase.phase:<10}", f"{phase.positions:>9}", *values]))
