"""Boards as text: X is Black, O is White, a dot is empty.

  A B C
3 . X .
2 X O .
1 . . .
"""

import numpy as np

from alphago_jax.go import coords
from alphago_jax.go.rules import Rules
from alphago_jax.go.state import GoState, init, on_board, set_up, stones

_SYMBOLS = {1: "X", -1: "O", 0: "."}
_STONES = {"X": 1, "x": 1, "#": 1, "O": -1, "o": -1, ".": 0, "+": 0, "*": 0}


def to_diagram(state: GoState) -> str:
    """Draws the board with its coordinates. Host side, unbatched state."""
    board = np.asarray(stones(state))
    board_size = int(np.asarray(on_board(state))[0].sum())
    width = len(str(board_size))
    lines = [" " * (width + 1) + " ".join(coords.COLUMNS[:board_size])]
    for row in range(board_size):
        points = " ".join(_SYMBOLS[int(s)] for s in board[row, :board_size])
        lines.append(f"{board_size - row:>{width}} {points}")
    return "\n".join(lines)


def parse_diagram(text: str) -> np.ndarray:
    """Stones of a drawn board. int8 [N, N], +1 X, −1 O, 0 empty.

    Spaces, row numbers, and lines of column letters are ignored.

    Raises:
      ValueError: if the rows do not make a square or hold other symbols.
    """
    rows = []
    for line in text.splitlines():
        symbols = [c for c in line if not c.isspace() and not c.isdigit()]
        if not symbols or set("ABCDE"[: len(symbols)]) <= set(symbols):
            continue
        unknown = set(symbols) - set(_STONES)
        if unknown:
            raise ValueError(f"unknown symbols {sorted(unknown)} in {line!r}")
        rows.append([_STONES[c] for c in symbols])
    if not rows or any(len(row) != len(rows) for row in rows):
        lengths = [len(row) for row in rows]
        raise ValueError(f"a diagram must be square; its rows have {lengths} points")
    return np.array(rows, np.int8)


def from_diagram(
    text: str, *, rules: Rules | None = None, to_play: int = 1, size: int | None = None
) -> GoState:
    """A game that starts from a drawn board. Host side.

    Args:
      text: see the top of this module.
      rules: a rule set; Tromp-Taylor by default.
      to_play: +1 Black, −1 White.
      size: side of the arrays, the drawn board's by default.

    Raises:
      ValueError: if the drawing is no board, or a chain has no liberty.
    """
    grid = parse_diagram(text)
    board_size = grid.shape[0]
    size = int(board_size if size is None else size)
    state = init(size, rules=rules, board_size=board_size)
    row, column = np.nonzero(grid)
    points = row * size + column
    colour = grid[row, column]
    black, white = points[colour > 0], points[colour < 0]
    return set_up(state, black, white, to_play, handicap=0)
