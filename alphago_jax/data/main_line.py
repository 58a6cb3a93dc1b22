"""The main line of a tree: board, set-up position, header texts and moves."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from alphago_jax.data import headers, sgf
from alphago_jax.data.sgf import Node, Note

DEFAULT_SIZE = 19
PASS_TT_SIZE = 19  # up to here `tt` is a pass, beyond it is a point
BLACK, WHITE = 1, -1

_COLOURS = {"B": BLACK, "W": WHITE}
_SETUP = (("AB", BLACK), ("AW", WHITE), ("AE", 0))
_HEADER_NAMES = "SZ KM HA RU RE DT PB PW BR WR EV PL GM".split()
_COORDINATES = {
    letter: value
    for value, letter in enumerate(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    )
}


@dataclasses.dataclass
class MainLine:
    """What the main line holds.

    Attributes:
      size: board side N, 0 until something needs the board.
      board: int8 [N, N], the set-up position.
      header: property -> first value as written, of the nodes before the first
        move; the first that says it counts.
      actions: moves.
      colours: +1 or −1, whose they are.
      notes: what was tolerated.
    """

    size: int
    board: np.ndarray
    header: dict[str, str]
    actions: list[int]
    colours: list[int]
    notes: list[Note]


def read_main_line(tree: sgf.Tree) -> MainLine:
    """Walks the first children to the end, or to set-up after a move.

    Raises:
      SgfError: if it is no game of Go, or a move or stone is on no point.
    """
    walk = MainLine(0, np.zeros((0, 0), np.int8), {}, [], [], [])
    for node in tree.root.main_line():
        names = node.properties
        _take_header(walk, names)
        if node is tree.root and "C" in names:
            walk.header["C"] = names["C"][0]
        if not names.keys() & _ACTING:
            continue
        if not walk.size:
            _open_board(tree, node, walk)
        if names.keys() & _SETTING:
            if walk.actions:
                message = f"stones are set up after move {len(walk.actions)}"
                walk.notes.append(Note("set-up after a move", message))
                break
            _set_up(tree, node, walk)
        _play(tree, node, walk)
    if not walk.size:
        _open_board(tree, tree.root, walk)
    return walk


_SETTING = frozenset(name for name, _ in _SETUP)
_ACTING = _SETTING | _COLOURS.keys()


def _take_header(walk: MainLine, names: Mapping[str, Sequence[str]]) -> None:
    # A result may stand at the end of the game, all else is said before it.
    for name in ("RE",) if walk.actions else _HEADER_NAMES:
        if name in names and name not in walk.header:
            walk.header[name] = names[name][0]
            if len(names[name]) > 1:
                note = Note("several values", f"{name} has several; the first is taken")
                walk.notes.append(note)


def _open_board(tree: sgf.Tree, node: Node, walk: MainLine) -> None:
    try:
        walk.size = board_size(walk.header)
    except headers.HeaderError as error:
        raise tree.error(node, error.reason, error.detail) from None
    walk.board = np.zeros((walk.size, walk.size), np.int8)


def board_size(header: Mapping[str, str]) -> int:
    """Board side of a game of Go.

    Raises:
      HeaderError: if it is another game, or its board cannot be read.
    """
    game = header.get("GM", "1").strip()
    if game.isascii() and game.isdigit() and game.strip("0") != "1":
        raise headers.HeaderError("not a game of Go", f"GM[{game[:40]}]")
    return headers.parse_size(header.get("SZ", "")) or DEFAULT_SIZE


def _set_up(tree: sgf.Tree, node: Node, walk: MainLine) -> None:
    for name, colour in _SETUP:
        try:
            place_stones(walk.board, node.properties.get(name, ()), colour)
        except ValueError as error:
            raise tree.error(node, "bad point", f"{name}: {error}") from None


def _play(tree: sgf.Tree, node: Node, walk: MainLine) -> None:
    played = 0
    for name, values in node.properties.items():  # file order, where both colours move
        if name not in _COLOURS:
            continue
        played += 1
        if len(values) > 1:
            walk.notes.append(Note("several values", f"{name} has several moves"))
        try:
            walk.actions.append(parse_move(values[0], walk.size))
        except ValueError as error:
            detail = f"move {len(walk.actions) + 1}: {error}"
            raise tree.error(node, "bad point", detail) from None
        walk.colours.append(_COLOURS[name])
    if played > 1:
        message = f"moves {len(walk.actions) - 1} and {len(walk.actions)}"
        walk.notes.append(Note("two moves in a node", message))


def parse_move(value: str, size: int) -> int:
    """Action of a B or W value; empty, `tt` (up to 19×19) and `pass` are the pass.

    Raises:
      ValueError: if it is no point of the board.
    """
    point = value if len(value) == 2 else "".join(value.split())
    if not point or point.lower() == "pass" or (point == "tt" and size <= PASS_TT_SIZE):
        return size * size
    row, column = _point(point, size)
    return row * size + column


def place_stones(board: np.ndarray, values: Sequence[str], colour: int) -> None:
    """Sets points, rectangles (`aa:cc`) too. board: int8 [N, N], changed.

    Raises:
      ValueError: if a value is no point of the board.
    """
    size = len(board)
    for value in values:
        value = "".join(value.split())
        if not value:  # AB[] sets nothing
            continue
        first, colon, last = value.partition(":")
        rows, columns = zip(
            _point(first, size), _point(last if colon else first, size), strict=True
        )
        board[min(rows) : max(rows) + 1, min(columns) : max(columns) + 1] = colour


def _point(text: str, size: int) -> tuple[int, int]:
    column = _COORDINATES.get(text[:1], size)
    row = _COORDINATES.get(text[1:], size)
    if row >= size or column >= size:
        raise ValueError(f"{text[:20]!r} is no point of the {size}×{size} board")
    return row, column
