"""A fast reader for records of the plainest form, which most archives hold.

One node of header, then nothing but moves on points or `tt`: `(;GM[1]…;B[pd];W[dp])`.
It makes exactly what `records.read_sgf` makes of the same line, or declines.
"""

import functools
import re

import numpy as np

from alphago_jax.data import headers
from alphago_jax.data.main_line import (
    BLACK,
    PASS_TT_SIZE,
    WHITE,
    board_size,
    place_stones,
)
from alphago_jax.data.records import NOWHERE, GameRecord, Source, make_record

_HEAD = re.compile(rb"\(;((?:[A-Z]{1,2}(?:\[[^\[\]\\]*+\])++)*+)")
_PROPERTY = re.compile(r"([A-Z]{1,2})((?:\[[^\[\]\\]*+\])++)")
_DECLINED = frozenset(("B", "W", "AE"))
_MOVE_BYTES = 6  # as in ;B[aa]
_FIXED = ((0, b";"), (2, b"["), (5, b"]"))


def read_plain(line: bytes, source: Source = NOWHERE) -> GameRecord | None:
    """The game of a line, or None where the full reader is needed."""
    line = line.strip()
    head = _HEAD.match(line)
    if head is None or line[-1:] != b")":
        return None
    properties = _properties(head[1])
    if properties is None:
        return None
    try:
        size = board_size(
            {n: properties[n][0] for n in ("GM", "SZ") if n in properties}
        )
        board = np.zeros((size, size), np.int8)
        for name, colour in (("AB", BLACK), ("AW", WHITE)):
            place_stones(board, properties.get(name, ()), colour)
    except (headers.HeaderError, ValueError):
        return None  # the full reader says where
    moves = _moves(line[head.end() : -1], size)
    if moves is None:
        return None
    header = {name: values[0] for name, values in properties.items()}
    return make_record(size, header, board, *moves, source=source)


def _properties(head: bytes) -> dict[str, list[str]] | None:
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError:
        return None
    properties: dict[str, list[str]] = {}
    for name, values in _PROPERTY.findall(text):
        if name in properties or name in _DECLINED:
            return None
        properties[name] = values[1:-1].split("][")
        if len(properties[name]) > 1 and name not in ("AB", "AW"):
            return None
    charset = properties.get("CA", ["utf-8"])[0].lower()
    return properties if charset in ("utf-8", "utf8") else None


def _moves(text: bytes, size: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Actions int16 [T] and colours int8 [T]."""
    count, rest = divmod(len(text), _MOVE_BYTES)
    if rest or any(text[at::_MOVE_BYTES].count(sign) != count for at, sign in _FIXED):
        return None
    names, columns, rows = (
        np.frombuffer(text[at::_MOVE_BYTES], np.uint8) for at in (1, 3, 4)
    )
    colours = _colour_table()[names]
    actions = _action_table(size)[columns, rows]
    if not colours.all() or (actions < 0).any():
        return None
    return actions, colours


@functools.cache
def _colour_table() -> np.ndarray:
    """int8 [256], 0 for what is no colour."""
    table = np.zeros(256, np.int8)
    table[ord("B")], table[ord("W")] = BLACK, WHITE
    return table


@functools.cache
def _action_table(size: int) -> np.ndarray:
    """int16 [256, 256] by column and row letter, -1 for what is no move."""
    table = np.full((256, 256), -1, np.int16)
    letters = slice(ord("a"), ord("a") + size)
    table[letters, letters] = np.arange(size * size).reshape(size, size).T
    if size <= PASS_TT_SIZE:
        table[ord("t"), ord("t")] = size * size
    return table
