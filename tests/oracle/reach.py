"""The logical rules of Tromp and Taylor, as one would write them down.

A second opinion on the oracle for small boards: no chains and no liberties, only
"a point *reaches* a colour if a path over points of its own colour leads to it".
Boards are strings of '.', 'X' and 'O'. A game is the list of its boards, one for
the set-up and one for each move, so that every rule can look back.
"""

OTHER = {"X": "O", "O": "X"}


def reaches_empty(board: str, size: int, point: int) -> bool:
    """Whether a path over the point's own colour leads to an empty point."""
    path, grew = {point}, True
    while grew:
        beside = {q for p in path for q in range(len(board)) if _touch(p, q, size)}
        if any(board[q] == "." for q in beside):
            return True
        more = {q for q in beside if board[q] == board[point]} - path
        path, grew = path | more, bool(more)
    return False


def _touch(p: int, q: int, size: int) -> bool:
    return abs(p // size - q // size) + abs(p % size - q % size) == 1


def clear(board: str, size: int, colour: str) -> str:
    """Takes off every stone of a colour that does not reach an empty point."""
    return "".join(
        "." if mark == colour and not reaches_empty(board, size, p) else mark
        for p, mark in enumerate(board)
    )


def next_boards(
    boards: list[str], size: int, colour: str, ko: str, suicide: bool
) -> list[str]:
    """The boards that the legal moves of a colour make, the pass first.

    `boards` has the set-up (X to move) and one board for each move so far.
    """
    last, result = boards[-1], [boards[-1]]
    for point in (p for p, mark in enumerate(last) if mark == "."):
        put = last[:point] + colour + last[point + 1 :]
        after = clear(put, size, OTHER[colour])
        final = clear(after, size, colour)
        if final == last or (final != after and not suicide):
            continue  # a lone stone's suicide changes nothing; it is never legal
        # The boards after which the same player is to move have the parity of the
        # next one. The board before the opponent's move is what simple ko bans.
        banned = {
            "simple": boards[-2:-1] if boards[-2:-1] != [last] else [],
            "positional": boards,
            "situational": boards[-2::-2],
        }[ko]
        if final not in banned:
            result.append(final)
    return result


def count_sequences(size: int, depth: int, ko: str, suicide: bool) -> list[int]:
    """How many sequences of 1, 2, ... `depth` legal actions start a game."""
    games, counts, colour = [["." * size * size]], [], "X"
    for _ in range(depth):
        games = [
            [*game, board]
            for game in games
            if not is_over(game, ko)
            for board in next_boards(game, size, colour, ko, suicide)
        ]
        counts.append(len(games))
        colour = OTHER[colour]
    return counts


def is_over(boards: list[str], ko: str) -> bool:
    """Two passes, or, under simple ko, the third time of one board and player."""
    if len(boards) >= 3 and boards[-1] == boards[-2] == boards[-3]:
        return True
    return ko == "simple" and boards[::-2].count(boards[-1]) >= 3
