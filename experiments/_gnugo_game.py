"""One game of GNU Go against itself: plan, moves, result and SGF.

Used by `gnugo_games.py`. Points are row-major from the top-left; size² is the pass.
"""

import dataclasses
import hashlib
import re
from collections.abc import Sequence

import numpy as np

from alphago_jax.play.external import GtpProcess, gnugo_command

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
SECONDS_PER_MOVE = 900.0  # a machine may be busy or asleep; GNU Go takes seconds


def to_vertex(point: int, size: int) -> str:
    """GTP text of a row-major point from the top-left; size² is the pass."""
    if point == size * size:
        return "pass"
    return f"{COLUMNS[point % size]}{size - point // size}"


def from_vertex(vertex: str, size: int) -> int:
    """Row-major point of GTP text such as "D4" or "PASS"."""
    if vertex.lower() == "pass":
        return size * size
    return (size - int(vertex[1:])) * size + COLUMNS.index(vertex[0].upper())


def neighbours(point: int, size: int) -> list[int]:
    """The two to four points beside a point."""
    row, column = divmod(point, size)
    around = (
        (row - 1, column),
        (row + 1, column),
        (row, column - 1),
        (row, column + 1),
    )
    return [r * size + c for r, c in around if 0 <= r < size and 0 <= c < size]


def area_margin(stones: np.ndarray) -> int:
    """Tromp-Taylor area of Black less that of White, without komi.

    A point counts for a colour if it holds its stone, or is empty and its empty region
    reaches stones of this colour only.

    Args:
        stones: int8 [N * N], +1 Black, -1 White, 0 empty.
    """
    size = int(len(stones) ** 0.5)
    margin = int(stones.sum())
    seen: set[int] = set()
    for start in map(int, np.flatnonzero(stones == 0)):
        region, borders, todo = 0, set[int](), [start]
        while todo:
            point = todo.pop()
            if stones[point]:
                borders.add(int(stones[point]))
            elif point not in seen:
                seen.add(point)
                region += 1
                todo += neighbours(point, size)
        if len(borders) == 1:
            margin += region * borders.pop()
    return margin


def canonical_hash(points: Sequence[int], size: int) -> bytes:
    """A hash of a game's moves that its eight rotations and reflections share."""
    grid = np.arange(size * size).reshape(size, size)
    forms = [np.rot90(g, turns) for g in (grid, grid.T) for turns in range(4)]
    tables = [np.append(form.ravel(), size * size) for form in forms]
    moves = np.asarray(points)
    smallest = min(table[moves].astype(">u2").tobytes() for table in tables)
    return hashlib.blake2b(smallest, digest_size=16).digest()


