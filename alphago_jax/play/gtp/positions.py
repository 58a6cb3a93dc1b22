"""GTP commands that look at the position and count it."""

import numpy as np

from alphago_jax import go
from alphago_jax.go import coords, mailbox
from alphago_jax.play import counting
from alphago_jax.play.gtp import arguments as read
from alphago_jax.play.gtp.protocol import CommandError
from alphago_jax.play.gtp.session import Session


def final_score(session: Session, arguments: list[str]) -> str:
    """`final_score`: the result by the rules; see docs/play.md on dead stones."""
    del arguments
    return counting.format_margin(counting.final_margin(session.game))


def estimate_score(session: Session, arguments: list[str]) -> str:
    """`estimate_score`: the result with dead stones taken off, whatever the rules."""
    del arguments
    state = session.game.state
    return counting.format_margin(
        counting.margin(state, counting.estimated_dead(state))
    )


def final_status_list(session: Session, arguments: list[str]) -> str:
    """`final_status_list alive|dead|seki`: stones by status, a chain in a line.

    Seki is not told apart: such stones are alive.
    """
    (status,) = read.need(arguments, 1)
    if status not in ("alive", "dead", "seki"):
        raise CommandError("invalid status")
    state, size = session.game.state, session.game.size
    dead = np.zeros((size, size), bool)
    if counting.takes_dead_off(session.rules):
        dead = counting.estimated_dead(state)
    chosen = {"dead": dead, "alive": ~dead, "seki": np.zeros_like(dead)}[status]
    labels = np.asarray(mailbox.to_points(state.position.chains, size))
    chains: dict[int, list[str]] = {}
    for row, column in zip(*np.nonzero(session.game.stones), strict=True):
        if chosen[row, column]:
            name = coords.action_to_vertex(row * size + column, size)
            chains.setdefault(int(labels[row, column]), []).append(name)
    return "\n".join(" ".join(chain) for chain in chains.values())


def showboard(session: Session, arguments: list[str]) -> str:
    """`showboard`: the board, prisoners, rules and whose move it is."""
    del arguments
    game = session.game
    lost_black, lost_white = (int(n) for n in game.state.position.prisoners)
    last = _name(session, game.moves[-1]) if game.moves else "none"
    next_name = read.COLOUR_NAMES[game.to_play]
    return "\n".join(
        [
            "",
            go.to_diagram(game.state),
            f"Black (X) has captured {lost_white}, White (O) has captured {lost_black}",
            f"Komi {game.rules.komi:g}, handicap {game.handicap}",
            f"Move {len(game.moves)}, last move {last}, {next_name} to play",
        ]
    )


def list_stones(session: Session, arguments: list[str]) -> str:
    """`list_stones COLOUR`: vertices of all its stones."""
    colour = read.colour(*read.need(arguments, 1))
    return _vertices(session, (session.game.stones == colour).reshape(-1))


def all_legal(session: Session, arguments: list[str]) -> str:
    """`all_legal COLOUR`: vertices where it may play; the pass is not listed."""
    colour = read.colour(*read.need(arguments, 1))
    return _vertices(session, session.game.legal_actions(colour)[:-1])


def is_legal(session: Session, arguments: list[str]) -> str:
    """`is_legal COLOUR VERTEX`: 1 or 0."""
    colour_text, vertex_text = read.need(arguments, 2)
    error = "invalid color or coordinate"
    colour = read.colour(colour_text, error)
    action = read.vertex(vertex_text, session.game.size, error)
    return str(int(session.game.legal_actions(colour)[action]))


def captures(session: Session, arguments: list[str]) -> str:
    """`captures COLOUR`: stones that it has captured."""
    colour = read.colour(*read.need(arguments, 1))
    lost = session.game.state.position.prisoners
    return str(int(lost[1] if colour == 1 else lost[0]))


def last_move(session: Session, arguments: list[str]) -> str:
    """`last_move`: colour and vertex."""
    del arguments
    if not session.game.moves:
        raise CommandError("no previous move known")
    return _name(session, session.game.moves[-1])


def move_history(session: Session, arguments: list[str]) -> str:
    """`move_history`: colours and vertices, the last move first, as in GNU Go."""
    del arguments
    return "\n".join(_name(session, move) for move in reversed(session.game.moves))


def _name(session: Session, move: go.Move) -> str:
    vertex = coords.action_to_vertex(move.action, session.game.size)
    return f"{read.COLOUR_NAMES[move.colour]} {vertex}"


def _vertices(session: Session, points: np.ndarray) -> str:
    """Vertices of a mask [N²], in order."""
    size = session.game.size
    names = [coords.action_to_vertex(int(p), size) for p in np.flatnonzero(points)]
    return " ".join(names)


COMMANDS = {
    "final_score": final_score,
    "estimate_score": estimate_score,
    "final_status_list": final_status_list,
    "showboard": showboard,
    "list_stones": list_stones,
    "all_legal": all_legal,
    "is_legal": is_legal,
    "captures": captures,
    "last_move": last_move,
    "move_history": move_history,
}
