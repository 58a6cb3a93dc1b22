"""Replay and the stream of examples, against games played move by move."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from alphago_jax import go
from alphago_jax.data import replay
from alphago_jax.data.games import (
    GameSet,
    load_game_set,
    sample_path,
    split_game_set,
)
from alphago_jax.data.records import read_sgf
from alphago_jax.data.stream import ExampleStream, StreamConfig, all_examples
from alphago_jax.go import symmetry


def stones_of_mover(state: go.GoState):
    """Two planes: own stones and the opponent's."""
    board = go.stones(state) * go.to_play(state)
    return jnp.stack([board > 0, board < 0], axis=-1).astype(jnp.float32)


@pytest.fixture(scope="module")
def games() -> GameSet:
    sample, report = load_game_set([sample_path(9)], 9)
    assert report.read >= 300
    return sample.take(range(20))


def played(games: GameSet, number: int) -> list[np.ndarray]:
    """Boards before every move, from the host's game."""
    record = games.games[number]
    game = go.Game(9, go.Rules.chinese())
    boards = []
    for action, colour in zip(record.actions, record.colours, strict=True):
        boards.append(game.stones * colour)
        if game.is_over:
            break
        game.play(int(action), int(colour))
    return boards


def test_replay_equals_the_game_played_on_the_host(games):
    boards = {number: played(games, number) for number in (0, 7)}
    seen = 0
    illegal: list[replay.Illegal] = []
    for part in replay.replay(games.games, 9, illegal=illegal):
        states = replay.as_states(part.position, 9)
        planes = np.asarray(jax.vmap(stones_of_mover)(states))  # [n, 9, 9, 2]
        for k in range(len(part)):
            number, ply = int(part.game[k]), int(part.ply[k])
            record = games.games[number]
            assert part.action[k] == record.actions[ply]
            assert part.position.to_play[k] == record.colours[ply]
            if number in boards and ply < len(boards[number]):
                own_minus_other = planes[k, ..., 0] - planes[k, ..., 1]
                assert (own_minus_other == boards[number][ply]).all()
                seen += 1
    assert not illegal
    assert seen == sum(map(len, boards.values())) > 40


def test_a_record_stops_at_its_first_illegal_move_and_says_which():
    record = read_sgf("(;SZ[9];B[aa];W[bb];B[aa];W[cc])")[0]
    illegal: list[replay.Illegal] = []
    parts = list(replay.replay([record], 9, illegal=illegal))
    assert replay.concatenate(parts).ply.tolist() == [0, 1]
    assert illegal == [replay.Illegal(game=0, ply=2, action=0)]


def test_a_record_that_goes_on_after_two_passes_is_replayed():
    record = read_sgf("(;SZ[9];B[aa];W[];B[];W[bb];B[cc])")[0]
    parts = list(replay.replay([record], 9))
    assert replay.concatenate(parts).ply.tolist() == [0, 1, 2, 3, 4]


CONFIG = StreamConfig(
    batch_size=8, seed=3, positions_per_game=6, games_per_chunk=8, planes_per_call=16
)


def test_a_restored_stream_goes_on_with_the_same_batches(games):
    stream = ExampleStream(games, stones_of_mover, CONFIG)
    for _ in range(7):
        next(stream)
    position = stream.state()
    expected = [next(stream) for _ in range(15)]  # beyond the end of an epoch
    other = ExampleStream(games, stones_of_mover, CONFIG)
    other.restore(position)
    for batch in expected:
        again = next(other)
        assert (np.asarray(again.planes) == np.asarray(batch.planes)).all()
        assert (np.asarray(again.actions) == np.asarray(batch.actions)).all()
        assert (np.asarray(again.returns) == np.asarray(batch.returns)).all()
    assert stream.state()["epoch"] >= 1


def test_every_example_is_a_turned_position_of_some_game(games):
    """An empty point is played, and the turned board occurs in the set."""
    known = set()
    for examples, _ in all_examples(games, stones_of_mover, 32):
        for planes, action, weight in zip(
            np.asarray(examples.planes),
            np.asarray(examples.actions),
            np.asarray(examples.weights),
            strict=True,
        ):
            if weight == 0:
                continue
            for k in range(8):
                turned = np.asarray(symmetry.transform_board(planes, k))
                moved = int(symmetry.transform_action(action, k, 9))
                known.add((turned.tobytes(), moved))
    stream = ExampleStream(games, stones_of_mover, CONFIG)
    for _ in range(4):
        batch = next(stream)
        for planes, action in zip(
            np.asarray(batch.planes), np.asarray(batch.actions), strict=True
        ):
            assert planes.reshape(81, 2)[action].sum() == 0
            assert (planes.tobytes(), int(action)) in known


def test_evaluation_sees_every_usable_position_once(games):
    rows, total = [], 0.0
    for examples, positions in all_examples(games, stones_of_mover, 32):
        kept = np.asarray(examples.weights) > 0
        total += kept.sum()
        rows += list(zip(positions.game[kept], positions.ply[kept], strict=True))
    wanted = [
        (number, ply)
        for number in range(len(games))
        for ply in games.usable_plies(number, passes=False)
    ]
    assert sorted(rows) == wanted
    assert total == len(wanted) > 500


def test_returns_are_seen_by_the_player_to_move(games):
    for examples, positions in all_examples(games, stones_of_mover, 32):
        winner = games.winners[positions.game]
        expected = winner * np.asarray(positions.position.to_play)
        assert (np.asarray(examples.returns) == expected).all()


def test_random_plies_of_the_sample_are_no_examples(games):
    marked = [k for k, game in enumerate(games.games) if game.random_plies]
    assert marked
    for number in marked:
        usable = set(games.usable_plies(number, passes=True).tolist())
        assert not usable & set(games.games[number].random_plies)


def test_split_keeps_every_game_once(games):
    rest, held = split_game_set(games, 0.3)
    assert len(rest) + len(held) == len(games)
    sources = {g.source for g in rest.games} | {g.source for g in held.games}
    assert sources == {g.source for g in games.games}


def test_no_games_is_an_error():
    with pytest.raises(ValueError, match="no games"):
        ExampleStream(GameSet.of([], 9), stones_of_mover, CONFIG)
