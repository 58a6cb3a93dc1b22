"""Names of points: GTP vertices and SGF points against actions.

| name | example (19×19) | counts |
|---|---|---|
| action | 0, 18, 342, 360, 361 | row-major from the top-left; N² is the pass |
| vertex (GTP) | A19, T19, A1, T1, pass | columns A–Z without I, rows from the bottom |
| SGF point | aa, sa, as, ss, "" | column, then row, from the top-left |

`size` is the side of the arrays. A smaller board lies in their top-left corner,
so that row 1 of a vertex is row `board_size` of the arrays.
"""

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


def vertex_to_action(vertex: str, size: int, board_size: int | None = None) -> int:
    """Action of a GTP vertex such as "D4" or "pass" (any case).

    Raises:
      ValueError: if the text is no vertex or lies off the board.
    """
    board_size = size if board_size is None else board_size
    text = vertex.strip().upper()
    if text == "PASS":
        return size * size
    column = COLUMNS.find(text[:1]) if text else -1
    number = text[1:]
    if column < 0 or not (number.isascii() and number.isdigit() and len(number) < 4):
        raise ValueError(f"not a vertex: {vertex!r}")
    row = board_size - int(number)
    if not (0 <= row < board_size and column < board_size):
        raise ValueError(f"{vertex!r} is off the {board_size}×{board_size} board")
    return row * size + column


def action_to_vertex(action: int, size: int, board_size: int | None = None) -> str:
    """GTP vertex of an action, upper case; "pass" for N².

    Raises:
      ValueError: if the action lies off the board.
    """
    board_size = size if board_size is None else board_size
    action = int(action)
    if action == size * size:
        return "pass"
    row, column = divmod(action, size)
    if action < 0 or row >= board_size or column >= board_size:
        raise ValueError(f"action {action} is off the {board_size}×{board_size} board")
    return f"{COLUMNS[column]}{board_size - row}"


def sgf_to_action(point: str, size: int) -> int:
    """Action of an SGF point; "" is a pass, and "tt" up to 19×19.

    Raises:
      ValueError: if the text is no point of the board.
    """
    if point == "" or (point == "tt" and size <= 19):
        return size * size
    if len(point) != 2:
        raise ValueError(f"not an SGF point: {point!r}")
    column, row = (ord(letter) - ord("a") for letter in point)
    if not (0 <= row < size and 0 <= column < size):
        raise ValueError(f"SGF point {point!r} is off the {size}×{size} board")
    return row * size + column


def action_to_sgf(action: int, size: int) -> str:
    """SGF point of an action; "" for the pass."""
    if action == size * size:
        return ""
    row, column = divmod(int(action), size)
    return chr(ord("a") + column) + chr(ord("a") + row)
