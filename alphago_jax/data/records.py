"""A game as training sees it: a set-up position and the moves of the main line.

`read_sgf` takes bytes as they are. Legality is the engine's business; here a
point must only lie on the board. Colours are kept with the moves, because in real
records they do not always alternate.
"""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from alphago_jax.data import headers, sgf
from alphago_jax.data.main_line import BLACK, WHITE, read_main_line
from alphago_jax.data.results import UNKNOWN, Result, parse_result
from alphago_jax.data.sgf import Note, SgfError

_PLAYERS = {"b": BLACK, "1": BLACK, "w": WHITE, "2": WHITE}
_RANDOM_PLIES = re.compile(r"random:((?: [0-9]{1,5}\b)++)")


class Source(NamedTuple):
    """Where a game was read: file, line in it (from 1), game in a collection."""

    file: str = ""
    line: int = 0
    game: int = 0

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        game = f"#{self.game + 1}" if self.game else ""
        return f"{self.file or '<text>'}{line}{game}"


NOWHERE = Source()


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class GameRecord:
    """One game. Actions are row-major from the top-left; size² is the pass.

    Attributes:
      size: board side.
      actions: int16 [T].
      colours: int8 [T], +1 Black, −1 White.
      black: set-up points of Black, ascending; handicap stones are here.
      white: set-up points of White, ascending.
      to_play: +1 or −1, the player to move at the start.
      komi: points for White, Fox's forms normalised; None if absent or unreadable.
      komi_text: as written, None if absent.
      handicap: stones that Black has, set up or played first; 0 for none.
      rules: as written, None if absent.
      result: who won and how.
      players: Black's and White's names, "" if absent.
      ranks: Black's and White's ranks as written, "" if absent.
      date: first date of DT as YYYY, YYYY-MM or YYYY-MM-DD; None if unreadable.
      event: as written, "" if absent.
      comment: of the root, white space made plain; "" if absent.
      source: where it was read.
      warnings: what was tolerated.
    """

    size: int
    actions: np.ndarray  # int16 [T]
    colours: np.ndarray  # int8 [T]
    black: tuple[int, ...] = ()
    white: tuple[int, ...] = ()
    to_play: int = BLACK
    komi: float | None = None
    komi_text: str | None = None
    handicap: int = 0
    rules: str | None = None
    result: Result = UNKNOWN
    players: tuple[str, str] = ("", "")
    ranks: tuple[str, str] = ("", "")
    date: str | None = None
    event: str = ""
    comment: str = ""
    source: Source = NOWHERE
    warnings: tuple[Note, ...] = ()

    def __len__(self) -> int:
        """Number of moves, passes included."""
        return len(self.actions)

    @property
    def year(self) -> int | None:
        """Year of the date."""
        return None if self.date is None else int(self.date[:4])

    @property
    def random_plies(self) -> tuple[int, ...]:
        """Plies (from 0) that the comment names as random: "random: 1 2 9" (from 1).

        This project's own games say so where a move was drawn and not chosen.
        """
        listed = _RANDOM_PLIES.match(self.comment)
        if listed is None:
            return ()
        numbers = [int(word) for word in listed[1].split()]
        return tuple(n - 1 for n in numbers if 1 <= n <= len(self))

    @property
    def num_handicap_moves(self) -> int:
        """First moves that only place handicap stones (0 where they are set up).

        They are no examples of play: nothing was chosen against an opponent.
        """
        if self.handicap < 2 or self.black or self.white:
            return 0
        return min(self.handicap, leading_black(self.colours))

    def __repr__(self) -> str:
        return (
            f"<GameRecord {self.source} {self.size}×{self.size}, {len(self)} moves, "
            f"{self.result}>"
        )


def read_sgf(data: bytes | str, *, file: str = "") -> list[GameRecord]:
    """Every game of a file, main lines only.

    Args:
      data: the file's bytes (its encoding is found), or text.
      file: its name, for `GameRecord.source`.

    Raises:
      SgfError: at the first game that cannot be read, with the place.
    """
    games = []
    for game in iter_games(data, source=Source(file)):
        if isinstance(game, SgfError):
            raise game
        games.append(game)
    return games


def iter_games(
    data: bytes | str, *, source: Source = NOWHERE
) -> Iterator[GameRecord | SgfError]:
    """Every game of a file, or the error that it has. Never raises."""
    try:
        trees = sgf.parse(data)
    except SgfError as error:
        yield error
        return
    for number, tree in enumerate(trees):
        try:
            yield record_of(tree, source._replace(game=number))
        except SgfError as error:
            yield error


