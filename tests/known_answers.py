"""Known facts about Go, as data: counts, drawn positions, hand-counted scores.

Boards are drawn with 'X' Black, 'O' White, '.' empty; places are (row, column) from
the top-left, None is a pass. Everything drawn here was made and counted by hand for
this project; the ideas (sending two, returning one; triple ko; eternal life; bent
four in the corner) are common knowledge of the game.
"""

import dataclasses

Place = tuple[int, int] | None

# Positions of an n x n board in which every chain has a liberty: J. Tromp and
# G. Farnebäck, "Combinatorics of Go" (2006); OEIS A094777.
LEGAL_POSITIONS = {1: 1, 2: 57, 3: 12675, 4: 24318165}

# Sequences of that many legal actions (passes included) from the empty board, by
# (size, ko rule, suicide). No source: two independent programs in these tests, the
# oracle and one that plays by Tromp and Taylor's definition of reaching, agree.
SEQUENCES: dict[tuple[int, str, bool], list[int]] = {
    (1, "simple", False): [1, 1, 0],
    (2, "simple", False): [5, 21, 68, 156, 316, 604, 1168, 2592],
    (2, "simple", True): [5, 21, 68, 156, 316, 604, 1240, 3120],
    (2, "positional", False): [5, 21, 68, 156, 316, 604, 1088, 2184],
    (2, "positional", True): [5, 21, 68, 156, 316, 604, 1088, 2184],
    (2, "situational", False): [5, 21, 68, 156, 316, 604, 1112, 2312],
    (2, "situational", True): [5, 21, 68, 156, 316, 604, 1184, 2672],
    (3, "simple", False): [10, 91, 738, 5281],
    (3, "positional", True): [10, 91, 738, 5281],
    (4, "situational", True): [17, 273, 4112],
}


@dataclasses.dataclass(frozen=True)
class LegalityCase:
    """A drawn position, moves from it, and why one more move is illegal.

    `reasons` has an entry per ko rule (simple, positional, situational): None means
    that the move at `point` is legal.
    """

    name: str
    board: str
    to_play: int
    moves: tuple[Place, ...]
    point: Place
    reasons: tuple[str | None, str | None, str | None]
    suicide: bool = False


KO = """
    . X O . .
    X O . O .
    . X O . .
    . . . . .
    . . . . .
"""
KO_TAKEN = """
    . X O . .
    X . X O .
    . X O . .
    . . . . .
    . . . . .
"""
OPEN_KO = """
    . X O . .
    X O . . .
    . X O . .
    . . . . .
    . . . . .
"""
SENDING_TWO = """
    . O . O .
    X X O O .
    . X O . .
    X X O . .
    . X O . .
"""
SNAPBACK = """
    . . X O .
    X X X O .
    O O O O .
    . . . . .
    . . . . .
"""
EYE = """
    . X . . .
    X . . . .
    . . . . .
    . . . . .
    . . . . O
"""
TWO_STONE_SUICIDE = """
    O . X . .
    X X . . .
    . . . . .
    . . . . .
    . . . . .
"""
EMPTY_CORNER = TWO_STONE_SUICIDE.replace("O", ".")
TRIPLE_KO = """
    X O . O . . . . .
    . X O . . . . . .
    . . . . . . . . .
    . . X O . . . . .
    . X O . O . . . .
    . . X O . . . . .
    . . . . . . . . .
    . X O . . . . . .
    X . X O . . . . .
"""
ETERNAL_LIFE = """
    . X . O X
    O O X X X
    O . O O X
    O O . O X
    . O O X .
"""
# Each side takes a ko that it did not just lose; after six moves all is as before.
TRIPLE_KO_CYCLE = ((0, 2), (8, 1), (4, 3), (0, 1), (8, 2), (4, 2))
ETERNAL_LIFE_CYCLE = ((0, 0), (0, 2), (0, 1), (0, 3))
SENDING_TWO_CYCLE = ((0, 0), (0, 2), (0, 1), None)

