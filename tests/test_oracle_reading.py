"""The oracle's pass-alive stones and ladders against brute force."""

import copy
import random
from collections import Counter

import known_answers as known
import oracle
import pytest
from oracle import BLACK, WHITE, Oracle, lockstep
from oracle.grid import chains_of, neighbours_of


def reachable_alone(stones, colour, suicide):
    """Every board that a colour can make if the other side always passes."""
    size = round(len(stones) ** 0.5)
    seen, frontier = {stones}, [stones]
    while frontier:
        now = frontier.pop()
        sides = {c: [p for p, s in enumerate(now) if s == c] for c in (BLACK, WHITE)}
        game = Oracle(
            size, black=sides[1], white=sides[-1], to_play=colour, suicide=suicide
        )
        for point in range(game.pass_action):
            if game.why_illegal(point) is None:
                after = list(now)
                effect = game.effect(point)
                after[point] = colour
                for p in effect.chain if effect.suicide else effect.captured:
                    after[p] = 0
                if tuple(after) not in seen:
                    seen.add(tuple(after))
                    frontier.append(tuple(after))
    return seen


def dense_positions(size, count, seed):
    """Random legal positions with few empty points, where chains may be alive."""
    rng, neighbours = random.Random(seed), neighbours_of(size)
    while count:
        black = rng.choice((5, 8, 12))
        marks = [BLACK] * black + [WHITE] * 2 + [0] * rng.choice((2, 3))
        stones = tuple(rng.choice(marks) for _ in range(size * size))
        chains = chains_of(stones, neighbours)
        if BLACK in stones and all(c is None or c.liberties for c in chains):
            count -= 1
            yield stones


@pytest.mark.parametrize("suicide", [False, True])
def test_pass_alive_is_what_brute_force_cannot_capture(suicide):
    """Benson's theorem: the stones no sequence of opposing moves alone captures."""
    neighbours, found = neighbours_of(3), 0
    for stones in dense_positions(3, 30 if suicide else 100, seed=1):
        alive, territory = oracle.pass_alive(stones, neighbours, BLACK, suicide=suicide)
        boards = reachable_alone(stones, WHITE, suicide)
        safe = {p for p in range(9) if all(b[p] == BLACK for b in boards)}
        assert alive == safe
        for board in boards:
            living, _ = oracle.pass_alive(board, neighbours, WHITE, suicide=suicide)
            assert not living & territory
        found += bool(alive)
    assert found >= 8


@pytest.mark.parametrize("case", known.LADDERS, ids=lambda case: case.name)
def test_drawn_ladders(case):
    size, black, white = oracle.parse(case.board)
    game = Oracle(size, black=black, white=white, to_play=case.to_play)
    for found, expected in (
        (oracle.ladder_captures(game), case.captures),
        (oracle.ladder_escapes(game), case.escapes),
    ):
        assert {divmod(point, game.size) for point in found} == expected


def after(game, action):
    """A new game at the position after an action, simple ko ban included."""
    new = copy.copy(game)
    new.stones, new.captures = list(game.stones), dict(game.captures)
    new.moves, new.positions, new.situations = [], set(), Counter()
    new.passes_in_a_row = 0
    new.play(action)
    return new


def is_caught(game, prey, attacker, line=()):
    """As the oracle reads, but the defender may play anywhere, or pass."""
    chain, here = game.chain_at[prey], (game.position, game.to_play, game.ko_point)
    if here in line:
        return False
    actions = [a for a, legal in enumerate(game.legal_actions()) if legal]
    if game.to_play == attacker:
        if len(chain.liberties) != 2:
            return len(chain.liberties) < 2
        actions = [a for a in actions if a in chain.liberties]
        return any(
            is_caught(after(game, a), prey, attacker, (*line, here)) for a in actions
        )
    if len(chain.liberties) > 1:
        return False
    return all(
        is_caught(after(game, a), prey, attacker, (*line, here)) for a in actions
    )


def ladder_moves_by_every_defence(game):
    """The captures and escapes of the player to move, by `is_caught`."""
    captures, escapes, mover = set(), set(), game.to_play
    for chain in {c for c in game.chain_at if c and len(c.liberties) <= 2}:
        prey, in_atari = min(chain.stones), len(chain.liberties) == 1
        if in_atari == (chain.colour == -mover):
            continue  # the mover saves chains in atari and hunts those that are not
        for action in (p for p in range(game.pass_action) if game.legal_actions()[p]):
            caught = is_caught(after(game, action), prey, -chain.colour)
            if in_atari and not caught:
                escapes.add(action)
            elif not in_atari and caught and action in chain.liberties:
                captures.add(action)
    return captures, escapes


def test_ladders_against_every_defence():
    """No other move of the defender helps than those that the oracle reads."""
    found = {"captures": 0, "escapes": 0}
    rng = random.Random(5)
    for _ in range(150):
        game = Oracle(5)
        for _ in range(rng.randrange(8, 24)):
            game.play(lockstep.sensible(game, game.legal_actions(), rng))
            if game.passes_in_a_row:
                break
        captures, escapes = ladder_moves_by_every_defence(game)
        assert oracle.ladder_captures(game) == captures
        assert oracle.ladder_escapes(game) == escapes
        found["captures"] += len(captures)
        found["escapes"] += len(escapes)
    assert found["captures"] > 20 and found["escapes"] > 20
