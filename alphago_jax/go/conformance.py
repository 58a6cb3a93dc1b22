"""A test that any Go engine with this interface can run on itself.

    from alphago_jax import go
    from alphago_jax.go import conformance
    conformance.check(go)

Random games are played beside a plain Python board that knows nothing but the rules
(two dozen lines of flood fill and a list of past boards), and every fact is compared
at every ply. The games prefer captures and refilling, so that ko and superko occur.
"""

import random
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from alphago_jax.go.rules import Rules

# Shorter than the move limit of any engine in use.
_MAX_PLIES_PER_POINT = 2


class Engine(Protocol):
    """What an engine must offer; `alphago_jax.go` itself is one.

    States are unbatched and must not change when a move is played on them. `action`
    counts row-major from the top-left, N² passes. `score` may be absent.
    """

    def init(self, size: int, *, rules: Rules) -> Any:
        """The empty board, Black to play."""
        ...

    def step(self, state: Any, action: Any) -> Any:
        """The state after a legal action; a finished game stays as it is."""
        ...

    def legal_actions(self, state: Any) -> Any:
        """Mask [N² + 1], bool; all False when the game is over."""
        ...

    def stones(self, state: Any) -> Any:
        """[N, N], +1 Black, −1 White, 0 empty."""
        ...

    def to_play(self, state: Any) -> Any:
        """+1 or −1."""
        ...

    def is_over(self, state: Any) -> Any:
        """Whether two passes or a cycle under simple ko ended it.

        A move limit must not be below 2 N².
        """
        ...


class _PlainGame:
    """The rules of Go, slowly: boards are tuples, groups are searched anew."""

    def __init__(self, size: int, rules: Rules) -> None:
        self.size, self.rules = size, rules
        self.board: tuple[int, ...] = (0,) * (size * size)
        self.to_play = 1
        self.passes = 0
        self.ko: int | None = None
        self.seen: list[tuple[tuple[int, ...], int]] = [(self.board, 1)]

    def _beside(self, point: int) -> list[int]:
        row, column = divmod(point, self.size)
        beside = [
            (row - 1, column),
            (row, column - 1),
            (row, column + 1),
            (row + 1, column),
        ]
        inside = range(self.size)
        return [r * self.size + c for r, c in beside if r in inside and c in inside]

    def _group(self, board: Sequence[int], point: int) -> tuple[set[int], set[int]]:
        """The connected points of equal colour, and the points around them."""
        group, around, frontier = {point}, set(), [point]
        while frontier:
            for q in self._beside(frontier.pop()):
                if board[q] != board[point]:
                    around.add(q)
                elif q not in group:
                    group.add(q)
                    frontier.append(q)
        return group, around

    def _has_liberty(self, board: Sequence[int], point: int) -> bool:
        return any(board[q] == 0 for q in self._group(board, point)[1])

    def after(self, point: int) -> tuple[tuple[int, ...], int, bool]:
        """The board after a stone, stones captured, and whether it was suicide."""
        board = list(self.board)
        board[point] = self.to_play
        captured: set[int] = set()
        for q in self._beside(point):
            if board[q] == -self.to_play and not self._has_liberty(board, q):
                captured |= self._group(board, q)[0]
        for q in captured:
            board[q] = 0
        suicide = not self._has_liberty(board, point)
        if suicide:
            for q in self._group(board, point)[0]:
                board[q] = 0
        return tuple(board), len(captured), suicide

    def is_legal(self, point: int) -> bool:
        """Whether a stone may be put on a point."""
        if self.board[point] != 0 or point == self.ko:
            return False
        board, _, suicide = self.after(point)
        if suicide and (not self.rules.suicide or board == self.board):
            return False
        if self.rules.ko == "positional":
            return board not in [b for b, _ in self.seen]
        return self.rules.ko == "simple" or (board, -self.to_play) not in self.seen

    def legal_actions(self) -> list[bool]:
        """As the engine's."""
        if self.is_over:
            return [False] * (len(self.board) + 1)
        return [*map(self.is_legal, range(len(self.board))), True]

    @property
    def is_over(self) -> bool:
        """Two passes, or the third time of a board and player under simple ko."""
        cycle = self.rules.ko == "simple" and self.seen.count(self.seen[-1]) >= 3
        return self.passes >= 2 or cycle

    def play(self, action: int) -> None:
        """Plays a legal action."""
        self.ko = None
        if action == len(self.board):
            self.passes += 1
        else:
            self.passes = 0
            before = self.board
            self.board, captured, _ = self.after(action)
            group, around = self._group(self.board, action)
            open_points = [q for q in around if self.board[q] == 0]
            if captured == 1 and len(group) == 1 and len(open_points) == 1:
                (self.ko,) = [q for q in open_points if before[q] != 0] or [None]
        self.to_play = -self.to_play
        self.seen.append((self.board, self.to_play))

    def area_margin(self) -> float:
        """Black's area minus White's and komi."""
        margin = -self.rules.komi
        for point, stone in enumerate(self.board):
            owner = {stone}
            if stone == 0:
                owner = {self.board[q] for q in self._group(self.board, point)[1]}
            margin += owner.pop() if len(owner) == 1 else 0
        return margin

    def draw(self) -> str:
        """The board as text."""
        symbols = ["X" if s > 0 else "O" if s < 0 else "." for s in self.board]
        rows = [symbols[k : k + self.size] for k in range(0, len(symbols), self.size)]
        return "\n".join(" ".join(row) for row in rows)


