"""A slow, obvious, independent Go engine in plain Python.

It is written from the rules of Go alone, shares no code with the package and
needs nothing but the standard library, so that the two can be compared. Its
docstrings are the reference for the rules; where the package and the oracle
differ, one of them has a bug.

    grid      the board as a graph: neighbours, chains, liberties; drawn boards
    engine    legality, captures, ko, superko, suicide, the end
    scoring   area and territory, pass-alive stones, seki, group tax, button
    ladders   ladder capture and escape, read by their definition
    lockstep  random games that yield every fact at every ply
    reach     Tromp and Taylor's logical rules, a second opinion for tiny boards
"""

from .engine import Oracle, Rules
from .grid import BLACK, EMPTY, WHITE, Chain, draw, parse
from .ladders import ReadingTooLongError, ladder_captures, ladder_escapes
from .scoring import Score, pass_alive

__all__ = [
    "BLACK",
    "EMPTY",
    "WHITE",
    "Chain",
    "Oracle",
    "ReadingTooLongError",
    "Rules",
    "Score",
    "draw",
    "ladder_captures",
    "ladder_escapes",
    "parse",
    "pass_alive",
]