def sensible_points(legal: set[int], stones: np.ndarray, size: int) -> list[int]:
    """Legal points off the edge, on a usual line or near a stone, and no own eye.

    Args:
        legal: legal points of the player to move.
        stones: int8 [N * N], +1 for the player to move, -1 for the other.
        size: side of the board.
    """
    rows, columns = np.divmod(np.arange(size * size), size)
    line = np.minimum.reduce([rows, columns, size - 1 - rows, size - 1 - columns])
    usual = (line >= 2) & (line <= 3) if size > 13 else line >= 2
    for stone in np.flatnonzero(stones):
        usual |= abs(rows - rows[stone]) + abs(columns - columns[stone]) <= 2
    usual &= (line > 0) & (stones == 0)
    return [
        point
        for point in map(int, np.flatnonzero(usual))
        if point in legal and any(stones[n] != 1 for n in neighbours(point, size))
    ]


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is decided before a game begins."""

    index: int
    size: int
    komi: float
    levels: tuple[int, int]  # Black's, White's
    opening: int  # random plies at the start
    noise: float  # chance of a random ply later
    rng: np.random.Generator


def make_plan(
    seed: int,
    index: int,
    *,
    size: int,
    levels: Sequence[int],
    noisy_games: float,
    noisy_plies: float,
) -> Plan:
    """Everything about game `index`, drawn from the seed and the index alone.

    Args:
        seed: of the run.
        index: number of the game in the run.
        size: side of the board.
        levels: levels of GNU Go that each player draws from.
        noisy_games: chance that the game has random plies after the opening.
        noisy_plies: chance of each such ply.
    """
    rng = np.random.default_rng([seed, index])
    return Plan(
        index=index,
        size=size,
        komi=float(rng.choice([7.5, 6.5, 5.5], p=[0.8, 0.1, 0.1])),
        levels=(int(rng.choice(levels)), int(rng.choice(levels))),
        opening=int(rng.integers(2, 13 if size > 13 else 7)),
        noise=noisy_plies * (rng.random() < noisy_games),
        rng=rng,
    )


class Table:
    """Two GNU Go players that are used for one game after another."""

    def __init__(self) -> None:
        self._programs: list[GtpProcess] = []
        self._size = 0

    def close(self) -> None:
        """Ends the programs; the next game starts new ones."""
        for program in self._programs:
            program.close()
        self._programs = []

    def _begin(self, plan: Plan) -> list[GtpProcess]:
        """Makes the programs forget the last game; one is enough for equal levels."""
        while len(self._programs) < 2:
            command = gnugo_command(level=plan.levels[0])
            self._programs.append(GtpProcess(command, timeout=SECONDS_PER_MOVE))
        self._size = plan.size
        players = self._programs[: len(set(plan.levels))]
        for program, level in zip(players, plan.levels, strict=False):
            program.send(f"boardsize {plan.size}")
            program.send("clear_board")
            # Without this a game would depend on the games before it.
            program.send("clear_cache")
            program.send(f"komi {plan.komi}")
            program.send(f"level {level}")
            program.send(f"set_random_seed {int(plan.rng.integers(1, 2**31))}")
        return players

    def _points(self, command: str) -> list[int]:
        words = self._programs[0].send(command).split()
        return [from_vertex(word, self._size) for word in words]

    def stones(self) -> np.ndarray:
        """The board, int8 [N * N], +1 Black, -1 White."""
        stones = np.zeros(self._size**2, np.int8)
        stones[self._points("list_stones black")] = 1
        stones[self._points("list_stones white")] = -1
        return stones

    def _random_point(self, ply: int, rng: np.random.Generator) -> int | None:
        colour, sign = ("white", -1) if ply % 2 else ("black", 1)
        legal = set(self._points(f"all_legal {colour}"))
        choice = sensible_points(legal, sign * self.stones(), self._size)
        return int(rng.choice(choice)) if choice else None

    def play(self, plan: Plan) -> str | None:
        """Plays one game and returns it as one line of SGF; None if it does not end.

        Raises:
            GtpError, GtpProcessError: a program failed.
        """
        players = self._begin(plan)
        size, end = plan.size, plan.size**2
        moves: list[int] = []
        random_plies: list[int] = []
        while moves[-2:] != [end, end]:
            ply = len(moves)
            if ply > 4 * end:
                return None
            colour, mover = ("white", players[-1]) if ply % 2 else ("black", players[0])
            # Late random moves would spoil the score rather than teach anything.
            noisy = ply < 0.7 * end and end not in moves[-1:]
            drawn = ply < plan.opening or (noisy and plan.rng.random() < plan.noise)
            point = self._random_point(ply, plan.rng) if drawn else None
            if point is None:
                point = from_vertex(mover.send(f"genmove {colour}"), size)
                others = [player for player in players if player is not mover]
            else:
                random_plies.append(ply + 1)
                others = players
            for player in others:
                player.send(f"play {colour} {to_vertex(point, size)}")
            moves.append(point)
        result = result_text(area_margin(self.stones()) - plan.komi)
        gnugo_result = players[0].send("final_score")
        return to_sgf(plan, moves, random_plies, result, gnugo_result)


def result_text(margin: float) -> str:
    """SGF result of a margin seen by Black, such as "W+3.5"."""
    return "0" if margin == 0 else f"{'B' if margin > 0 else 'W'}+{abs(margin):.1f}"


def to_sgf(
    plan: Plan,
    moves: Sequence[int],
    random_plies: Sequence[int],
    result: str,
    gnugo_result: str,
) -> str:
    """One line of SGF; a score of GNU Go's own that differs goes into the comment."""
    comment = "random: " + " ".join(map(str, random_plies))
    if gnugo_result != result:
        comment += f"; GNU Go says {gnugo_result}"
    letters = "abcdefghijklmnopqrstuvwxyz"
    black, white = plan.levels
    nodes = "".join(
        f";{'BW'[ply % 2]}[{letters[p % plan.size]}{letters[p // plan.size]}]"
        if p < plan.size**2
        else f";{'BW'[ply % 2]}[]"
        for ply, p in enumerate(moves)
    )
    return (
        f"(;GM[1]FF[4]SZ[{plan.size}]KM[{plan.komi}]RU[Chinese]GN[{plan.index}]"
        f"PB[GNU Go 3.8 level {black}]PW[GNU Go 3.8 level {white}]"
        f"RE[{result}]C[{comment}]{nodes})"
    )


def moves_of(line: str, size: int) -> list[int]:
    """The moves of a game written by `to_sgf`, as points."""
    return [
        (ord(xy[1]) - 97) * size + ord(xy[0]) - 97 if xy else size * size
        for xy in re.findall(r";[BW]\[(\w*)\]", line)
    ]
