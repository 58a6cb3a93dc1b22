"""The script that makes GNU Go's games: its board, its files, whole games."""

import json
import lzma
import pathlib
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from oracle.engine import Oracle, Rules
from oracle.grid import parse

EXPERIMENTS = pathlib.Path(__file__).resolve().parents[2] / "experiments"
sys.path.insert(0, str(EXPERIMENTS))

import _game_shards as game_shards  # noqa: E402
import _gnugo_game as gnugo_game  # noqa: E402
import gnugo_games  # noqa: E402


def stones_of(drawing: str) -> np.ndarray:
    size, black, white = parse(drawing)
    stones = np.zeros(size * size, np.int8)
    stones[black], stones[white] = 1, -1
    return stones


@pytest.mark.parametrize(
    ("drawing", "margin"),
    [
        (". . . / . . . / . . .", 0),  # an empty board belongs to nobody
        (". . . / . X . / . . .", 9),
        (". X . / X X O / . O .", 4 - 3),  # c3 and a1 touch both, so nobody's
        ("X . O / X . O / X . O", 0),
        (". O O / O O . / O . O", -9),
    ],
)
def test_area_margin(drawing, margin):
    drawing = drawing.replace(" / ", "\n")
    assert gnugo_game.area_margin(stones_of(drawing)) == margin


def test_area_margin_agrees_with_the_oracle():
    rng = np.random.default_rng(0)
    for _ in range(50):
        stones = rng.choice([-1, 0, 0, 1], size=25)
        oracle = Oracle(5, Rules(scoring="area", komi=0.0))
        oracle.stones = stones.tolist()
        assert gnugo_game.area_margin(stones) == oracle.score().margin


def test_vertices():
    assert gnugo_game.to_vertex(0, 9) == "A9"
    assert gnugo_game.to_vertex(80, 9) == "J1"
    assert gnugo_game.to_vertex(81, 9) == "pass"
    for size in (5, 9, 19):
        for point in range(size * size + 1):
            vertex = gnugo_game.to_vertex(point, size)
            assert "I" not in vertex.upper()
            assert gnugo_game.from_vertex(vertex, size) == point


def test_canonical_hash_is_shared_by_the_eight_symmetries_only():
    size, rng = 7, np.random.default_rng(1)
    games = [rng.integers(0, size * size + 1, 30).tolist() for _ in range(20)]
    hashes = set()
    for game in games:
        forms = set()
        for flip in (False, True):
            for turns in range(4):
                turned = []
                for point in game:
                    row, column = divmod(point, size)
                    if flip:
                        column = size - 1 - column
                    for _ in range(turns):
                        row, column = column, size - 1 - row
                    is_pass = point == size * size
                    turned.append(point if is_pass else row * size + column)
                forms.add(gnugo_game.canonical_hash(turned, size))
        assert len(forms) == 1
        hashes |= forms
    assert len(hashes) == len(games)


def test_sensible_points():
    stones = stones_of(
        """
        . . . . . . . . .
        . . X . . . . . .
        . X . X . . . . .
        . . X . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        """
    )
    legal = set(np.flatnonzero(stones == 0).tolist()) - {40}
    own = gnugo_game.sensible_points(legal, stones, 9)
    other = gnugo_game.sensible_points(legal, -stones, 9)
    assert set(other) - set(own) == {2 * 9 + 2}  # only its owner spares the eye
    assert 10 in own  # second line, but near a stone
    assert 40 not in own  # not legal
    assert 7 * 9 + 7 not in own  # second line, far from every stone
    assert not any(p < 9 or p >= 72 or p % 9 in (0, 8) for p in own)


def test_result_text():
    texts = [gnugo_game.result_text(m) for m in (3.5, -0.5, 0.0, 12.0)]
    assert texts == ["B+3.5", "W+0.5", "0", "B+12.0"]


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(game_shards, "SHARD_GAMES", 3)


