"""Records as SGF text."""

from collections.abc import Mapping

import numpy as np

from alphago_jax.data.main_line import BLACK, WHITE
from alphago_jax.data.records import GameRecord
from alphago_jax.data.sgf import escape

_LETTERS = "abcdefghijklmnopqrstuvwxy"


def to_sgf(record: GameRecord, comments: Mapping[int, str] | None = None) -> str:
    """One game in FF[4], on one line where no comment has line breaks.

    `records.read_sgf` gives back the same game; komi is written as points. Never
    a blank line, which would end a GTP response early.

    Args:
      record: the game; `source` and `warnings` are not written.
      comments: number of moves played -> text; 0 is the root, which else has the
        record's own comment.

    Raises:
      ValueError: if a comment belongs to no move of the game.
    """
    comments = {} if comments is None else comments
    stray = [number for number in comments if not 0 <= number <= len(record)]
    if stray:
        raise ValueError(f"comments after moves {stray}, the game has {len(record)}")
    pieces = ["(;", _header(record), _comment(comments.get(0, record.comment))]
    moves = zip(record.actions.tolist(), record.colours.tolist(), strict=True)
    for number, (action, colour) in enumerate(moves, 1):
        name = "B" if colour > 0 else "W"
        pieces.append(f";{name}[{point(action, record.size)}]")
        pieces.append(_comment(comments.get(number)))
    return "".join(pieces) + ")"


def point(action: int, size: int) -> str:
    """SGF point of an action, "" for the pass."""
    if action == size * size:
        return ""
    row, column = divmod(action, size)
    return _LETTERS[column] + _LETTERS[row]


def _header(record: GameRecord) -> str:
    result = str(record.result)
    texts = {
        "KM": "" if record.komi is None else format_points(record.komi),
        "HA": str(record.handicap) if record.handicap else "",
        "RU": record.rules or "",
        "DT": record.date or "",
        "EV": record.event,
        "PB": record.players[0],
        "PW": record.players[1],
        "BR": record.ranks[0],
        "WR": record.ranks[1],
        "RE": "" if result == "?" else result,
    }
    pieces = [f"GM[1]FF[4]CA[UTF-8]SZ[{record.size}]"]
    for name, text in texts.items():
        if text:
            pieces.append(f"{name}[{escape(' '.join(text.split()))}]")
    for name, points in (("AB", record.black), ("AW", record.white)):
        if points:
            stones = "".join(f"[{point(p, record.size)}]" for p in points)
            pieces.append(name + stones)
    expected = WHITE if record.handicap >= 2 else BLACK
    if len(record) == 0 and record.to_play != expected:
        pieces.append("PL[B]" if record.to_play == BLACK else "PL[W]")
    return "".join(pieces)


def format_points(points: float) -> str:
    """A number without exponent or trailing zeros: 7.5, 7, -0.5."""
    return np.format_float_positional(points, trim="-")


def _comment(text: str | None) -> str:
    if not text:
        return ""
    lines = [line.rstrip() for line in text.splitlines()]
    kept = "\n".join(line for line in lines if line)
    return f"C[{escape(kept)}]" if kept else ""
