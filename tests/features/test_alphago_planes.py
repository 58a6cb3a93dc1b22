"""The 48 and 49 planes: names, drawn positions, and the naive definition."""

import functools
import itertools
import lzma
import re

import jax
import jax.numpy as jnp
import naive_planes
import numpy as np
import pytest
from engine_vs_oracle import FULL_SCOPE, start
from oracle import lockstep
from oracle.ladders import ReadingTooLongError

from alphago_jax import features, go
from alphago_jax.features import alphago, alphago_value
from alphago_jax.go import symmetry

BATCH = 32


@functools.cache
def _compiled(size):
    del size  # one program for each array side
    return jax.jit(jax.vmap(alphago.packed))


def planes_of_batch(batch):
    """49 planes of a batch of BATCH states."""
    words = _compiled(batch.position.earlier.shape[-1])(batch)
    return np.asarray(alphago.unpack(words, 49))


@functools.cache
def _step():
    return jax.jit(jax.vmap(go.step))


def stack(states):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)


def planes_of(states):
    """49 planes of a list of states, in batches of one shape."""
    results = []
    for begin in range(0, len(states), BATCH):
        part = list(states[begin : begin + BATCH])
        batch = stack(part + part[:1] * (BATCH - len(part)))
        results.append(planes_of_batch(batch)[: len(part)])
    return np.concatenate(results)


def dense(naive, board_size, size):
    """Naive planes as an array [size, size, 49]."""
    result = np.zeros((size, size, 49), np.float32)
    for point, channels in enumerate(naive):
        row, column = divmod(point, board_size)
        result[row, column, sorted(channels)] = 1
    return result


def explain(fast, slow):
    names = alphago_value.channel_names()
    return [
        f"{names[c]} at row {r}, column {q}: {fast[r, q, c]:g} not {slow[r, q, c]:g}"
        for r, q, c in np.argwhere(fast != slow)[:8]
    ]


def compare(specs, *, size, plies, every):
    """Plays games on both sides; returns the number of positions compared."""
    diaries, states, samples = [], [], []
    generators = [lockstep.play_game(spec) for spec in specs]
    for spec in specs:
        diaries.append(naive_planes.Diary(spec.start()))
        states.append(start(spec, size, FULL_SCOPE))
    batch = stack(states)
    for generator in generators:
        next(generator)
    for ply in range(plies + 1):
        if ply % every == every - 1:
            fast = planes_of_batch(batch)
            for i, diary in enumerate(diaries):
                samples.append(compare_one(diary, fast[i], specs[i], size))
        actions = []
        for spec, generator, diary in zip(specs, generators, diaries, strict=True):
            action = next(generator).action
            board = spec.size**2
            inside = action // spec.size * size + action % spec.size
            actions.append(size * size if action == board else inside)
            if not diary.game.is_over:
                diary.play(action)
        batch = _step()(batch, jnp.asarray(actions, jnp.int32))
    return sum(samples)


def compare_one(diary, fast, spec, size):
    try:
        naive = naive_planes.planes(diary)
    except ReadingTooLongError:
        naive = naive_planes.planes(diary, with_ladders=False)
        fast = fast.copy()
        fast[..., [alphago.LADDER_CAPTURE, alphago.LADDER_ESCAPE]] = 0
    slow = dense(naive, spec.size, size)
    differences = explain(fast, slow)
    assert not differences, f"{differences}\n{spec}\n{diary.game.moves}"
    return 1


def specs_9x9(count, seed):
    rules = lockstep.all_rules()
    sizes = itertools.cycle((9, 9, 7, 5))
    return [
        lockstep.random_specs(k + 1, size=next(sizes), rules=rules, seed=seed + k)[k]
        for k in range(count)
    ]


