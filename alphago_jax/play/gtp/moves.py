"""GTP commands that move stones: play, genmove, undo, handicap."""

from alphago_jax import go
from alphago_jax.go import coords
from alphago_jax.play.gtp import arguments as read
from alphago_jax.play.gtp.protocol import CommandError
from alphago_jax.play.gtp.session import Session


def play(session: Session, arguments: list[str]) -> str:
    """`play COLOUR VERTEX`: a move, of either colour, at any time."""
    colour_text, vertex_text = read.need(arguments, 2)
    error = "invalid color or coordinate"
    colour = read.colour(colour_text, error)
    if vertex_text.lower() == "resign":
        session.resigned = colour
        return ""
    action = read.vertex(vertex_text, session.game.size, error)
    try:
        session.game.play(action, colour)
    except go.IllegalMoveError as refused:
        raise CommandError(f"illegal move: {refused.reason}") from None
    session.resigned = None
    return ""


def genmove(session: Session, arguments: list[str]) -> str:
    """`genmove COLOUR`: chooses a move and plays it; a pass once the game is over."""
    colour = read.colour(*read.need(arguments, 1))
    game = session.game
    if game.is_over:
        if game.has_ended:
            game.play(game.size**2, colour)
        return "pass"
    choice = session.choose(colour)
    if session.resigns(colour, choice):
        session.resigned = colour
        return "resign"
    game.play(choice.action, colour)
    session.resigned = None
    return coords.action_to_vertex(choice.action, game.size)


def reg_genmove(session: Session, arguments: list[str]) -> str:
    """`reg_genmove COLOUR`: what genmove would answer; nothing changes."""
    colour = read.colour(*read.need(arguments, 1))
    if session.game.is_over:
        return "pass"
    choice = session.choose(colour, advance=False)
    return coords.action_to_vertex(choice.action, session.game.size)


def undo(session: Session, arguments: list[str]) -> str:
    """`undo`, and `gg-undo [COUNT]` as in GNU Go."""
    count = read.integer(arguments[0]) if arguments else 1
    try:
        session.game.undo(count)
    except ValueError:
        raise CommandError("cannot undo") from None
    session.resigned = None
    return ""


def undo_one(session: Session, arguments: list[str]) -> str:
    """`undo`: takes the last move back; not handicap stones."""
    del arguments
    return undo(session, [])


def fixed_points(size: int) -> list[tuple[int, int]]:
    """Handicap points in the order of the GTP specification, as (row, column).

    Corners on the third line under 13×13, on the fourth from there; sides and centre
    on odd boards from 9×9 on; none under 7×7.

    Args:
      size: board side.

    Returns:
      The corners first (lower left, upper right, upper left, lower right), then the
      left, right, lower and upper sides, then the centre; rows from the top.
    """
    if size < 7:
        return []
    near = 2 if size < 13 else 3
    far, middle = size - 1 - near, size // 2
    points = [(far, near), (near, far), (near, near), (far, far)]
    if size % 2 and size >= 9:
        points += [(middle, near), (middle, far), (far, middle), (near, middle)]
        points += [(middle, middle)]
    return points


def handicap_points(size: int, count: int) -> list[int]:
    """Actions of `count` ≥ 2 handicap stones, at most all of `fixed_points`."""
    points = fixed_points(size)
    chosen = points[:count]
    if count in (5, 7):
        # Odd numbers put their last stone in the centre.
        chosen = [*points[: count - 1], points[8]]
    return [row * size + column for row, column in chosen]


def fixed_handicap(session: Session, arguments: list[str]) -> str:
    """`fixed_handicap COUNT`: stones on the points of the specification."""
    count = read.integer(*read.need(arguments, 1))
    _need_empty_board(session)
    size = session.game.size
    if not 2 <= count <= len(fixed_points(size)):
        raise CommandError("invalid number of stones")
    return _set_handicap(session, handicap_points(size, count))


def place_free_handicap(session: Session, arguments: list[str]) -> str:
    """`place_free_handicap COUNT`: stones where the player likes them.

    It likes the fixed points; beyond those, and on boards without them, points as far
    as possible from the stones so far and from the edge.
    """
    count = read.integer(*read.need(arguments, 1))
    _need_empty_board(session)
    size = session.game.size
    if not 2 <= count < size * size:
        raise CommandError("invalid number of stones")
    known = len(fixed_points(size))
    stones = handicap_points(size, min(count, known)) if known else []
    while len(stones) < min(count, size * size // 2):
        stones.append(_most_distant(size, stones))
    return _set_handicap(session, stones)


def _most_distant(size: int, stones: list[int]) -> int:
    """The empty point farthest from stones and edge, the first of equals."""

    def distance(point: int) -> float:
        row, column = divmod(point, size)
        edge = min(row, column, size - 1 - row, size - 1 - column) + 1
        apart = [
            max(abs(row - r), abs(column - c))
            for r, c in (divmod(stone, size) for stone in stones)
        ]
        return min([edge * 1.5, *apart])

    free = [point for point in range(size * size) if point not in stones]
    return max(free, key=distance)


def set_free_handicap(session: Session, arguments: list[str]) -> str:
    """`set_free_handicap VERTEX VERTEX …`: stones where the client wants them."""
    _need_empty_board(session)
    size = session.game.size
    error = "bad vertex list"
    stones = [read.vertex(text, size, error) for text in arguments]
    distinct = len(set(stones)) == len(stones)
    if not (2 <= len(stones) < size * size and distinct) or size * size in stones:
        raise CommandError(error)
    _set_handicap(session, stones)
    return ""


def _need_empty_board(session: Session) -> None:
    if session.game.stones.any():
        raise CommandError("board not empty")


def _set_handicap(session: Session, stones: list[int]) -> str:
    try:
        session.new_game(session.game.size, tuple(stones))
    except ValueError:
        raise CommandError("bad vertex list") from None
    size = session.game.size
    return " ".join(coords.action_to_vertex(stone, size) for stone in stones)


COMMANDS = {
    "play": play,
    "genmove": genmove,
    "reg_genmove": reg_genmove,
    "undo": undo_one,
    "gg-undo": undo,
    "fixed_handicap": fixed_handicap,
    "place_free_handicap": place_free_handicap,
    "set_free_handicap": set_free_handicap,
}
