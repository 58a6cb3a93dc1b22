"""The engine against known answers, and the laws that every program must keep."""

import functools

import jax
import jax.numpy as jnp
import known_answers as known
import numpy as np
import oracle
import pytest

from alphago_jax import go
from alphago_jax.go import state as state_lib

KO_RULES = ("simple", "positional", "situational")
SCOPE = go.Scope(superko=True, suicide=True)
N = 9  # all drawn boards lie in arrays of this side, so that one program serves all


@functools.cache
def step_all():
    return jax.jit(jax.vmap(go.step))


@functools.cache
def legal_all():
    return jax.jit(jax.vmap(go.legal_actions))


def batched(state, count):
    return jax.tree.map(lambda v: jnp.broadcast_to(v, (count, *v.shape)), state)


def drawn(board, to_play=1, suicide=False, size=N):
    rules = go.Rules(ko="positional", suicide=suicide)
    board_size, black, white = oracle.parse(board)
    start = go.init(size, rules=rules, board_size=board_size, scope=SCOPE)
    points = [
        [p // board_size * size + p % board_size for p in side]
        for side in (black, white)
    ]
    return go.set_up(start, *points, to_play, handicap=0)


def under_all_ko_rules(state):
    """The same game under simple ko, positional and situational superko."""
    states = batched(state, 3)
    return states.replace(rules=states.rules.replace(ko=jnp.arange(3, dtype=jnp.int8)))


def action_at(place, size=N):
    return size * size if place is None else place[0] * size + place[1]


def play_all(states, places):
    count = states.handicap.shape[0]
    for place in places:
        states = step_all()(states, jnp.full(count, action_at(place), jnp.int32))
    return states


@pytest.mark.parametrize("case", known.LEGALITY, ids=lambda case: case.name)
def test_drawn_legality(case):
    states = under_all_ko_rules(drawn(case.board, case.to_play, case.suicide))
    states = play_all(states, case.moves)
    found = np.asarray(legal_all()(states))[:, action_at(case.point)]
    assert found.tolist() == [reason is None for reason in case.reasons]


def test_reasons():
    """The host's exception names the rule that a move breaks."""
    state = drawn(known.KO)
    state = state.replace(rules=state.rules.replace(ko=jnp.int8(0)))
    taken = go.play(state, action_at((1, 2)))
    cases = [
        (taken, (1, 1), "ko"),
        (taken, (0, 1), "occupied"),
        (state, (4, 6), "off board"),
        (go.play(go.play(state, 81), 81), None, "game over"),
        (drawn(known.EYE, -1), (0, 0), "suicide"),
    ]
    superko = drawn(known.SENDING_TWO, -1)
    for place in known.SENDING_TWO_CYCLE[:2]:
        superko = go.play(superko, action_at(place))
    cases.append((superko, (0, 1), "superko"))
    for before, place, reason in cases:
        with pytest.raises(go.IllegalMoveError) as caught:
            go.play(before, action_at(place))
        assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("board", "to_play", "cycle"),
    [
        (known.TRIPLE_KO, 1, known.TRIPLE_KO_CYCLE),
        (known.ETERNAL_LIFE, 1, known.ETERNAL_LIFE_CYCLE),
        (known.SENDING_TWO, -1, known.SENDING_TWO_CYCLE),
    ],
    ids=["triple ko", "eternal life", "sending two, returning one"],
)
def test_no_result_at_the_third_time(board, to_play, cycle):
    start = under_all_ko_rules(drawn(board, to_play))
    start = jax.tree.map(lambda v: v[:1], start)  # simple ko
    once = play_all(start, cycle)
    assert np.array_equal(once.position.chains > 0, start.position.chains > 0)
    almost = play_all(once, cycle[:-1])
    assert not state_lib.is_over(almost)[0]
    done = play_all(almost, cycle[-1:])
    assert state_lib.is_over(done)[0] and state_lib.is_no_result(done)[0]
    assert not np.any(legal_all()(done))


def test_capture_and_suicide_make_prisoners():
    states = batched(drawn(known.SNAPBACK, -1), 3)
    states = play_all(states, [(0, 0), (0, 1), (0, 0)])
    assert states.position.prisoners[0].tolist() == [5, 1]
    states = batched(drawn(known.TWO_STONE_SUICIDE, -1, suicide=True), 3)
    states = play_all(states, [(0, 1)])
    assert states.position.prisoners[0].tolist() == [0, 2]
    board = np.asarray(go.stones(jax.tree.map(lambda v: v[0], states)))
    assert board[0, :3].tolist() == [0, 0, 1]


