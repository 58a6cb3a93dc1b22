"""Results of match games, and the directory that keeps them.

A match directory holds `match.json` (the settings), `results.jsonl` (one line a game)
and `games/NNNNN.sgf`. A game counts once its line is written, after its SGF: a match
that was killed goes on with the games that are missing.
"""

import dataclasses
import json
import pathlib
from collections.abc import Mapping
from typing import Any

_RESULTS = "results.jsonl"
_SETTINGS = "match.json"


class MatchError(ValueError):
    """A match directory that cannot be used as asked."""


@dataclasses.dataclass(frozen=True)
class GameResult:
    """How one game of a match ended.

    Attributes:
      number: index of the game; games 2k and 2k + 1 share an opening.
      black: name of Black.
      white: name of White.
      winner: +1 Black, −1 White, 0 draw or no result.
      margin: Black − White with komi on the board as it stands; None if nobody counted.
      reason: "score", "move limit", "no result", "resignation", or a forfeit and why.
      moves: plies, opening included.
      own_scores: the external programs' own counts, by name.
      differs: whether such a count differs from ours.
    """

    number: int
    black: str
    white: str
    winner: int
    margin: float | None
    reason: str
    moves: int
    own_scores: Mapping[str, str] = dataclasses.field(default_factory=dict)
    differs: bool = False

    @property
    def text(self) -> str:
        """The result as SGF and GTP write it: "B+3.5", "W+R", "B+F", "0" or "Void"."""
        if self.reason == "no result":
            return "Void"
        if self.winner == 0:
            return "0"
        side = "B" if self.winner > 0 else "W"
        if self.reason == "resignation":
            return f"{side}+R"
        if self.margin is None:
            return f"{side}+F"
        return f"{side}+{abs(self.margin):g}"


class MatchDirectory:
    """A match on disk.

    Attributes:
      path: the directory.
      results: results by game number.
    """

    def __init__(
        self,
        path: str | pathlib.Path,
        settings: Mapping[str, Any],
        *,
        resume: bool = False,
    ) -> None:
        """Makes the directory, or goes on with one.

        Args:
          path: the directory.
          settings: what all games have in common; JSON values.
          resume: go on with a match that is there.

        Raises:
          MatchError: a match is there and `resume` is False, or its settings differ.
        """
        self.path = pathlib.Path(path)
        self.results: dict[int, GameResult] = {}
        file = self.path / _SETTINGS
        if file.exists():
            if not resume:
                raise MatchError(
                    f"{self.path} holds a match already: go on with --resume, or "
                    "choose another directory"
                )
            _check_same(file, settings)
            self.results = {r.number: r for r in read_results(self.path, mend=True)}
        else:
            (self.path / "games").mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")

    def add(self, result: GameResult, sgf: bytes) -> None:
        """Keeps one finished game."""
        (self.path / "games" / f"{result.number:05d}.sgf").write_bytes(sgf)
        line = json.dumps(dataclasses.asdict(result))
        with (self.path / _RESULTS).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        self.results[result.number] = result


def read_results(path: str | pathlib.Path, *, mend: bool = False) -> list[GameResult]:
    """Results of a match directory.

    Args:
      path: the directory.
      mend: cut off a last line that a kill has left incomplete.

    Raises:
      MatchError: there is no match, or a line makes no sense.
    """
    path = pathlib.Path(path)
    if not (path / _SETTINGS).exists():
        raise MatchError(f"{path} is not a match directory (it has no {_SETTINGS})")
    file = path / _RESULTS
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    whole, _, rest = text.rpartition("\n")
    if rest and mend:
        file.write_text(f"{whole}\n" if whole else "", encoding="utf-8")
    results = []
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            results.append(GameResult(**json.loads(line)))
        except (ValueError, TypeError) as error:
            raise MatchError(f"{file}, line {number}: {error}") from error
    return results


def _check_same(file: pathlib.Path, settings: Mapping[str, Any]) -> None:
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise MatchError(f"{file}: {error}") from error
    keys = [k for k in {**known, **settings} if known.get(k) != settings.get(k)]
    if keys:
        changes = ", ".join(
            f"{key} ({known.get(key)!r}, now {settings.get(key)!r})" for key in keys
        )
        raise MatchError(f"{file.parent} holds a match with other settings: {changes}")