def check(
    engine: Engine,
    sizes: Sequence[int] = (3, 5, 7),
    seed: int = 0,
    *,
    rules: Rules | None = None,
    games: int = 4,
) -> int:
    """Plays random games on an engine and on a plain board and compares them.

    Args:
      engine: a module or object, see `Engine`.
      sizes: board sides.
      seed: names the games.
      rules: handed to the engine's `init`; Tromp-Taylor by default. Only ko, suicide
        and komi are looked at, the score is an area score.
      games: games on each board.

    Returns:
      The number of actions compared.

    Raises:
      AssertionError: at the first difference, with the board drawn.
    """
    rules = Rules.tromp_taylor() if rules is None else rules
    compared = 0
    for size in sizes:
        for number in range(games):
            rng = random.Random(f"{seed} {size} {number}")
            compared += _play_one(engine, _PlainGame(size, rules), rng)
    return compared


def _play_one(engine: Engine, plain: _PlainGame, rng: random.Random) -> int:
    moves: list[int] = []
    state = engine.init(plain.size, rules=plain.rules)
    _compare(engine, state, plain, moves)
    max_plies = _MAX_PLIES_PER_POINT * len(plain.board) - 1
    while not plain.is_over and len(moves) < max_plies:
        before, old_board = state, np.array(engine.stones(state))
        action = _choose(plain, rng)
        state = engine.step(state, action)
        plain.play(action)
        moves.append(action)
        _compare(engine, state, plain, moves)
        _require(
            np.array_equal(engine.stones(before), old_board),
            "step changed the state it was given",
            plain,
            moves,
        )
    if plain.is_over:
        _compare_end(engine, state, plain, moves)
    return len(moves)


def _choose(plain: _PlainGame, rng: random.Random) -> int:
    legal = [p for p, ok in enumerate(plain.legal_actions()[:-1]) if ok]
    pass_rate = 0.3 if plain.passes else 0.04
    if not legal or rng.random() < pass_rate:
        return len(plain.board)
    captures = [p for p in legal if plain.after(p)[1]]
    return rng.choice(captures if captures and rng.random() < 0.5 else legal)


def _require(holds: bool, problem: str, plain: _PlainGame, moves: list[int]) -> None:
    if not holds:
        raise AssertionError(
            f"{problem}\n{plain.size}×{plain.size}, {plain.rules}\n"
            f"moves {moves}\n{plain.draw()}"
        )


def _compare(engine: Engine, state: Any, plain: _PlainGame, moves: list[int]) -> None:
    board = np.array(plain.board).reshape(plain.size, plain.size)
    found = np.asarray(engine.stones(state))
    _require(np.array_equal(found, board), f"stones differ:\n{found}", plain, moves)
    over = bool(engine.is_over(state))
    _require(over == plain.is_over, f"is_over is {over}", plain, moves)
    if not over:
        colour = int(engine.to_play(state))
        _require(colour == plain.to_play, f"to_play is {colour}", plain, moves)
    mask, wanted = np.asarray(engine.legal_actions(state)), plain.legal_actions()
    _require(mask.shape == (len(wanted),), f"mask has {mask.shape}", plain, moves)
    wrong = np.flatnonzero(mask != np.array(wanted)).tolist()
    _require(not wrong, f"legal_actions is wrong at {wrong}", plain, moves)


def _compare_end(
    engine: Engine, state: Any, plain: _PlainGame, moves: list[int]
) -> None:
    again = engine.step(state, 0)
    same = np.array_equal(engine.stones(again), engine.stones(state))
    _require(same and bool(engine.is_over(again)), "the end moved", plain, moves)
    if plain.passes >= 2 and hasattr(engine, "score"):
        margin = float(engine.score(state).margin)  # type: ignore[attr-defined]
        wanted = plain.area_margin()
        _require(margin == wanted, f"margin {margin}, not {wanted}", plain, moves)
