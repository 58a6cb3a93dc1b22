"""Sets of recorded games of one board size, as training and evaluation take them."""

import dataclasses
import os
import pathlib
from collections.abc import Iterable, Sequence

import numpy as np

from alphago_jax.data import selection
from alphago_jax.data.archives import Filter, ReadReport, iter_records
from alphago_jax.data.records import GameRecord

SAMPLES = pathlib.Path(__file__).parent / "sample"


@dataclasses.dataclass(frozen=True)
class GameSet:
    """Recorded games of one board size.

    Attributes:
      size: board side N.
      games: the records.
      winners: int8 [G], +1 Black, −1 White, 0 drawn or unknown.
    """

    size: int
    games: Sequence[GameRecord]
    winners: np.ndarray  # int8 [G]

    def __len__(self) -> int:
        """Number of games."""
        return len(self.games)

    @classmethod
    def of(cls, games: Sequence[GameRecord], size: int) -> "GameSet":
        """A set of records, all of the board size.

        Raises:
          ValueError: if one is of another size.
        """
        for game in games:
            if game.size != size:
                raise ValueError(f"{game!r} is not {size}×{size}")
        winners = [game.result.winner or 0 for game in games]
        return cls(size, games, np.array(winners, np.int8))

    def take(self, index: Iterable[int]) -> "GameSet":
        """Some of the games."""
        return GameSet.of([self.games[k] for k in index], self.size)

    def usable_plies(self, number: int, *, passes: bool) -> np.ndarray:
        """Plies of a game that are examples of play, ascending. int [n].

        Handicap stones that are played as moves are none, nor are the plies that
        the record marks as random; passes only if they are asked for.
        """
        game = self.games[number]
        usable = np.ones(len(game), bool)
        usable[: game.num_handicap_moves] = False
        usable[[ply for ply in game.random_plies if ply < len(game)]] = False
        if not passes:
            usable &= game.actions != self.size**2
        return np.flatnonzero(usable)


def load_game_set(
    paths: Iterable[str | os.PathLike[str]],
    size: int,
    *,
    decided_only: bool = False,
    min_moves: int = 10,
    keep: Filter | None = None,
) -> tuple[GameSet, ReadReport]:
    """Reads files, folders and archives; see `archives.iter_records`.

    Args:
      paths: what to read.
      size: games of other sizes are left out, and counted.
      decided_only: only games won on the board, for value training.
      min_moves: shorter games are left out.
      keep: any further filter.

    Returns:
      The games, and what was read and skipped.

    Raises:
      FileNotFoundError: if a path does not exist.
      ValueError: if no game is left.
    """
    filters = [selection.by_size(size), selection.by_length(least=min_moves)]
    if decided_only:
        filters.append(selection.decided_by_play)
    if keep is not None:
        filters.append(keep)
    roots = [pathlib.Path(path) for path in paths]
    report = ReadReport()
    games = list(iter_records(roots, keep=filters, report=report))
    if not games:
        raise ValueError(f"no usable {size}×{size} game among what was read:\n{report}")
    return GameSet.of(games, size), report


def split_game_set(
    games: GameSet, fraction: float, *, seed: int = 0
) -> tuple[GameSet, GameSet]:
    """Splits by game, copies of a game (turned or not) to the same side.

    Args:
      games: any set.
      fraction: share of the second part, about.
      seed: another split for each.

    Returns:
      The larger part and the smaller one.

    Raises:
      ValueError: if one of them would be empty.
    """
    names = {"rest": 1.0 - fraction, "held": fraction}
    sides = [selection.split_of(game, names, seed=seed) for game in games.games]
    rest = [k for k, side in enumerate(sides) if side == "rest"]
    held = [k for k, side in enumerate(sides) if side == "held"]
    if not rest or not held:
        raise ValueError(f"{len(games)} games are too few to hold {fraction:.0%} out")
    return games.take(rest), games.take(held)


def sample_path(size: int) -> pathlib.Path:
    """The bundled games of GNU Go against itself, 9×9 or 19×19.

    Raises:
      ValueError: for a size without bundled games.
    """
    path = SAMPLES / f"gnugo_{size}x{size}.sgfs.xz"
    if not path.is_file():
        raise ValueError(f"no games of {size}×{size} are bundled; there are 9 and 19")
    return path