def reachable_boards(size):
    """Every board that stones of any colours, in any order, can make."""
    chunk, num_points = 256, size * size
    start = go.init(size, rules=go.Rules(ko="simple", suicide=False))

    @jax.jit
    def expand(states, colour):
        position = states.position.replace(
            to_play=jnp.full(chunk, colour, jnp.int8),
            ko_point=jnp.full(chunk, -1, jnp.int16),
            status=jnp.zeros(chunk, jnp.int8),
            move_number=jnp.zeros(chunk, jnp.int16),
        )
        states = states.replace(position=position)
        legal = jax.vmap(go.legal_actions)(states)[:, :-1]
        step = jax.vmap(go.step, in_axes=(None, 0))
        actions = jnp.arange(num_points, dtype=jnp.int32)
        after = jax.vmap(step, in_axes=(0, None))(states, actions)
        boards = jax.vmap(jax.vmap(go.stones))(after)
        digits = boards.astype(jnp.int32).reshape(chunk, num_points, -1) + 1
        return after, legal, digits @ (3 ** jnp.arange(num_points, dtype=jnp.int32))

    empty = (3**num_points - 1) // 2
    seen, frontier = {empty}, batched(start, 1)
    while frontier.handicap.shape[0]:
        found = []
        for first in range(0, frontier.handicap.shape[0], chunk):
            part = jax.tree.map(lambda v, k=first: v[k : k + chunk], frontier)
            count = part.handicap.shape[0]
            part = jax.tree.map(
                lambda v, n=count: np.concatenate([v, np.repeat(v[:1], chunk - n, 0)]),
                part,
            )
            for colour in (1, -1):
                after, legal, codes = expand(part, jnp.int8(colour))
                codes, legal = np.asarray(codes)[:count], np.asarray(legal)[:count]
                after = jax.tree.map(np.asarray, after)
                for k, p in zip(*np.nonzero(legal), strict=True):
                    if int(codes[k, p]) not in seen:
                        seen.add(int(codes[k, p]))
                        found.append(jax.tree.map(lambda v, i=(k, p): v[i], after))
        if not found:
            return seen
        frontier = jax.tree.map(lambda *leaves: np.stack(leaves), *found)
    return seen


@pytest.mark.parametrize("size", [2, 3])
def test_number_of_legal_positions(size):
    assert len(reachable_boards(size)) == known.LEGAL_POSITIONS[size]


@pytest.mark.parametrize("suicide", [False, True])
@pytest.mark.parametrize("ko", KO_RULES)
def test_number_of_sequences(ko, suicide):
    """All games of a few moves on 2×2."""
    expected = known.SEQUENCES[2, ko, suicide]
    start = go.init(2, rules=go.Rules(ko=ko, suicide=suicide), scope=SCOPE)
    layer, counts, chunk = batched(start, 1), [], 1024
    for _ in expected:
        parts, total = [], 0
        for first in range(0, layer.handicap.shape[0], chunk):
            part = jax.tree.map(lambda v, k=first: np.asarray(v[k : k + chunk]), layer)
            count = part.handicap.shape[0]
            part = jax.tree.map(
                lambda v, n=count: np.concatenate([v, np.repeat(v[:1], chunk - n, 0)]),
                part,
            )
            legal = np.asarray(legal_all()(part))[:count]
            total += int(legal.sum())
            for action in range(5):
                after = step_all()(part, jnp.full(chunk, action, jnp.int32))
                chosen = np.flatnonzero(legal[:, action])
                parts.append(
                    jax.tree.map(lambda v, rows=chosen: np.asarray(v)[rows], after)
                )
        counts.append(total)
        layer = jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
    assert counts == expected


def assert_equal_trees(one, other):
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert np.array_equal(a, b)


def test_the_end_is_absorbing():
    states = batched(drawn(known.KO), 3)
    over = play_all(states, [None, None])
    assert np.all(jax.vmap(state_lib.is_over)(over))
    for place in ((4, 4), (1, 2), None):
        assert_equal_trees(play_all(over, [place]), over)


def test_move_limit():
    state = go.init(3, move_limit=4, rules=go.Rules(ko="simple", suicide=False))
    step = jax.jit(go.step)
    for number, action in enumerate((0, 9, 4, 8)):
        assert not go.is_over(state) and int(state.position.move_number) == number
        state = step(state, action)
    assert go.is_over(state) and not go.is_no_result(state)
    assert int(state.position.status) == state_lib.MOVE_LIMIT
    assert_equal_trees(step(state, 1), state)


def test_small_board_in_large_arrays():
    """13×13 inside 19×19 arrays is the same game as on 13×13 arrays."""
    rules = go.Rules(ko="simple", suicide=False)
    native = go.init(13, rules=rules)
    inside = go.init(19, rules=rules, board_size=13)
    step, legal = jax.jit(go.step), jax.jit(go.legal_actions)
    rng = np.random.default_rng(4)
    for _ in range(200):
        mask = np.asarray(legal(native))
        wide = np.asarray(legal(inside))
        points = wide[:-1].reshape(19, 19)
        assert np.array_equal(points[:13, :13], mask[:-1].reshape(13, 13))
        assert points.sum() == mask[:-1].sum() and wide[-1] == mask[-1]
        action = int(rng.choice(np.flatnonzero(mask[:-1])))
        native = step(native, action)
        inside = step(inside, action // 13 * 19 + action % 13)
        board = np.asarray(go.stones(inside))
        assert np.array_equal(board[:13, :13], go.stones(native))
        assert np.count_nonzero(board) == np.count_nonzero(board[:13, :13])
    assert np.array_equal(native.position.prisoners, inside.position.prisoners)
    assert int(native.position.prisoners.sum()) > 0


def test_without_jit():
    """A capture, op by op; slow, hence one move on a small board."""
    state = go.init(2, rules=go.Rules(ko="simple", suicide=False))
    state = go.set_up(state, black=[0], white=[1])
    with jax.disable_jit():
        other = go.step(state, 3)
        mask = go.legal_actions(other)
    state = jax.jit(go.step)(state, 3)
    assert state.position.prisoners.tolist() == [0, 1]
    assert_equal_trees(state, other)
    assert np.array_equal(mask, jax.jit(go.legal_actions)(state))


def test_a_search_node_is_small():
    state = jax.eval_shape(lambda: go.init(19))
    leaves = jax.tree.leaves(state.position)
    size = sum(leaf.size * leaf.dtype.itemsize for leaf in leaves)
    assert 361 < size <= 2048
