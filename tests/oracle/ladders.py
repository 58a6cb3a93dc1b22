"""Ladders, read by their definition: slowly, and without any pruning.

A *ladder* is a sequence in which an attacker keeps a chain (the prey) at one or two
liberties with every move. Reading it from the attacker's or the defender's turn:

* Attacker to move. Prey with one liberty or none: caught. With three or more: free.
  With two, the attacker tries a stone on each of them; the prey is caught if one of
  the two moves is legal and leaves the prey caught with the defender to move.
* Defender to move, prey with one liberty. The defender tries every move that can
  add liberties: a stone on the prey's liberty, and the capture of any attacking
  chain in atari that touches the prey. The prey is free if one of them is legal and
  leaves it free with the attacker to move (so with three liberties it is free at
  once, with one it is caught). If it has two liberties or more already on the
  defender's turn, it is free.

Inside the reading, ko is simple ko (the ban of the real position holds for the first
move) and suicide is illegal, whatever the rules of the game. A line that comes back
to a position already on the line, with the same player to move and the same ban,
does not catch the prey.

The two questions of the move planes (AlphaGo 2016, Extended Data Table 2):

* `ladder_captures`: the legal moves of the player to move on a liberty of an
  opposing chain with exactly two liberties, after which that chain is caught.
* `ladder_escapes`: the legal moves of the player to move that add liberties (as the
  defender's moves above) to an own chain in atari, after which that chain is free.
"""

from __future__ import annotations

import dataclasses

from .engine import Oracle
from .grid import EMPTY, connected


class ReadingTooLongError(Exception):
    """The reading was given up after too many positions."""


@dataclasses.dataclass(frozen=True)
class _Board:
    """A position inside the reading: nothing but stones, ko ban and mover."""

    stones: tuple[int, ...]
    ko_point: int | None
    to_play: int


class _Reader:
    def __init__(self, neighbours: list[tuple[int, ...]], max_positions: int) -> None:
        self.neighbours = neighbours
        self.left = max_positions

    def chain(self, stones, point: int) -> tuple[frozenset[int], set[int]]:
        """The chain on a point and its liberties."""
        colour = stones[point]
        members = connected(point, [s == colour for s in stones], self.neighbours)
        around = {q for p in members for q in self.neighbours[p]}
        return members, {p for p in around if stones[p] == EMPTY}

    def play(self, board: _Board, point: int) -> _Board | None:
        """The board after a move, or None if the move is illegal."""
        if board.stones[point] != EMPTY or point == board.ko_point:
            return None
        mine, stones = board.to_play, list(board.stones)
        stones[point] = mine
        captured: set[int] = set()
        for neighbour in self.neighbours[point]:
            if stones[neighbour] == -mine:
                members, liberties = self.chain(stones, neighbour)
                captured |= members if not liberties else set()
        for stone in captured:
            stones[stone] = EMPTY
        members, liberties = self.chain(stones, point)
        if not liberties:
            return None
        is_ko = len(captured) == len(members) == len(liberties) == 1
        return _Board(tuple(stones), captured.pop() if is_ko else None, -mine)

    def rescues(self, board: _Board, prey: int) -> set[int]:
        """The defender's moves: the prey's liberty, and captures that touch it."""
        members, liberties = self.chain(board.stones, prey)
        moves = set(liberties)
        for point in {q for p in members for q in self.neighbours[p]}:
            if board.stones[point] == -board.stones[prey]:
                _, their_liberties = self.chain(board.stones, point)
                if len(their_liberties) == 1:
                    moves |= their_liberties
        return moves

    def is_caught(self, board: _Board, prey: int, line: frozenset[_Board]) -> bool:
        """Whether the chain on `prey` is caught, whoever is to move."""
        if board in line:
            return False
        if self.left == 0:
            raise ReadingTooLongError
        self.left -= 1
        _, liberties = self.chain(board.stones, prey)
        line = line | {board}
        if board.to_play == -board.stones[prey]:  # the attacker moves
            if len(liberties) != 2:
                return len(liberties) < 2
            after = [self.play(board, p) for p in sorted(liberties)]
            return any(b and self.is_caught(b, prey, line) for b in after)
        if len(liberties) >= 2:
            return False
        after = [self.play(board, p) for p in sorted(self.rescues(board, prey))]
        return not any(b and not self.is_caught(b, prey, line) for b in after)


def _start(game: Oracle, max_positions: int) -> tuple[_Reader, _Board]:
    board = _Board(tuple(game.stones), game.ko_point, game.to_play)
    return _Reader(game.neighbours, max_positions), board


def ladder_captures(game: Oracle, *, max_positions: int = 20_000) -> set[int]:
    """Legal moves that start a working ladder against an opposing chain.

    Raises:
        ReadingTooLongError: more than `max_positions` positions were needed.
    """
    reader, board = _start(game, max_positions)
    legal, found = game.legal_actions(), set()
    for chain in {c for c in game.chain_at if c and c.colour != game.to_play}:
        if len(chain.liberties) == 2:
            for point in chain.liberties:
                after = reader.play(board, point) if legal[point] else None
                if after and reader.is_caught(after, min(chain.stones), frozenset()):
                    found.add(point)
    return found


def ladder_escapes(game: Oracle, *, max_positions: int = 20_000) -> set[int]:
    """Legal moves after which an own chain in atari can no longer be caught.

    Raises:
        ReadingTooLongError: more than `max_positions` positions were needed.
    """
    reader, board = _start(game, max_positions)
    legal, found = game.legal_actions(), set()
    for chain in {c for c in game.chain_at if c and c.colour == game.to_play}:
        if len(chain.liberties) == 1:
            prey = min(chain.stones)
            for point in reader.rescues(board, prey):
                after = reader.play(board, point) if legal[point] else None
                if after and not reader.is_caught(after, prey, frozenset()):
                    found.add(point)
    return found
