"""`alphago-jax match`: games between two players, with an Elo difference."""

import dataclasses
import pathlib
import re
import sys
from typing import TYPE_CHECKING, Annotated

import tyro

if TYPE_CHECKING:
    from alphago_jax.play.results import GameResult

_PLAYERS = "random, policy:PATH, gnugo:LEVEL or gtp:COMMAND; NAME=… gives it a name"


@dataclasses.dataclass(frozen=True)
class Match:
    """Plays a match and keeps every game.

    Area scoring with positional superko on the board as it stands at the end; every
    pair of games has an opening of its own and is played with both colours.
    """

    first: Annotated[str, tyro.conf.Positional, tyro.conf.arg(help=_PLAYERS)]
    second: Annotated[str, tyro.conf.Positional, tyro.conf.arg(help=_PLAYERS)]

    size: int = 9
    """Board side."""

    games: int = 100
    """Number of games, even."""

    komi: float = 7.5
    """Points for White."""

    seed: int = 0
    """Seed of openings and players."""

    opening: tuple[int, int] = (2, 6)
    """Random plies of an opening, at least and at most."""

    out: pathlib.Path | None = None
    """Directory for games and results; runs/match-FIRST-SECOND-SIZE by default."""

    resume: bool = False
    """Go on with the match in that directory."""

    parallel: int = 1
    """Games at a time where a program takes part."""

    timeout: float = 600.0
    """Seconds that a program may take for a reply."""

    batch_pairs: int = 16
    """Pairs of games at a time where both players are agents."""

    def run(self) -> None:
        """Plays what is missing, then prints the result."""
        from alphago_jax.play import agent_specs, records, results
        from alphago_jax.play.match import MatchSettings, play_match

        settings = MatchSettings(
            size=self.size,
            games=self.games,
            komi=self.komi,
            seed=self.seed,
            shortest_opening=self.opening[0],
            longest_opening=self.opening[1],
            batch_pairs=self.batch_pairs,
        )
        specs = [agent_specs.parse_agent(text) for text in (self.first, self.second)]
        players = [agent_specs.contestant(spec, self.size) for spec in specs]
        kept = {"first": self.first, "second": self.second}
        kept |= {k: v for k, v in dataclasses.asdict(settings).items() if k != "games"}
        directory = results.MatchDirectory(
            self._directory(specs[0].name, specs[1].name), kept, resume=self.resume
        )
        games = play_match(
            players[0],
            players[1],
            settings,
            skip=tuple(directory.results),
            parallel=self.parallel,
            timeout=self.timeout,
        )
        for finished in games:
            directory.add(finished.result, records.match_sgf(finished))
            count = f"{len(directory.results)}/{self.games}"
            print(f"{count} {describe(finished.result)}", file=sys.stderr)
        print(summary(list(directory.results.values()), specs[0].name, specs[1].name))
        print(f"games: {directory.path / 'games'}", file=sys.stderr)

    def _directory(self, first: str, second: str) -> pathlib.Path:
        if self.out is not None:
            return self.out
        slugs = [re.sub(r"[^\w.+]+", "-", name).strip("-") for name in (first, second)]
        return pathlib.Path("runs") / f"match-{slugs[0]}-{slugs[1]}-{self.size}"


def describe(result: "GameResult") -> str:
    """One line about a game."""
    words = f"game {result.number}: {result.black} - {result.white} {result.text}"
    words += f", {result.moves} moves"
    if result.reason not in ("score", "resignation", "no result"):
        words += f", {result.reason}"
    if result.differs:
        words += f"; counted otherwise: {dict(result.own_scores)}"
    return words


def summary(results: "list[GameResult]", first: str, second: str) -> str:
    """The match in a few lines, seen by the first player."""
    from alphago_jax.play import elo

    tally = elo.tally_between(
        [(r.black, r.white, r.winner) for r in results], first, second
    )
    rate, difference = elo.win_rate(tally), elo.elo_difference(tally)
    black_wins = sum(r.winner > 0 for r in results)
    lines = [
        f"{first} - {second}: {tally.wins} won, {tally.draws} drawn, "
        f"{tally.losses} lost of {tally.games}",
        f"win rate {rate.estimate:.1%} [{rate.low:.1%}, {rate.high:.1%}]",
        f"Elo difference {difference.estimate:+.0f} "
        f"[{difference.low:+.0f}, {difference.high:+.0f}]",
        f"Black won {black_wins} of {len(results)}",
    ]
    counts = {
        "forfeited": sum(r.reason.startswith("forfeit") for r in results),
        "ended by the move limit": sum(r.reason == "move limit" for r in results),
        "counted otherwise by a program": sum(r.differs for r in results),
    }
    lines += [f"games {what}: {count}" for what, count in counts.items()]
    return "\n".join(lines)
