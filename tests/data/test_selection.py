"""Filters, the hash of a game, the split, and packed games."""

import dataclasses

import numpy as np
import pytest

from alphago_jax.data import packing, selection
from alphago_jax.data.records import GameRecord, read_sgf


def one(text) -> GameRecord:
    return read_sgf(text)[0]


PRO = one("(;SZ[19]BR[9p]WR[1p]DT[2015-03-14]RE[B+R];B[pd];W[dp];B[dd])")
TIME = one("(;SZ[9]BR[5d]WR[3k]DT[2023]RE[W+T]HA[2]AB[cc][gg];W[ee])")
BARE = one("(;SZ[19];B[pd])")
GAMES = [PRO, TIME, BARE]


@pytest.mark.parametrize(
    ("wanted", "passed"),
    [
        (selection.by_size(19), [True, False, True]),
        (selection.by_size(9, 13), [False, True, False]),
        (selection.by_rank("1p"), [True, False, False]),
        (selection.by_rank("5k", "9d"), [False, True, False]),
        (selection.by_date("2015-03", "2015-03"), [True, False, False]),
        (selection.by_date(last="2022"), [True, False, False]),
        (selection.by_date("2016"), [False, True, False]),
        (selection.by_handicap(0), [True, False, True]),
        (selection.by_length(2), [True, False, False]),
        (selection.by_length(0, 1), [False, True, True]),
        (selection.with_result, [True, True, False]),
        (selection.decided_by_play, [True, False, False]),
        (selection.without_set_up, [True, False, True]),
        (selection.without_warnings(), [True, True, True]),
        (
            selection.all_of(selection.by_size(19), selection.with_result),
            [True, False, False],
        ),
    ],
)
def test_filters(wanted, passed):
    assert [wanted(game) for game in GAMES] == passed
    assert wanted.__name__


def test_a_bound_that_is_no_rank():
    with pytest.raises(ValueError, match="not a rank"):
        selection.by_rank("strong")


def turned(game, k):
    """The game with its board turned, by its own arithmetic: k in 0..7."""

    def go(action):
        if action == game.size**2:
            return action
        row, column = divmod(action, game.size)
        for _ in range(k % 4):
            row, column = column, game.size - 1 - row
        if k >= 4:
            column = game.size - 1 - column
        return row * game.size + column

    return dataclasses.replace(
        game,
        actions=np.array([go(a) for a in game.actions.tolist()], np.int16),
        black=tuple(sorted(go(a) for a in game.black)),
        white=tuple(sorted(go(a) for a in game.white)),
    )


def random_games(count, size=9, length=80, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        actions = rng.integers(0, size * size + 1, length).astype(np.int16)
        colours = np.resize(np.array([1, -1], np.int8), length)
        black = tuple(sorted(rng.permutation(size * size)[: rng.integers(3)].tolist()))
        yield GameRecord(size=size, actions=actions, colours=colours, black=black)


def test_hash_is_the_same_for_turned_games_and_only_for_them():
    games = list(random_games(50))
    hashes = [selection.game_hash(game) for game in games]
    assert len(set(hashes)) == 50
    for game, digest in zip(games, hashes, strict=True):
        assert {selection.game_hash(turned(game, k)) for k in range(8)} == {digest}
    swapped = dataclasses.replace(games[0], colours=-games[0].colours)
    assert selection.game_hash(swapped) != hashes[0]
    empty = dataclasses.replace(games[0], actions=np.zeros(0, np.int16))
    assert len(selection.game_hash(empty)) == 16


def test_hash_is_stable():
    # Splits must not move between versions: this value is for ever.
    assert selection.game_hash(PRO).hex() == STABLE


STABLE = "313a5b8f64da5a2041f1c14c77d97528"


def test_split_keeps_duplicates_together():
    shares = {"train": 0.8, "validation": 0.1, "test": 0.1}
    games = list(random_games(1000))
    parts = selection.split(games, shares, seed=1)
    sizes = {name: len(part) for name, part in parts.items()}
    assert sum(sizes.values()) == 1000
    assert 750 < sizes["train"] < 850 and 70 < sizes["test"] < 130
    for game in games[:50]:
        side = selection.split_of(game, shares, seed=1)
        copy = turned(game, 5)
        longer = dataclasses.replace(
            copy,
            actions=copy.actions[:-5],
            colours=copy.colours[:-5],  # another end, of the same game
            komi=3.5,
        )
        assert selection.split_of(copy, shares, seed=1) == side
        assert selection.split_of(longer, shares, seed=1) == side
    other = selection.split(games, shares, seed=2)
    assert {id(g) for g in other["train"]} != {id(g) for g in parts["train"]}
    assert all(selection.split(games, {"a": 1.0})["a"])
    with pytest.raises(ValueError, match="add up"):
        selection.split_of(PRO, {"a": 0.5})


def test_unique():
    games = list(random_games(5))
    assert selection.unique([*games, *(turned(g, 3) for g in games)]) == games


def same_kept(game, again):
    assert again.actions.dtype == np.int16 and again.colours.dtype == np.int8
    assert again.actions.tolist() == game.actions.tolist()
    assert again.colours.tolist() == game.colours.tolist()
    names = "size black white to_play komi handicap result date year".split()
    for name in names:
        assert getattr(again, name) == getattr(game, name), name


def test_packed_games_come_back(tmp_path):
    games = [*GAMES, one("(;SZ[9]KM[0.5]DT[1955-03]RE[0];B[];W[tt])"), one("(;SZ[5])")]
    packed = packing.pack(games)
    packed.save(tmp_path / "games.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["games.npz"]
    loaded = packing.load(tmp_path / "games.npz")
    assert len(packed) == len(loaded) == 5
    for source in (packed, loaded):
        for game, again in zip(games, packing.unpack(source), strict=True):
            same_kept(game, again)
            wanted = selection.by_rank("5k")
            assert wanted(game) == wanted(again)
    assert loaded.year.tolist() == [2015, 2023, 0, 1955, 0]
    assert len(packing.pack([])) == 0


def test_another_format_is_refused(tmp_path):
    np.savez(tmp_path / "x.npz", format=np.int32(99))
    with pytest.raises(ValueError, match="format 1"):
        packing.load(tmp_path / "x.npz")