def test_names():
    names = alphago_value.channel_names()
    assert len(names) == len(set(names)) == 49
    assert names[:48] == alphago.channel_names()
    assert names[alphago.TURNS_SINCE] == "turns_since_1"
    assert names[alphago.LIBERTIES + 7] == "liberties_8_or_more"
    assert names[alphago.CAPTURE_SIZE] == "capture_size_0"
    assert names[alphago.SELF_ATARI_SIZE] == "self_atari_size_1"
    assert names[alphago.LADDER_CAPTURE] == "ladder_capture"
    assert names[alphago.BLACK_TO_PLAY] == "black_to_play"
    assert features.get("alphago").num_channels == 48
    assert features.get("alphago_value").channel_names == names
    with pytest.raises(ValueError, match="alphago_value"):
        features.get("alphago_valu")


def test_random_positions_equal_the_naive_definition():
    """All rule sets; boards of 9, 7 and 5 inside arrays of 9."""
    assert compare(specs_9x9(BATCH, seed=3), size=9, plies=70, every=9) >= 200


@pytest.mark.slow
def test_many_random_positions_equal_the_naive_definition():
    count = sum(
        compare(specs_9x9(BATCH, seed=seed), size=9, plies=120, every=3)
        for seed in (100, 200)
    )
    assert count >= 2000


def read_games(folder, count):
    """Moves of the first real games: lists of points, −1 for a pass."""
    games = []
    with lzma.open(folder / "data/cwi_pro_19x19/2015.sgfs.xz", "rt") as lines:
        for line in lines:
            moves = re.findall(r";[BW]\[([a-s]{2})\]", line)
            if len(moves) > 150 and not re.search(r"A[BW]\[", line):
                games.append([(ord(m[1]) - 97) * 19 + ord(m[0]) - 97 for m in moves])
            if len(games) == count:
                return games
    raise AssertionError("too few games")


def compare_real(shared_dir, count, plies):
    """Compares real games after each number of moves in `plies`."""
    rules = lockstep.Rules("simple", False)
    specs = [lockstep.GameSpec(19, rules) for _ in range(count)]
    games = read_games(shared_dir, count)
    diaries = [naive_planes.Diary(spec.start()) for spec in specs]
    batch = stack([start(spec, 19, FULL_SCOPE) for spec in specs])
    compared = 0
    for ply in range(max(plies) + 1):
        if ply in plies:
            fast = planes_of_batch(batch)
            for diary, planes, spec in zip(diaries, fast, specs, strict=True):
                compared += compare_one(diary, planes, spec, 19)
        actions = [game[ply] if ply < len(game) else 361 for game in games]
        for diary, action in zip(diaries, actions, strict=True):
            if not diary.game.is_over:
                diary.play(action)
        batch = _step()(batch, jnp.asarray(actions, jnp.int32))
    return compared


@pytest.mark.shared
def test_real_positions_equal_the_naive_definition(shared_dir):
    assert compare_real(shared_dir, BATCH, {90, 160}) == 2 * BATCH


@pytest.mark.slow
@pytest.mark.shared
def test_many_real_positions_equal_the_naive_definition(shared_dir):
    assert compare_real(shared_dir, BATCH, set(range(10, 250, 7))) >= 1000


def random_states(count, size, plies, seed, **options):
    """States after random games, as a list."""
    rules = lockstep.Rules("simple", False)
    board_size = options.pop("board_size", size)
    specs = [
        lockstep.GameSpec(board_size, rules, "capturing", seed + k)
        for k in range(count)
    ]
    batch = stack([start(spec, size, FULL_SCOPE) for spec in specs])
    generators = [lockstep.play_game(spec) for spec in specs]
    for generator in generators:
        next(generator)
    for _ in range(plies):
        actions = [next(g).action for g in generators]
        actions = [
            size * size
            if a == board_size**2
            else a // board_size * size + a % board_size
            for a in actions
        ]
        batch = _step()(batch, jnp.asarray(actions, jnp.int32))
    return [jax.tree.map(lambda leaf, k=k: leaf[k], batch) for k in range(count)]


def test_smaller_board_in_larger_arrays_equals_native():
    native = planes_of(random_states(BATCH, 9, 60, seed=1))
    inside = planes_of(random_states(BATCH, 19, 60, seed=1, board_size=9))
    np.testing.assert_array_equal(inside[:, :9, :9], native)
    assert not inside[:, 9:].any() and not inside[:, :, 9:].any()
    assert native[..., 44:46].any()


