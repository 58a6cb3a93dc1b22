"""Ladders: drawn positions with their answers, and the oracle's slow reading."""

import functools
import random

import jax
import jax.numpy as jnp
import numpy as np
import oracle
import pytest
from oracle import lockstep
from oracle.ladders import ReadingTooLongError, ladder_captures, ladder_escapes

from alphago_jax import go
from alphago_jax.go import ladders, liberties

SIZE = 9
BATCH = 64

# X is to play; 'c' marks ladder captures, 'e' ladder escapes, 'b' both.
DRAWINGS = {
    "a ladder runs to the edge": """
        . . . . . . . . .
        . . . X . . . . .
        . . X O c . . . .
        . . X . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """,
    "a stone in its way breaks it": """
        . . . . . . . . .
        . . . X . . . . .
        . . X O . . . . .
        . . X . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . O . .
        . . . . . . . . .
        . . . . . . . . .
    """,
    "the runner reaches a stone of its own": """
        . . . . . . . . .
        . . . O . . . . .
        . . O X O . . . .
        . . O e . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . X . .
        . . . . . . . . .
        . . . . . . . . .
    """,
    "running without one is no escape": """
        . . . . . . . . .
        . . . O . . . . .
        . . O X O . . . .
        . . O . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """,
    "capturing a ladder stone is an escape": """
        . X O X . O . . .
        . X e O O . . . .
        . . O . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """,
    "a stone is sacrificed for a snapback": """
        c c O X . . . . .
        O O O X . . . . .
        X X X X . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """,
    "a throw-in leaves one eye": """
        . X O O . O X . .
        . X O X c O X . .
        . X O O O O X . .
        . X X X X X X . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """,
    "one move catches two chains": """
        . . . . . . . . .
        . . . X . . . . .
        . . X O c . . . .
        . . X c O X . . .
        . . . . X . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """,
    "two chains share their liberties": """
        . X O c O X . . .
        . X O c O X . . .
        . . X . X . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """,
    "driven along the edge": """
        . . . . . . . . .
        . . . X O c . . .
        . . . . X . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """,
    "chains in atari around a ko": """
        e O X e . . . . .
        X X O X . . . . .
        X O e O X . . . .
        X O O O X . . . .
        X X X X X . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """,
    "a ko to be taken first": """
        . O X e . . . . .
        O b O X . . . . .
        X O X . . . . . .
        e X . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """,
}


@functools.cache
def _moves(bounds=ladders.DEFAULT_BOUNDS):
    return jax.jit(jax.vmap(lambda state: ladders.moves(state, bounds)))


def moves_of(states, bounds=ladders.DEFAULT_BOUNDS):
    """Captures and escapes of each state as sets of points of the arrays."""
    results = []
    for begin in range(0, len(states), BATCH):
        part = list(states[begin : begin + BATCH])
        part += part[:1] * (BATCH - len(part))
        batch = jax.tree.map(lambda *leaves: jnp.stack(leaves), *part)
        captures, escapes = (np.asarray(v) for v in _moves(bounds)(batch))
        results += [
            (set(np.flatnonzero(c)), set(np.flatnonzero(e)))
            for c, e in zip(captures, escapes, strict=True)
        ]
    return results[: len(states)]


def draw(text, marks):
    rows = text.split()
    return {p for p, mark in enumerate(rows) if mark in marks}


def state_of(text, colours=1):
    """The position of a drawing; colours −1 exchanges the two."""
    board = text
    for mark in "ceb":
        board = board.replace(mark, ".")
    if colours == -1:
        board = board.translate(str.maketrans("XO", "OX"))
    return go.from_diagram(board, rules=go.Rules.chinese(), to_play=colours)


def oracle_of(state):
    """The same position in the oracle, its ko included."""
    size = go.size_of(state)
    stones = np.asarray(go.stones(state)).reshape(-1)
    game = oracle.Oracle(
        size,
        black=np.flatnonzero(stones > 0).tolist(),
        white=np.flatnonzero(stones < 0).tolist(),
        to_play=int(go.to_play(state)),
        handicap=0,
    )
    ko_point = int(state.position.ko_point)
    game.ko_point = ko_point if ko_point >= 0 else None
    return game


def test_drawn_ladders():
    expected = [(draw(t, "cb"), draw(t, "eb")) for t in DRAWINGS.values()]
    assert sum(bool(c) for c, _ in expected) >= 6
    assert sum(bool(e) for _, e in expected) >= 4
    for colours in (1, -1):
        states = [state_of(text, colours) for text in DRAWINGS.values()]
        for name, found, wanted in zip(
            DRAWINGS, moves_of(states), expected, strict=True
        ):
            assert found == wanted, f"{name}, colours {colours}"


