"""Scores and pass-alive sets: hand-counted boards, bonuses, the area map."""

import functools
import random

import jax
import jax.numpy as jnp
import known_answers as known
import numpy as np
import oracle
import pytest
from oracle import lockstep
from oracle.grid import connected, neighbours_of

from alphago_jax import go
from alphago_jax.go import pass_alive, regions, scoring

N = 7
RULES = [
    go.Rules(ko="simple", suicide=False, scoring=kind, tax=tax, komi=0.0)
    for kind in ("area", "territory")
    for tax in ("none", "seki", "all")
]
SCOPE = go.Scope(territory=True)


@functools.cache
def score_all():
    return jax.jit(jax.vmap(scoring.score))


def stack(states):
    return jax.tree.map(lambda *v: np.stack([np.asarray(x) for x in v]), *states)


def under_all_rules(board):
    board_size, black, white = oracle.parse(board)
    start = go.init(N, rules=RULES[0], board_size=board_size, scope=SCOPE)
    sides = [[p // board_size * N + p % board_size for p in s] for s in (black, white)]
    state = go.set_up(start, *sides, handicap=0)
    return stack([state.replace(rules=r.data(board_size, SCOPE)) for r in RULES])


@pytest.mark.parametrize("case", known.SCORES, ids=lambda case: case.name)
def test_drawn_scores(case):
    states, dead = under_all_rules(case.board), None
    if case.dead is not None:
        grid = np.zeros((N, N), bool)
        for place in case.dead:
            grid[place] = True
        dead = np.broadcast_to(grid, (len(RULES), N, N))
    score = score_all()(states, dead)
    found = np.stack([score.black, score.white], axis=1).tolist()
    assert found == [list(points) for points in case.area + case.territory]
    assert np.array_equal(score.margin, score.black - score.white)


def test_bonuses():
    step, score = jax.jit(go.step), jax.jit(scoring.score)
    base = go.Rules(ko="simple", suicide=False, komi=0.5)
    start = go.init(3, rules=base)
    for bonus, points in (("zero", 0.0), ("n-1", 2.0), ("n", 3.0)):
        rules = base.replace(handicap_bonus=bonus).data(3)
        state = go.set_up(start.replace(rules=rules), black=[0, 2, 8], to_play=-1)
        assert float(score(state).white) == 0.5 + points
    state = start.replace(rules=base.replace(button=True, komi=0.0).data(3))
    assert float(score(state).margin) == 0.0
    for action in (4, 9, 0, 9, 9):
        state = step(state, action)
    assert go.is_over(state) and float(score(state).margin) == 9 - 0.5


def test_more_handicap_stones_than_a_byte_holds():
    rules = go.Rules(komi=0.5, handicap_bonus="n")
    stones = [p for p in range(17 * 17) if p % 17 not in (5, 11)]
    state = go.set_up(go.init(17, rules=rules), black=stones, to_play=-1)
    assert len(stones) == 255 and int(state.handicap) == 255
    score = jax.jit(scoring.score)(state)
    assert (float(score.black), float(score.white)) == (17 * 17, 255.5)


@pytest.mark.parametrize(("komi", "winner"), [(8.5, 1.0), (9.0, 0.0), (9.5, -1.0)])
def test_outcome(komi, winner):
    state = go.init(3, rules=go.Rules(ko="simple", suicide=False, komi=komi))
    state = go.set_up(state, black=[4])
    outcome = jax.jit(scoring.outcome)
    result = outcome(state)
    assert result.dtype == jnp.float32 and float(result) == winner
    no_result = state.position.replace(status=jnp.int8(2))
    assert float(outcome(state.replace(position=no_result))) == 0.0


def random_boards(count, size):
    """Boards late in random games, where chains may be alive."""
    rng = random.Random(1)
    while count:
        game = oracle.Oracle(size)
        for _ in range(rng.randrange(size * size // 2, 2 * size * size)):
            if game.is_over:
                break
            game.play(lockstep.sensible(game, game.legal_actions(), rng))
        count -= 1
        yield tuple(game.stones)


def expected_area(stones, neighbours, suicide):
    """KataGo's area map, from Benson's sets of the oracle."""
    owner = {}
    for colour in (1, -1):
        alive, _ = oracle.pass_alive(stones, neighbours, colour, suicide=suicide)
        own = {p for p, s in enumerate(stones) if s == colour}
        beside = {q for p in own for q in neighbours[p]}
        free = [s != colour for s in stones]
        weak = []
        for p in alive:
            owner.setdefault(p, colour)
        for start in (p for p, s in enumerate(stones) if s == 0):
            region = connected(start, free, neighbours)
            border = {q for p in region for q in neighbours[p]} & own
            empty = all(stones[p] == 0 for p in region)
            small = len(region - beside) <= 1
            for p in region:
                if own and border <= alive and (small or empty):
                    owner.setdefault(p, colour)
                elif own and empty:
                    weak.append(p)
        for p in weak:
            owner.setdefault(p, colour)
    return [owner.get(p, s) for p, s in enumerate(stones)]


def test_pass_alive_and_area():
    size, boards = N, list(random_boards(60, N))
    start = go.init(size, rules=RULES[0], scope=SCOPE)
    states = []
    for board in boards:
        points = np.array(board)
        sides = (np.flatnonzero(points == c) for c in (1, -1))
        states.append(go.set_up(start, *sides, handicap=0))
    states, neighbours = stack(states), neighbours_of(size)

    @jax.jit
    def both(states, suicide):
        return jax.vmap(
            lambda s: (
                pass_alive.pass_alive(s, suicide=suicide),
                pass_alive.area(s, suicide=suicide),
            )
        )(states)

    found_alive = 0
    for suicide in (False, True):
        sets, areas = jax.tree.map(np.asarray, both(states, suicide))
        for k, board in enumerate(boards):
            for c, colour in enumerate((1, -1)):
                alive, territory = oracle.pass_alive(
                    board, neighbours, colour, suicide=suicide
                )
                assert set(np.flatnonzero(sets.stones[k, c])) == alive
                assert set(np.flatnonzero(sets.territory[k, c])) == territory
                found_alive += bool(alive)
            expected = expected_area(board, neighbours, suicide)
            assert areas[k].reshape(-1).tolist() == expected
    assert found_alive >= 20


@pytest.mark.parametrize("size", [2, 5, 19, 25])
def test_regions_against_a_search(size):
    rng = np.random.default_rng(size)
    neighbours = neighbours_of(size)
    label_all = jax.jit(jax.vmap(regions.components))
    flood_all = jax.jit(jax.vmap(regions.flood))
    masks = rng.random((8, size, size)) < np.linspace(0.3, 0.9, 8)[:, None, None]
    seeds = rng.random((8, size, size)) < 0.05
    preferred = rng.random((8, size, size)) < 0.2
    packed = regions.pack(jnp.asarray(masks))
    labels = np.asarray(label_all(packed, regions.pack(jnp.asarray(preferred & masks))))
    filled = np.asarray(flood_all(regions.pack(jnp.asarray(seeds)), packed))
    for k in range(8):
        mask, reached = masks[k].reshape(-1), set()
        for point in np.flatnonzero(mask):
            part = connected(int(point), mask, neighbours)
            liked = [p for p in part if preferred[k].reshape(-1)[p]]
            assert labels[k].reshape(-1)[point] == min(liked or part)
            if seeds[k].reshape(-1)[point]:
                reached |= part
        bits = (filled[k][:, None] >> np.arange(size)) & 1
        assert set(np.flatnonzero(bits)) == reached
        assert np.all(labels[k][~masks[k]] == -1)