LEGALITY = [
    LegalityCase("taking a ko", KO, 1, (), (1, 2), (None, None, None)),
    LegalityCase("retaking it", KO, 1, ((1, 2),), (1, 1), ("ko", "superko", "superko")),
    LegalityCase(
        "retaking it after a threat",
        KO,
        1,
        ((1, 2), (4, 4), (4, 0)),
        (1, 1),
        (None, None, None),
    ),
    LegalityCase(
        "a pass lifts the ban of simple ko",
        KO,
        1,
        ((1, 2), None, (4, 0)),
        (1, 1),
        (None, None, None),
    ),
    LegalityCase(
        "the set-up position counts",
        KO_TAKEN,
        -1,
        ((1, 1),),
        (1, 2),
        ("ko", "superko", "superko"),
    ),
    LegalityCase(
        "no ko when the taking stone has two liberties",
        OPEN_KO,
        1,
        ((1, 2),),
        (1, 1),
        ("suicide", "suicide", "suicide"),
    ),
    LegalityCase(
        "sending two, returning one",
        SENDING_TWO,
        -1,
        ((0, 0), (0, 2)),
        (0, 1),
        (None, "superko", None),
    ),
    LegalityCase(
        "sending two, after a move elsewhere",
        SENDING_TWO,
        -1,
        ((0, 0), (0, 2), (4, 4), None),
        (0, 1),
        (None, None, None),
    ),
    LegalityCase("a throw-in", SNAPBACK, -1, (), (0, 0), (None, None, None)),
    LegalityCase(
        "a snapback is no ko",
        SNAPBACK,
        -1,
        ((0, 0), (0, 1)),
        (0, 0),
        (None, None, None),
    ),
    LegalityCase("a stone in an eye", EYE, -1, (), (0, 0), ("suicide",) * 3),
    LegalityCase(
        "single-stone suicide is illegal even where suicide is legal",
        EYE,
        -1,
        (),
        (0, 0),
        ("suicide",) * 3,
        suicide=True,
    ),
    LegalityCase(
        "suicide of two stones", TWO_STONE_SUICIDE, -1, (), (0, 1), ("suicide",) * 3
    ),
    LegalityCase(
        "suicide of two stones, allowed",
        TWO_STONE_SUICIDE,
        -1,
        (),
        (0, 1),
        (None, None, None),
        suicide=True,
    ),
    LegalityCase(
        "suicide back to the set-up",
        EMPTY_CORNER,
        -1,
        ((0, 0), None),
        (0, 1),
        (None, "superko", None),
        suicide=True,
    ),
    LegalityCase(
        "triple ko",
        TRIPLE_KO,
        1,
        TRIPLE_KO_CYCLE[:-1],
        TRIPLE_KO_CYCLE[-1],
        (None, "superko", "superko"),
    ),
    LegalityCase(
        "eternal life",
        ETERNAL_LIFE,
        1,
        ETERNAL_LIFE_CYCLE[:-1],
        ETERNAL_LIFE_CYCLE[-1],
        (None, "superko", "superko"),
    ),
]


@dataclasses.dataclass(frozen=True)
class ScoreCase:
    """A drawn position and its hand-counted points without komi.

    `area` and `territory` have (Black, White) for the taxes none, seki and all.
    """

    name: str
    board: str
    area: tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
    territory: tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
    dead: tuple[tuple[int, int], ...] | None = None


WALL = """
    . X O . .
    . X O . .
    . X O . .
    . X O . .
    . X O . .
"""
# White's corner and Black's chain share two liberties; neither may take one.
SEKI = """
    O O . X O .
    . X X X O .
    X X O O O .
    O O O . . .
    . . . . . .
    . . . . . .
"""
# The same with an eye each and one shared liberty.
SEKI_WITH_EYES = """
    . O . X . X O
    O O X X X X O
    X X X O O O O
    O O O O . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
"""
BENT_FOUR = """
    X X . O X . .
    X O O O X . .
    . O X X X . .
    O O X . . . .
    X X X . . . .
    . . . . . . .
    . . . . . . .
"""
BENT_FOUR_DEAD = ((0, 3), (1, 1), (1, 2), (1, 3), (2, 1), (3, 0), (3, 1))
# Black's stones are pass-alive; two White stones stand in their territory.
PASS_ALIVE = """
    . X . X O
    X X X X .
    . O X X X
    X X X O O
    O O O O .
"""