def names(folder: pathlib.Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_shards_fill_and_pack(tmp_path, small_shards):
    lines = [f"(game {number})" for number in range(8)]
    shards = game_shards.Shards(tmp_path)
    for line in lines[:7]:
        shards.append(line)
    packed = ["games-00000.sgfs.xz", "games-00001.sgfs.xz"]
    assert names(tmp_path) == [*packed, "games-00002.sgfs"]
    assert game_shards.read_games(tmp_path) == lines[:7]
    with lzma.open(tmp_path / packed[1], "rt") as file:
        assert file.read() == "".join(f"{line}\n" for line in lines[3:6])
    shards.pack()
    assert names(tmp_path) == [*packed, "games-00002.sgfs.xz"]
    # A run that was complete is extended: its short shard is opened again.
    shards = game_shards.Shards(tmp_path)
    assert shards.lines == lines[:7]
    assert names(tmp_path) == [*packed, "games-00002.sgfs"]
    shards.append(lines[7])
    assert game_shards.Shards(tmp_path).lines == lines


def test_a_torn_line_is_dropped(tmp_path, small_shards):
    shards = game_shards.Shards(tmp_path)
    for number in range(4):
        shards.append(f"(game {number})")
    with (tmp_path / "games-00001.sgfs").open("a") as file:
        file.write("(game 4, to")
    assert len(game_shards.read_games(tmp_path)) == 4
    shards = game_shards.Shards(tmp_path)
    shards.append("(game 4)")
    assert game_shards.Shards(tmp_path).lines == [f"(game {n})" for n in range(5)]


def test_a_kill_while_packing_loses_and_doubles_nothing(tmp_path, small_shards):
    shards = game_shards.Shards(tmp_path)
    for number in range(3):
        shards.append(f"(game {number})")
    (tmp_path / "games-00000.sgfs").write_text("".join(f"{x}\n" for x in shards.lines))
    (tmp_path / "games-00001.sgfs.xz.draft").write_bytes(b"half")
    again = game_shards.Shards(tmp_path)
    assert again.lines == shards.lines
    again.append("(game 3)")
    assert game_shards.Shards(tmp_path).lines == [f"(game {n})" for n in range(4)]


def test_one_writer_at_a_time(tmp_path):
    with game_shards.locked(tmp_path):
        with pytest.raises(SystemExit, match="another process"):
            with game_shards.locked(tmp_path):
                pass
    with game_shards.locked(tmp_path):
        pass


def arguments(out: pathlib.Path, **changes) -> gnugo_games.Arguments:
    values = {"size": 5, "levels": (1, 2), "noisy_games": 0.5, "noisy_plies": 0.2}
    return gnugo_games.Arguments(out=out, **(values | changes))


def check_game(line: str, size: int) -> None:
    """A game is legal, ends in two passes and has the result of its own board."""
    header = dict(re.findall(r"([A-Z]{2})\[([^]]*)\]", line.partition(";B[")[0]))
    rules = Rules(ko="positional", suicide=False, komi=float(header["KM"]))
    oracle = Oracle(size, rules)
    moves = gnugo_game.moves_of(line, size)
    assert len(moves) > 6
    for move in moves:
        oracle.play(move)
    assert oracle.is_over
    assert header["RE"] == gnugo_game.result_text(oracle.score().margin)
    assert header["RU"] == "Chinese" and header["SZ"] == str(size)
    assert re.fullmatch(r"GNU Go 3\.8 level \d+", header["PB"])
    plies = [int(n) for n in re.search(r"C\[random: ([\d ]+)", line)[1].split()]
    assert plies[:2] == [1, 2] and plies == sorted(set(plies))
    assert plies[-1] <= len(moves)


@pytest.mark.gnugo
def test_a_stopped_run_goes_on_to_the_same_games(tmp_path, gnugo, capsys):
    gnugo_games.main(arguments(tmp_path / "whole", games=5))
    whole = game_shards.read_games(tmp_path / "whole")
    assert len(whole) == 5
    for line in whole:
        check_game(line, 5)
    gnugo_games.main(arguments(tmp_path / "parts", games=2))
    with pytest.raises(SystemExit, match="--resume"):
        gnugo_games.main(arguments(tmp_path / "parts", games=5))
    with pytest.raises(SystemExit, match="other values for: seed"):
        gnugo_games.main(arguments(tmp_path / "parts", seed=1, resume=True))
    gnugo_games.main(arguments(tmp_path / "parts", games=5, workers=2, resume=True))
    assert game_shards.read_games(tmp_path / "parts") == whole
    bundle = tmp_path / "bundle.sgfs.xz"
    capsys.readouterr()
    gnugo_games.main(arguments(tmp_path / "parts", games=3, bundle=bundle))
    assert lzma.decompress(bundle.read_bytes()).decode().splitlines() == whole[:3]
    facts = json.loads((tmp_path / "bundle.json").read_text())
    assert facts == json.loads(capsys.readouterr().out)
    assert facts["games"] == 3 and facts["levels"] == [1, 2]
    assert facts["plies"] == sum(len(gnugo_game.moves_of(x, 5)) for x in whole[:3])


@pytest.mark.gnugo
def test_a_killed_run_resumes(tmp_path, gnugo):
    command = [sys.executable, str(EXPERIMENTS / "gnugo_games.py")]
    command += ["--out", str(tmp_path), "--size", "5", "--levels", "1"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(game_shards.read_games(tmp_path)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = game_shards.read_games(tmp_path)
    assert len(before) >= 2
    more = arguments(
        tmp_path,
        levels=(1,),
        noisy_games=0.3,
        noisy_plies=0.03,
        games=len(before) + 2,
        resume=True,
    )
    gnugo_games.main(more)
    after = game_shards.read_games(tmp_path)
    assert after[: len(before)] == before and len(after) == len(before) + 2
    indices = [int(re.search(r"GN\[(\d+)\]", line)[1]) for line in after]
    assert indices == sorted(set(indices))


@pytest.mark.parametrize("size", [9, 19])
def test_the_bundled_games_are_what_they_claim(size):
    folder = EXPERIMENTS.parent / "alphago_jax" / "data" / "sample"
    with lzma.open(folder / f"gnugo_{size}x{size}.sgfs.xz", "rt") as file:
        lines = file.read().splitlines()
    facts = json.loads((folder / f"gnugo_{size}x{size}.json").read_text())
    assert len(lines) == facts["games"] > 0
    games = [gnugo_game.moves_of(line, size) for line in lines]
    assert sum(map(len, games)) == facts["plies"]
    hashes = {gnugo_game.canonical_hash(moves, size) for moves in games}
    assert len(hashes) == len(lines)
    for line in lines[:: 1 + len(lines) * size // 100]:
        check_game(line, size)
