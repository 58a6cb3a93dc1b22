"""The board as a graph: colours, neighbours, connected sets, chains; drawn boards."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

EMPTY, BLACK, WHITE = 0, +1, -1


def neighbours_of(size: int) -> list[tuple[int, ...]]:
    """The points next to each point of a board, along the lines."""
    result = []
    for row in range(size):
        for column in range(size):
            around = (
                (row - 1, column),
                (row + 1, column),
                (row, column - 1),
                (row, column + 1),
            )
            result.append(
                tuple(
                    r * size + c for r, c in around if 0 <= r < size and 0 <= c < size
                )
            )
    return result


def connected(
    start: int,
    wanted: Sequence[bool],
    neighbours: Sequence[Sequence[int]],
) -> frozenset[int]:
    """`start` and all points that can be reached from it over wanted points."""
    found, frontier = {start}, [start]
    while frontier:
        for point in neighbours[frontier.pop()]:
            if wanted[point] and point not in found:
                found.add(point)
                frontier.append(point)
    return frozenset(found)


@dataclasses.dataclass(frozen=True)
class Chain:
    """A chain: its colour, its stones and its liberties."""

    colour: int
    stones: frozenset[int]
    liberties: frozenset[int]


def chains_of(
    stones: Sequence[int], neighbours: Sequence[Sequence[int]]
) -> list[Chain | None]:
    """For every point the chain on it, None where it is empty.

    The stones of one chain share one `Chain` object.
    """
    chain_at: list[Chain | None] = [None] * len(stones)
    for colour in (BLACK, WHITE):
        mine = [stone == colour for stone in stones]
        for point, is_mine in enumerate(mine):
            if is_mine and chain_at[point] is None:
                members = connected(point, mine, neighbours)
                liberties = frozenset(
                    q for p in members for q in neighbours[p] if stones[q] == EMPTY
                )
                chain = Chain(colour, members, liberties)
                for member in members:
                    chain_at[member] = chain
    return chain_at


def parse(drawing: str) -> tuple[int, list[int], list[int]]:
    """Reads a drawn board: 'X' Black, 'O' White, '.' empty, spaces ignored.

    Returns:
        The side of the board, Black's points and White's points.
    """
    rows = ["".join(line.split()) for line in drawing.strip().splitlines()]
    size = len(rows)
    if any(len(row) != size for row in rows):
        raise ValueError("a drawn board must be square")
    text = "".join(rows)
    if set(text) - set("XO."):
        raise ValueError("a drawn board has 'X', 'O' and '.' only")
    black = [point for point, mark in enumerate(text) if mark == "X"]
    white = [point for point, mark in enumerate(text) if mark == "O"]
    return size, black, white


def draw(stones: Sequence[int]) -> str:
    """Draws a board as `parse` reads it, one row a line."""
    size = round(len(stones) ** 0.5)
    marks = [{EMPTY: ".", BLACK: "X", WHITE: "O"}[stone] for stone in stones]
    rows = [marks[start : start + size] for start in range(0, size * size, size)]
    return "\n".join(" ".join(row) for row in rows)