def record_of(tree: sgf.Tree, source: Source = NOWHERE) -> GameRecord:
    """The main line of a tree.

    Stones may be set up in any node before the first move. Set-up after it ends
    the record there, with a warning: what follows is not the same game.

    Raises:
      SgfError: if it is no game of Go, or a move or stone is on no point.
    """
    line = read_main_line(tree)
    return make_record(
        line.size,
        {name: sgf.unescape(value) for name, value in line.header.items()},
        line.board,
        np.asarray(line.actions, np.int16),
        np.asarray(line.colours, np.int8),
        source=source,
        notes=(*tree.notes, *line.notes),
    )


def make_record(
    size: int,
    header: Mapping[str, str],
    board: np.ndarray,
    actions: np.ndarray,
    colours: np.ndarray,
    *,
    source: Source,
    notes: tuple[Note, ...] = (),
) -> GameRecord:
    """A record from header texts (unescaped), set-up board, and moves."""
    black, white = _points_of(board, BLACK), _points_of(board, WHITE)
    remarks = list(notes)
    handicap = _handicap(header.get("HA"), (black, white), colours, remarks)
    komi_text = header.get("KM")
    komi = None if komi_text is None else headers.parse_komi(komi_text)
    if komi_text is not None and komi is None:
        remarks.append(Note("komi unreadable", f"KM[{komi_text[:40]}]"))
    if _alternates_not(colours, handicap, bool(black or white)):
        remarks.append(Note("colours do not alternate", "a player moves twice running"))
    return GameRecord(
        size=size,
        actions=actions,
        colours=colours,
        black=black,
        white=white,
        to_play=_first_player(header.get("PL"), colours, handicap),
        komi=komi,
        komi_text=komi_text,
        handicap=handicap,
        rules=_plain(header.get("RU", "")) or None,
        result=parse_result(header["RE"]) if "RE" in header else UNKNOWN,
        players=(_plain(header.get("PB", "")), _plain(header.get("PW", ""))),
        ranks=(_plain(header.get("BR", "")), _plain(header.get("WR", ""))),
        date=headers.parse_date(header["DT"]) if "DT" in header else None,
        event=_plain(header.get("EV", "")),
        comment=_plain(header.get("C", "")),
        source=source,
        warnings=tuple(remarks),
    )


def _points_of(board: np.ndarray, colour: int) -> tuple[int, ...]:
    return tuple(np.flatnonzero(board == colour).tolist()) if board.any() else ()


def _plain(text: str) -> str:
    return " ".join(text.replace("\0", "").split()) if text else ""


def leading_black(colours: np.ndarray) -> int:
    """Black's moves before White's first; 0 where White never moves. int8 [T]."""
    return max(0, colours.tobytes().find(b"\xff"))  # byte search: read in bulk


def _handicap(
    text: str | None,
    stones: tuple[tuple[int, ...], tuple[int, ...]],
    colours: np.ndarray,
    remarks: list[Note],
) -> int:
    """Handicap as stated; where nothing readable is, what the record shows."""
    black, white = stones
    placed = len(black) if not white else 0
    if not black and not white:
        placed = leading_black(colours)
    stated = None if text is None else headers.parse_handicap(text)
    if text is not None and stated is None:
        remarks.append(Note("handicap unreadable", f"HA[{text[:40]}]"))
    if stated is not None and (stated >= 2 or text != ""):
        if stated > placed and not white:
            message = f"HA[{stated}] and {placed} stones"
            remarks.append(Note("handicap without stones", message))
        return stated
    white_starts = len(colours) > 0 and (colours[0] == WHITE or not black)
    if placed >= 2 and white_starts and placed <= headers.MAX_HANDICAP:
        if text is not None or black:
            remarks.append(Note("handicap inferred", f"{placed} stones, not stated"))
        return placed
    return 0


def _first_player(text: str | None, colours: np.ndarray, handicap: int) -> int:
    if len(colours):
        return int(colours[0])
    stated = None if text is None else _PLAYERS.get(text.strip().lower()[:1])
    if stated is not None:
        return stated
    return WHITE if handicap >= 2 else BLACK


def _alternates_not(colours: np.ndarray, handicap: int, is_set_up: bool) -> bool:
    skipped = 0 if is_set_up or handicap < 2 else min(handicap, leading_black(colours))
    play = colours[max(0, skipped - 1) :].tobytes()
    return b"\x01\x01" in play or b"\xff\xff" in play
