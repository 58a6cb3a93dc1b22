"""The command: help, plain errors, and what each subcommand prints."""

import dataclasses
import json
import subprocess
import sys

import chex
import jax
import pytest

from alphago_jax import cli, networks
from alphago_jax.checkpoint import (
    NetworkMetadata,
    file_sha256,
    load_network,
    save_network,
)
from alphago_jax.cli.doctor import CHECKS
from alphago_jax.cli.match import describe, summary
from alphago_jax.play.results import GameResult

COMMANDS = ("gtp", "match", "rating", "elo", "sgf", "eval", "convert", "doctor")


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of the command."""
    status = 0
    try:
        cli.main(arguments)
    except SystemExit as stop:
        status = int(stop.code or 0)
    output = capsys.readouterr()
    return status, output.out, output.err


def test_importing_the_command_loads_no_jax():
    code = "import sys, alphago_jax.cli; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"False\n"


def test_help_lists_the_subcommands(capsys):
    status, out, _ = run(capsys, "--help")
    assert status == 0
    for name in COMMANDS:
        assert name in out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_subcommand_has_defaults(capsys, name):
    status, out, _ = run(capsys, name, "--help")
    assert status == 0
    assert f"alphago-jax {name}" in out
    # One default for every option, and one "-h".
    options = [line for line in out.splitlines() if line.startswith("│ --")]
    assert out.count("(default:") + out.count("(required)") >= len(options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gtp", "alphazero"], "no player 'alphazero'; there are: random, policy:PATH"),
        (["gtp", "random:3"], "'random:3': random takes no argument"),
        (["gtp", "policy:"], "'policy:': give the path of a network"),
        (["gtp", "policy:/no/such"], "/no/such is neither a network, nor a run"),
        (["gtp", "policy:x,heat=2"], "no option 'heat'; there are: temperature"),
        (["gtp", "gnugo:3"], "gnugo:3 is a program of its own"),
        (["gtp", "--rules", "ing"], "no rules 'ing'; there are: tromp-taylor"),
        (["gtp", "--komi", "7.3"], "komi must be a whole or half number"),
        (["gtp", "--size", "30"], "the board side must be 2 to 25, got 30"),
        (["match", "random", "gnugo:11"], "the level of GNU Go is 1 to 10"),
        (["match", "random", "random", "--games", "3"], "games must be even"),
        (["rating", "/no/such"], "/no/such is not a match directory"),
        (["convert", "/no/such", "a.npz"], "/no/such is neither a network"),
        (["elo", "0", "0", "0"], "no games, so no win rate"),
        (["elo", "1", "2", "-3"], "cannot be negative"),
    ],
)
def test_mistakes_are_told_in_a_line(capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert status == 2
    assert out == ""
    assert err.startswith("alphago-jax: ") and err.count("\n") == 1
    assert message in err


def test_unknown_words_are_refused(capsys):
    assert run(capsys, "dance")[0] == 2
    assert run(capsys, "elo", "1", "2")[0] == 2
    assert run(capsys, "elo", "1", "2", "three")[0] == 2


def test_elo(capsys):
    status, out, err = run(capsys, "elo", "10", "0", "1")
    assert (status, err) == (0, "")
    assert "win rate 90.9%" in out
    assert "Elo difference +400" in out


RESULTS = [
    GameResult(0, "a", "b", 1, 3.5, "score", 40),
    GameResult(1, "b", "a", 1, 0.5, "score", 41, {"b": "W+1.5"}, True),
    GameResult(2, "a", "b", 0, 0.0, "move limit", 162),
    GameResult(3, "b", "a", -1, None, "forfeit: illegal move A1: ko", 12),
]


def test_convert_halves_a_network(capsys, tmp_path):
    network = networks.create("alphago_policy", 5, filters=4, layers=2)
    variables = network.init(jax.random.key(0))
    metadata = NetworkMetadata(
        network.name, 5, network.config_dict(), step=7, metrics={"top_1": 0.25}
    )
    source, target = tmp_path / "network", tmp_path / "network.npz"
    save_network(source, variables, metadata)
    status, out, err = run(capsys, "convert", str(source), str(target), "--half")
    assert (status, err) == (0, "")
    assert f"SHA-256 {file_sha256(target)}" in out
    assert "alphago_policy 5×5, step 7  top_1 0.2500" in out
    found, halved = load_network(target)
    assert found == metadata
    chex.assert_trees_all_close(
        halved, jax.device_get(variables), rtol=2**-11, atol=2**-25
    )
    assert run(capsys, "convert", str(source), str(target))[0] == 2  # exists
    assert run(capsys, "convert", str(source), str(target), "--overwrite")[0] == 0


def test_rating_reads_match_directories(capsys, tmp_path):
    for number, name in enumerate(("one", "two")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "match.json").write_text("{}")
        half = RESULTS[2 * number : 2 * number + 2]
        lines = [json.dumps(dataclasses.asdict(result)) for result in half]
        (tmp_path / name / "results.jsonl").write_text("\n".join(lines) + "\n")
    paths = [str(tmp_path / name) for name in ("one", "two")]
    status, out, _ = run(capsys, "rating", *paths, "--anchor", "b")
    assert status == 0
    rows = [line.split() for line in out.splitlines()]
    assert [row[0] for row in rows] == ["player", "a", "b"]
    # 2.5 points of 4, and an imaginary draw: 3 of 5; 400 log10(3/2) = 70.4.
    assert rows[1][1] == "+70" and rows[1][-2:] == ["4", "62.5%"]
    assert rows[2][1] == "+0"


def test_what_a_match_prints():
    text = summary(RESULTS, "a", "b")
    assert "a - b: 2 won, 1 drawn, 1 lost of 4" in text
    assert "games forfeited: 1" in text
    assert "games ended by the move limit: 1" in text
    assert "games counted otherwise by a program: 1" in text
    assert describe(RESULTS[0]) == "game 0: a - b B+3.5, 40 moves"
    assert "counted otherwise: {'b': 'W+1.5'}" in describe(RESULTS[1])
    assert describe(RESULTS[3]) == (
        "game 3: b - a W+F, 12 moves, forfeit: illegal move A1: ko"
    )


def test_doctor(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path))
    status, out, _ = run(capsys, "doctor")
    assert status == 0
    for topic in ("python", "packages", "devices", "compile", "memory", "cache"):
        assert topic in out
    findings = [finding for check in CHECKS for finding in check()]
    assert len(findings) >= 7
    assert not any(finding.broken for finding in findings)


GAMES = {
    "good.sgf": "(;SZ[5]RE[B+1];B[cc];W[dd])",
    "illegal.sgf": "(;SZ[5]RE[W+R];B[cc];W[dd];B[ee];W[cc];B[aa])",
    "set-up.sgf": "(;SZ[5]AB[aa]AW[ab][ba];B[cc])",
    "broken.sgf": "no game at all",
}


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "games"
    folder.mkdir()
    for name, text in GAMES.items():
        (folder / name).write_text(text)
    return folder


def test_sgf_info(capsys, folder):
    status, out, _ = run(capsys, "sgf", "info", str(folder))
    assert status == 0
    assert "3 games read from 4 files" in out
    assert "broken.sgf" in out
    assert "board 5×5: 3" in out
    assert "8 moves" in out


def test_sgf_check_names_what_the_engine_refuses(capsys, folder):
    status, out, _ = run(capsys, "sgf", "check", str(folder))
    assert status == 1
    lines = out.splitlines()
    assert any(
        "illegal.sgf" in line and "move 4, C3, is illegal" in line for line in lines
    )
    assert any("set-up.sgf" in line and "no liberty" in line for line in lines)
    assert "3 games checked on the engine, 2 refused" in out


def test_sgf_convert(capsys, folder, tmp_path):
    out_file = tmp_path / "all.sgfs.xz"
    arguments = ("sgf", "convert", str(folder), "--out", str(out_file))
    assert run(capsys, *arguments)[0] == 0
    status, out, _ = run(capsys, "sgf", "info", str(out_file))
    assert "3 games read from 1 files" in out
    assert "8 moves" in out
    status, _, err = run(capsys, *arguments)
    assert status == 2 and "exists and is not overwritten" in err
    status, _, err = run(capsys, "sgf", "convert", str(folder))
    assert status == 2 and "--out" in err
    status, _, err = run(capsys, "sgf", "info", str(tmp_path / "nothing"))
    assert status == 2 and "no such file or folder" in err