SCORES = [
    ScoreCase(
        "empty board",
        ". . .\n. . .\n. . .",
        ((0, 0), (0, 0), (0, 0)),
        ((0, 0), (0, 0), (0, 0)),
    ),
    ScoreCase(
        "two walls",
        WALL,
        ((10, 15), (10, 15), (8, 13)),
        ((5, 10), (5, 10), (3, 8)),
    ),
    ScoreCase(
        "seki",
        SEKI,
        ((6, 28), (6, 28), (6, 26)),
        ((0, 18), (0, 18), (0, 16)),
    ),
    ScoreCase(
        "seki with eyes",
        SEKI_WITH_EYES,
        ((10, 38), (9, 37), (9, 35)),
        ((1, 25), (0, 24), (0, 22)),
    ),
    ScoreCase(
        "bent four in the corner, as it stands",
        BENT_FOUR,
        ((40, 7), (40, 7), (38, 7)),
        ((28, 0), (28, 0), (26, 0)),
    ),
    ScoreCase(
        "bent four in the corner, White dead",
        BENT_FOUR,
        ((49, 0), (49, 0), (47, 0)),
        ((44, 0), (44, 0), (42, 0)),
        dead=BENT_FOUR_DEAD,
    ),
    ScoreCase(
        "dead stones in pass-alive territory",
        PASS_ALIVE,
        ((14, 9), (12, 9), (12, 7)),
        ((8, 1), (8, 1), (6, -1)),
    ),
]


@dataclasses.dataclass(frozen=True)
class LadderCase:
    """A drawn position and the moves of the player to move that work."""

    name: str
    board: str
    to_play: int
    captures: frozenset[tuple[int, int]] = frozenset()
    escapes: frozenset[tuple[int, int]] = frozenset()


LADDER = """
    . . . . . . .
    . . X X . . .
    . X O . . . .
    . . X . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
"""
LADDER_AHEAD = LADDER.replace("    . . X . . . .\n", "    . . . . . . .\n")
EDGE_LADDER = """
    . X O . . . .
    . . X . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
    . . . . . . .
"""


def with_stone(board: str, place: tuple[int, int], mark: str) -> str:
    """A drawn board with one point changed."""
    rows = [line.split() for line in board.strip().splitlines()]
    rows[place[0]][place[1]] = mark
    return "\n".join(" ".join(row) for row in rows)


LADDERS = [
    LadderCase("a ladder to the corner", LADDER, -1),
    LadderCase(
        "a breaker on its way",
        with_stone(LADDER, (5, 5), "O"),
        -1,
        escapes=frozenset({(2, 3)}),
    ),
    LadderCase(
        "a breaker beside its way, which makes a double threat",
        with_stone(LADDER, (2, 5), "O"),
        -1,
        escapes=frozenset({(2, 3)}),
    ),
    LadderCase(
        "a friend of the attacker before the breaker",
        with_stone(with_stone(LADDER, (5, 5), "O"), (4, 4), "X"),
        -1,
    ),
    LadderCase(
        "starting it: one of the two sides works",
        LADDER_AHEAD,
        1,
        captures=frozenset({(3, 2)}),
    ),
    LadderCase(
        "starting it against a breaker", with_stone(LADDER_AHEAD, (5, 5), "O"), 1
    ),
    LadderCase("along the edge", EDGE_LADDER, -1),
    LadderCase(
        "along the edge with a friend",
        with_stone(EDGE_LADDER, (1, 5), "O"),
        -1,
        escapes=frozenset({(0, 3)}),
    ),
    LadderCase(
        "capturing an attacker in atari",
        with_stone(
            with_stone(with_stone(LADDER, (1, 1), "O"), (3, 1), "O"), (5, 6), "X"
        ),
        -1,
        escapes=frozenset({(2, 0), (2, 3)}),
    ),
    LadderCase(
        "a throw-in and its snapback",
        SNAPBACK,
        -1,
        captures=frozenset({(0, 0), (0, 1)}),
    ),
]
