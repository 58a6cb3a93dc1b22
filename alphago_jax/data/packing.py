"""Many games in a few arrays: what training keeps in memory and on disk.

A quarter of a million games are about 0.2 GB. Names, events and warnings are
left out; moves, colours, set-up, result, komi, handicap and date are kept.
"""

import dataclasses
import os
import pathlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from alphago_jax.data.headers import rank_number
from alphago_jax.data.records import GameRecord
from alphago_jax.data.results import REASONS, Result

FORMAT = 1
UNKNOWN_WINNER = 2
UNKNOWN_RANK = -128


@dataclasses.dataclass(frozen=True, eq=False)
class PackedRecords:
    """Games end to end; G games, M moves and S set-up stones in all.

    Attributes:
      size: uint8 [G].
      offsets: int64 [G+1], game g has moves `offsets[g]:offsets[g+1]`.
      actions: int16 [M].
      colours: int8 [M].
      set_up_offsets: int64 [G+1].
      set_up_points: int16 [S].
      set_up_colours: int8 [S].
      to_play: int8 [G].
      komi: float32 [G], NaN where absent.
      handicap: uint8 [G].
      winner: int8 [G], +1, −1, 0 a draw, `UNKNOWN_WINNER`.
      reason: uint8 [G], index in `results.REASONS`.
      margin: float32 [G], NaN where there is none.
      date: int32 [G], yyyymmdd with zeros for what is unknown.
      ranks: int8 [G, 2], Black's and White's `headers.rank_number`, or
        `UNKNOWN_RANK`.
    """

    size: np.ndarray
    offsets: np.ndarray
    actions: np.ndarray
    colours: np.ndarray
    set_up_offsets: np.ndarray
    set_up_points: np.ndarray
    set_up_colours: np.ndarray
    to_play: np.ndarray
    komi: np.ndarray
    handicap: np.ndarray
    winner: np.ndarray
    reason: np.ndarray
    margin: np.ndarray
    date: np.ndarray
    ranks: np.ndarray

    def __len__(self) -> int:
        return len(self.size)

    def moves(self, game: int) -> tuple[np.ndarray, np.ndarray]:
        """Actions int16 [T] and colours int8 [T] of a game, not copied."""
        part = slice(self.offsets[game], self.offsets[game + 1])
        return self.actions[part], self.colours[part]

    def set_up(self, game: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Black's and White's set-up points of a game."""
        part = slice(self.set_up_offsets[game], self.set_up_offsets[game + 1])
        points, colours = self.set_up_points[part], self.set_up_colours[part]
        black, white = points[colours > 0].tolist(), points[colours < 0].tolist()
        return tuple(black), tuple(white)

    @property
    def year(self) -> np.ndarray:
        """int32 [G], 0 where unknown."""
        return self.date // 10000

    def record(self, game: int) -> GameRecord:
        """A game as a record."""
        actions, colours = self.moves(game)
        black, white = self.set_up(game)
        komi, margin = float(self.komi[game]), float(self.margin[game])
        winner = int(self.winner[game])
        return GameRecord(
            size=int(self.size[game]),
            actions=actions,
            colours=colours,
            black=black,
            white=white,
            to_play=int(self.to_play[game]),
            komi=None if np.isnan(komi) else komi,
            handicap=int(self.handicap[game]),
            result=Result(
                None if winner == UNKNOWN_WINNER else winner,
                None if np.isnan(margin) else margin,
                REASONS[int(self.reason[game])],
            ),
            ranks=(_rank_text(self.ranks[game, 0]), _rank_text(self.ranks[game, 1])),
            date=_date_text(int(self.date[game])),
        )

    def __iter__(self) -> Iterator[GameRecord]:
        return (self.record(game) for game in range(len(self)))

    def save(self, path: str | pathlib.Path) -> None:
        """Writes an `.npz`, which appears whole or not at all."""
        path = pathlib.Path(path)
        draft = path.with_name(path.name + ".draft")
        with draft.open("wb") as file:
            np.savez_compressed(
                file, format=np.int32(FORMAT), **dataclasses.asdict(self)
            )
        os.replace(draft, path)


def load(path: str | pathlib.Path) -> PackedRecords:
    """Games that `PackedRecords.save` wrote.

    Raises:
      ValueError: if the file is of another format.
    """
    names = [field.name for field in dataclasses.fields(PackedRecords)]
    with np.load(path, allow_pickle=False) as arrays:
        if "format" not in arrays or int(arrays["format"]) != FORMAT:
            raise ValueError(f"{path} holds no packed games of format {FORMAT}")
        return PackedRecords(**{name: arrays[name] for name in names})


def pack(records: Iterable[GameRecord]) -> PackedRecords:
    """Games into arrays. The inverse of `unpack` for all that is kept."""
    games = list(records)
    set_up = [
        (point, colour)
        for game in games
        for colour, points in ((1, game.black), (-1, game.white))
        for point in points
    ]
    lengths = [len(game) for game in games]
    stones = [len(game.black) + len(game.white) for game in games]
    return PackedRecords(
        size=_column(games, np.uint8, lambda g: g.size),
        offsets=_offsets(lengths),
        actions=_joined([game.actions for game in games], np.int16),
        colours=_joined([game.colours for game in games], np.int8),
        set_up_offsets=_offsets(stones),
        set_up_points=np.array([point for point, _ in set_up], np.int16),
        set_up_colours=np.array([colour for _, colour in set_up], np.int8),
        to_play=_column(games, np.int8, lambda g: g.to_play),
        komi=_column(games, np.float32, lambda g: _or_nan(g.komi)),
        handicap=_column(games, np.uint8, lambda g: g.handicap),
        winner=_column(
            games,
            np.int8,
            lambda g: UNKNOWN_WINNER if g.result.winner is None else g.result.winner,
        ),
        reason=_column(games, np.uint8, lambda g: REASONS.index(g.result.reason)),
        margin=_column(games, np.float32, lambda g: _or_nan(g.result.margin)),
        date=_column(games, np.int32, lambda g: _date_number(g.date)),
        ranks=np.array(
            [[_rank_code(text) for text in game.ranks] for game in games], np.int8
        ).reshape(-1, 2),
    )


def unpack(packed: PackedRecords) -> list[GameRecord]:
    """Games out of arrays; moves are views of them."""
    return list(packed)


def _column(games: Sequence[GameRecord], dtype, value) -> np.ndarray:
    return np.array([value(game) for game in games], dtype)


def _joined(arrays: list[np.ndarray], dtype) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype), *arrays]).astype(dtype, copy=False)


def _offsets(lengths: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _rank_code(text: str) -> int:
    rank = rank_number(text)
    return UNKNOWN_RANK if rank is None else rank


def _rank_text(code: int) -> str:
    """A rank that `rank_number` reads back."""
    if code == UNKNOWN_RANK:
        return ""
    if code > 9:
        return f"{code - 9}p"
    return f"{code}d" if code > 0 else f"{1 - code}k"


def _date_number(date: str | None) -> int:
    return 0 if date is None else int(date.replace("-", "").ljust(8, "0"))


def _date_text(number: int) -> str | None:
    if number == 0:
        return None
    text = f"{number:08d}"
    parts = [text[:4], text[4:6], text[6:]]
    return "-".join(part for part in parts if part != "00")
