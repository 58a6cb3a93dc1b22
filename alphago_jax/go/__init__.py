"""The game of Go as pure functions on pytrees."""

from alphago_jax.go.diagram import from_diagram, to_diagram
from alphago_jax.go.game import Game, IllegalMoveError, Move, play
from alphago_jax.go.moves import legal_actions, step
from alphago_jax.go.rules import RuleData, Rules, Scope
from alphago_jax.go.scoring import Score, outcome, score
from alphago_jax.go.state import (
    GoState,
    Position,
    Record,
    init,
    is_no_result,
    is_over,
    on_board,
    set_up,
    size_of,
    stones,
    to_play,
)

__all__ = [
    "Game",
    "GoState",
    "IllegalMoveError",
    "Move",
    "Position",
    "Record",
    "RuleData",
    "Rules",
    "Scope",
    "Score",
    "from_diagram",
    "init",
    "is_no_result",
    "is_over",
    "legal_actions",
    "on_board",
    "outcome",
    "play",
    "score",
    "set_up",
    "size_of",
    "step",
    "stones",
    "to_diagram",
    "to_play",
]
