"""`alphago-jax rating` and `elo`: strength from results."""

import dataclasses
import pathlib
from typing import Annotated

import tyro


@dataclasses.dataclass(frozen=True)
class Rating:
    """Puts the players of many matches on one Elo scale."""

    directories: Annotated[tuple[pathlib.Path, ...], tyro.conf.Positional]
    """Match directories, as `alphago-jax match` makes them."""

    anchor: str | None = None
    """Player whose rating is fixed; the mean of all by default."""

    anchor_elo: float = 0.0
    """Rating of the anchor, or the mean."""

    prior_draws: float = 1.0
    """Imaginary draws for every pair that has met; they keep ratings finite."""

    confidence: float = 0.95
    """Of the intervals."""

    def run(self) -> None:
        """Prints a table, the strongest first."""
        from alphago_jax.play import elo
        from alphago_jax.play.results import read_results

        games = [
            (result.black, result.white, result.winner)
            for directory in self.directories
            for result in read_results(directory)
        ]
        ratings = elo.fit_ratings(
            elo.tally_games(games),
            anchor=self.anchor,
            anchor_elo=self.anchor_elo,
            prior_draws=self.prior_draws,
            confidence=self.confidence,
        )
        width = max(len(rating.name) for rating in ratings)
        print(f"{'player':<{width}}  {'Elo':>6}  {'interval':>16}  games  score")
        for name, value, count, points in ratings:
            interval = f"[{value.low:+.0f}, {value.high:+.0f}]"
            print(
                f"{name:<{width}}  {value.estimate:>+6.0f}  {interval:>16}  "
                f"{count:>5}  {points / count:>5.1%}"
            )


@dataclasses.dataclass(frozen=True)
class Elo:
    """The Elo difference that a result between two players stands for."""

    wins: Annotated[int, tyro.conf.Positional]
    """Games that the first player won."""

    draws: Annotated[int, tyro.conf.Positional]
    """Games drawn."""

    losses: Annotated[int, tyro.conf.Positional]
    """Games that it lost."""

    confidence: float = 0.95
    """Of the intervals."""

    def run(self) -> None:
        """Prints win rate and difference with intervals."""
        from alphago_jax.play import elo

        if min(self.wins, self.draws, self.losses) < 0:
            raise ValueError("numbers of games cannot be negative")
        tally = elo.Tally(self.wins, self.draws, self.losses)
        rate = elo.win_rate(tally, confidence=self.confidence)
        value = elo.elo_difference(tally, confidence=self.confidence)
        print(f"win rate {rate.estimate:.1%} [{rate.low:.1%}, {rate.high:.1%}]")
        low, high = f"{value.low:+.0f}", f"{value.high:+.0f}"
        print(f"Elo difference {value.estimate:+.0f} [{low}, {high}]")
