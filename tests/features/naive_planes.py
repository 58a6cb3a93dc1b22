"""The 49 planes from their definitions: sets of points, plain Python, no hurry.

Everything about the rules comes from the oracle; ages come from a diary of the
moves, and self-atari, liberties and captures from a board on which the move has
been played.
"""

import oracle
from oracle.ladders import ladder_captures, ladder_escapes


class Diary:
    """A game of the oracle that remembers when each stone was placed."""

    def __init__(self, game):
        self.game = game
        self.ply = 0
        self.placed = {}

    def play(self, action):
        before = list(self.game.stones)
        self.game.play(action)
        self.ply += 1
        after = self.game.stones
        for point, stone in enumerate(after):
            if stone == 0:
                self.placed.pop(point, None)
            elif before[point] == 0:
                self.placed[point] = self.ply

    def age(self, point):
        """1 for the last move's stone; None for a set-up stone."""
        if point not in self.placed:
            return None
        return self.ply - self.placed[point] + 1


def is_true_eye(game, point):
    size, mine = game.size, game.to_play
    row, column = divmod(point, size)
    if game.stones[point] != 0:
        return False
    if any(game.stones[q] != mine for q in game.neighbours[point]):
        return False
    corners = [(row + r, column + c) for r in (-1, 1) for c in (-1, 1)]
    inside = [(r, c) for r, c in corners if 0 <= r < size and 0 <= c < size]
    enemies = sum(game.stones[r * size + c] == -mine for r, c in inside)
    return enemies <= (1 if len(inside) == 4 else 0)


def after(game, point):
    """Stones captured, own chain and its liberties after a legal move."""
    effect = game.effect(point)
    if effect.suicide:
        return 0, effect.chain, frozenset()
    board = list(game.stones)
    board[point] = game.to_play
    for stone in effect.captured:
        board[stone] = 0
    chain = oracle.engine.chains_of(board, game.neighbours)[point]
    return len(effect.captured), chain.stones, chain.liberties


def _counted(point_planes, first, value, lowest):
    if value >= lowest:
        point_planes.add(first + min(value - lowest, 7))


def stone_planes(diary, point):
    """Age and liberties of a stone."""
    mine, age = set(), diary.age(point)
    _counted(mine, 4, 8 if age is None else age, 1)
    _counted(mine, 12, len(diary.game.chain_at[point].liberties), 1)
    return mine


def move_planes(game, point):
    """What a legal move captures, leaves in atari, and has as liberties."""
    mine = set()
    captured, chain, liberties = after(game, point)
    _counted(mine, 20, captured, 0)
    if len(liberties) == 1:
        _counted(mine, 28, len(chain), 1)
    _counted(mine, 36, len(liberties), 1)
    return mine if is_true_eye(game, point) else mine | {46}


def planes(diary, *, with_ladders=True, max_positions=20_000):
    """For every point the set of its planes that are 1."""
    game = diary.game
    result = []
    legal = game.legal_actions()
    for point, stone in enumerate(game.stones):
        mine = {3, {game.to_play: 0, -game.to_play: 1, 0: 2}[stone]}
        if game.to_play == 1:
            mine.add(48)
        if stone:
            mine |= stone_planes(diary, point)
        elif legal[point]:
            mine |= move_planes(game, point)
        result.append(mine)
    if with_ladders and not game.is_over:
        for point in ladder_captures(game, max_positions=max_positions):
            result[point].add(44)
        for point in ladder_escapes(game, max_positions=max_positions):
            result[point].add(45)
    return result