def test_drawings_say_what_the_oracle_says():
    for name, text in DRAWINGS.items():
        game = oracle_of(state_of(text))
        assert ladder_captures(game) == draw(text, "cb"), name
        assert ladder_escapes(game) == draw(text, "eb"), name


def random_states(count, seed):
    """Positions of random games with many short chains, as engine states."""
    states = []
    rng = random.Random(seed)
    choosers = ("capturing", "ko_fighting", "uniform")
    blank = go.init(SIZE, rules=go.Rules.chinese())
    while len(states) < count:
        spec = lockstep.GameSpec(
            SIZE,
            lockstep.Rules("simple", False),
            choosers[len(states) % 3],
            seed=rng.randrange(2**32),
            pass_rate=0.0,
        )
        plies = rng.randrange(15, 90)
        for facts, _ in zip(lockstep.play_game(spec), range(plies), strict=False):
            if facts.is_over:
                break
        else:
            stones = np.array(facts.stones)
            state = go.set_up(
                blank,
                np.flatnonzero(stones > 0),
                np.flatnonzero(stones < 0),
                facts.to_play,
            )
            ko_point = -1 if facts.ko_point is None else facts.ko_point
            states.append(
                state.replace(
                    position=state.position.replace(ko_point=jnp.int16(ko_point))
                )
            )
    return states


def compare_with_oracle(states, bounds=ladders.DEFAULT_BOUNDS):
    """Compares; returns how many positions, captures and escapes there were."""
    compared, num_captures, num_escapes = 0, 0, 0
    for state, (captures, escapes) in zip(
        states, moves_of(states, bounds), strict=True
    ):
        game = oracle_of(state)
        try:
            wanted = ladder_captures(game), ladder_escapes(game)
        except ReadingTooLongError:
            continue
        assert (captures, escapes) == wanted, oracle.draw(game.stones)
        compared += 1
        num_captures += len(captures)
        num_escapes += len(escapes)
    return compared, num_captures, num_escapes


def test_random_positions_equal_the_oracle():
    compared, num_captures, num_escapes = compare_with_oracle(random_states(192, 1))
    assert compared >= 180 and num_captures >= 100 and num_escapes >= 100


@pytest.mark.slow
def test_many_random_positions_equal_the_oracle():
    """Equal with room for every choice; the default bounds miss one in 1,000 at most.

    What the bounds change is "caught" into "free", never the other way.
    """
    states = random_states(3000, 2)
    wide = ladders.Bounds(num_moves=20_000, num_branches=60)
    compared, num_captures, num_escapes = compare_with_oracle(states, wide)
    assert compared >= 2900 and num_captures >= 1500 and num_escapes >= 1500
    pairs = zip(moves_of(states), moves_of(states, wide), strict=True)
    different = 0
    for (captures, escapes), (all_captures, true_escapes) in pairs:
        assert captures <= all_captures and escapes >= true_escapes
        different += (captures, escapes) != (all_captures, true_escapes)
    assert different <= 3


def test_bounds_turn_caught_into_free():
    states = [state_of(text) for text in DRAWINGS.values()]
    edge = list(DRAWINGS).index("a ladder runs to the edge")
    bounds = ladders.Bounds(num_moves=3, num_plies=20, num_branches=1)
    # A batch this small has one loop only, which halves the compilation.
    states = states[edge : edge + 5]
    batch = jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)
    bounded = np.asarray(_moves(bounds)(batch)).reshape(2, 5, -1)
    unbounded = moves_of(states)
    for k, (captures, escapes) in enumerate(unbounded):
        assert set(np.flatnonzero(bounded[0, k])) <= captures
        assert set(np.flatnonzero(bounded[1, k])) >= escapes
    # Three stones do not reach the edge.
    assert unbounded[0][0] and not bounded[0, 0].any()


def test_read_answers_for_chains_of_either_colour():
    """The laddered chains of both players, as later feature sets need them."""
    state = state_of(DRAWINGS["a ladder runs to the edge"])
    chains = state.position.chains
    counts = liberties.count(chains, SIZE).liberties
    prey = ladders.one_cell_each(chains)
    found = jax.jit(ladders.read)(chains, counts, prey, jnp.ones_like(prey))
    cells = np.flatnonzero(found.caught)
    assert [divmod(int(c), SIZE + 1) for c in cells] == [(3, 4)]  # wall row, column
    assert np.flatnonzero(found.captures).tolist() == [3 * (SIZE + 1) + 5]
    assert not found.escapes.any()