def set_up_like(state, stones, to_play):
    """A game without history that begins from the given board."""
    size = go.size_of(state)
    black = np.flatnonzero(stones > 0)
    white = np.flatnonzero(stones < 0)
    blank = go.init(size, rules=go.Rules.chinese(), scope=FULL_SCOPE, move_limit=200)
    return go.set_up(blank, black, white, to_play)


def test_symmetries_and_colours():
    """Planes of the turned board are the turned planes; colours are relative."""
    for state in random_states(3, 9, 45, seed=8):
        board = np.asarray(go.stones(state))
        to_play = int(go.to_play(state))
        turned = [
            set_up_like(state, np.asarray(symmetry.transform_board(board, k)), to_play)
            for k in range(8)
        ]
        turned.append(set_up_like(state, -board, -to_play))
        planes = planes_of(turned)
        for k in range(8):
            expected = np.asarray(symmetry.transform_board(planes[0], k))
            assert not explain(planes[k], expected)
        np.testing.assert_array_equal(planes[8][..., :48], planes[0][..., :48])
        assert planes[0][..., 48].mean() == (to_play > 0)
        assert planes[8][..., 48].mean() == (to_play < 0)


def play(state, actions):
    """One state after some actions, with the program that steps batches."""
    batch = stack([state] * BATCH)
    for action in actions:
        batch = _step()(batch, jnp.full(BATCH, action, jnp.int32))
    return jax.tree.map(lambda leaf: leaf[0], batch)


def test_ages_by_hand():
    state = go.init(9, rules=go.Rules.chinese(), scope=FULL_SCOPE, move_limit=200)
    state = go.set_up(state, [80], [], to_play=1)
    played = [0, 20, 1, 81, 2, 40, 3, 41, 4, 50, 5]  # 81 is a pass
    state = play(state, played)
    planes = planes_of([state])[0].reshape(81, 49)
    age = {p: len(played) - k for k, p in enumerate(played) if p < 81} | {80: 8}
    for point in range(81):
        expected = np.zeros(8)
        if point in age:
            expected[min(age[point], 8) - 1] = 1
        np.testing.assert_array_equal(planes[point, 4:12], expected, f"{point}")


def test_a_stone_that_was_captured_and_replaced_is_young():
    blank = go.init(9, rules=go.Rules.chinese(), scope=FULL_SCOPE, move_limit=200)
    # Black takes the stone at 0; later White takes the stone at 1 from there.
    state = go.set_up(blank, [1], [0, 2], to_play=1)
    state = play(state, (9, 10, 81, 0))
    planes = planes_of([state])[0].reshape(81, 49)
    assert planes[0, 1] == 1  # an opposing stone, seen by Black
    assert planes[0, 4] == 1 and planes[0, 4:12].sum() == 1
    assert planes[1, 2] == 1 and planes[2, 11] == 1  # captured; a set-up stone


def test_unpack_and_dtype():
    words = np.random.default_rng(1).integers(0, 2**32, (9, 9, 2), np.uint32)
    planes = alphago.unpack(jnp.asarray(words), 49, jnp.uint8)
    assert planes.shape == (9, 9, 49) and planes.dtype == jnp.uint8
    for channel in range(49):
        expected = (words[..., channel // 32] >> np.uint32(channel % 32)) & 1
        np.testing.assert_array_equal(planes[..., channel], expected)


@pytest.mark.parametrize("name, channels", [("alphago", 48), ("alphago_value", 49)])
def test_shapes(name, channels):
    state = go.init(7)
    planes = features.get(name).planes
    assert jax.eval_shape(planes, state).shape == (7, 7, channels)
    assert jax.eval_shape(planes, state).dtype == jnp.float32
    halves = jax.eval_shape(lambda s: planes(s, jnp.bfloat16), state)
    assert halves.dtype == jnp.bfloat16


def test_no_moves_when_the_game_is_over():
    state = random_states(1, 9, 30, seed=6)[0]
    state = play(state, (81, 81))
    planes = planes_of([state])[0]
    assert not planes[..., 20:47].any()
    assert planes[..., :3].sum() == 81
