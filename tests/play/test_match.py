"""Matches: openings, results, resuming, forfeits, and GNU Go."""

import json
import re
import sys

import numpy as np
import oracle
import pytest

from alphago_jax import go
from alphago_jax.play import results
from alphago_jax.play.agents import random_agent
from alphago_jax.play.external import gnugo_command
from alphago_jax.play.match import MatchSettings, parse_score, play_match
from alphago_jax.play.openings import make_openings
from alphago_jax.play.players import Contestant
from alphago_jax.play.results import GameResult, MatchDirectory, MatchError

SIZE = 5
FIRST = Contestant("first", agent=random_agent("first"))
SECOND = Contestant("second", agent=random_agent("second"))
SETTINGS = MatchSettings(size=SIZE, games=6, batch_pairs=2)

# A program that plays the first free point, or misbehaves as it is told.
PROGRAM = r"""
import sys
fault, size, stones = sys.argv[1], 5, set()
for line in sys.stdin:
    command, *rest = line.split()
    reply = "= "
    if command == "clear_board":
        stones.clear()
    elif command == "play" and fault == "refuses" and len(stones) > 6:
        reply = "? illegal move"
    elif command == "play":
        stones.add(rest[1])
    elif command == "genmove":
        if fault == "dies":
            sys.exit("out of memory")
        moves = {"illegal": "A1", "nonsense": "Q99", "resigns": "resign"}
        reply += moves.get(fault, "pass")
        if fault == "illegal" and "A1" not in stones:
            stones.add("A1")
    elif command == "final_score":
        reply += "B+99.5"
    print(reply + "\n", flush=True)
    if command == "quit":
        break
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    script = tmp_path_factory.mktemp("program") / "program.py"
    script.write_text(PROGRAM)

    def contestant(fault: str) -> Contestant:
        command = [sys.executable, str(script), fault]
        return Contestant(fault, command=lambda seed: command)

    return contestant


def margin_by_oracle(game: go.Game) -> float:
    """Black − White of a game that the independent engine has played again."""
    rules = {"ko": "positional", "suicide": False, "scoring": "area"}
    judge = oracle.Oracle(game.size, komi=game.rules.komi, **rules)
    for move in game.moves:
        judge.play(move.action)
    score = judge.score()
    return score.black - score.white


@pytest.fixture(scope="module")
def games():
    return sorted(
        play_match(FIRST, SECOND, SETTINGS), key=lambda game: game.result.number
    )


def test_openings_are_different_sensible_and_repeatable():
    openings = make_openings(SIZE, go.Rules.cgos(), 12, seed=3)
    assert len(set(openings)) == 12
    assert {len(opening) for opening in openings} <= {2, 3, 4, 5, 6}
    assert len({len(opening) for opening in openings}) > 2
    for opening in openings:
        assert len(set(opening)) == len(opening)
        assert all(0 <= action < SIZE * SIZE for action in opening)
    assert openings[:5] == make_openings(SIZE, go.Rules.cgos(), 5, seed=3)
    assert openings[:5] != make_openings(SIZE, go.Rules.cgos(), 5, seed=4)


def test_colours_are_swapped_over_the_same_openings(games):
    assert [game.result.number for game in games] == list(range(6))
    for k in range(3):
        even, odd = games[2 * k], games[2 * k + 1]
        assert (even.result.black, even.result.white) == ("first", "second")
        assert (odd.result.black, odd.result.white) == ("second", "first")
        moves = [[move.action for move in game.game.moves] for game in (even, odd)]
        assert moves[0][:2] == moves[1][:2]
        assert moves[0] != moves[1]
    starts = {tuple(m.action for m in game.game.moves[:2]) for game in games}
    assert len(starts) == 3


def test_results_are_those_of_the_games(games):
    finished = 0
    for game in games:
        result = game.result
        # The record was played again on the host, which checks every move.
        assert game.game.is_over
        assert result.moves == len(game.game.moves)
        assert result.margin == margin_by_oracle(game.game)
        assert result.winner == np.sign(result.margin)
        assert result.text == f"{'W?B'[result.winner + 1]}+{abs(result.margin):g}"
        finished += result.reason == "score"
    assert finished > 0


def test_a_match_repeats_and_goes_on(games):
    again = list(play_match(FIRST, SECOND, SETTINGS, skip=[0, 1, 2, 5]))
    assert sorted(game.result.number for game in again) == [3, 4]
    for game in again:
        assert game.result == games[game.result.number].result


def test_settings_that_cannot_be():
    with pytest.raises(ValueError, match="even"):
        MatchSettings(games=3)
    with pytest.raises(ValueError, match="both players are called 'first'"):
        next(play_match(FIRST, FIRST, SETTINGS))


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("illegal", "forfeit: illegal move A1: occupied"),
        ("nonsense", "forfeit: genmove answered"),
        ("dies", "forfeit: .* has ended .*out of memory"),
        ("refuses", "forfeit: refused play"),
        ("resigns", "resignation"),
    ],
)
def test_a_program_that_misbehaves_loses(program, fault, reason):
    settings = MatchSettings(size=SIZE, games=2, shortest_opening=0, longest_opening=0)
    played = list(play_match(program(fault), SECOND, settings, parallel=2))
    assert len(played) == 2
    for game in played:
        result = game.result
        winner = result.black if result.winner > 0 else result.white
        assert winner == "second"
        assert result.margin is None
        assert re.match(reason, result.reason)
        assert result.text[1:] == ("+R" if fault == "resigns" else "+F")


def test_programs_that_count_otherwise_are_reported(program):
    settings = MatchSettings(size=SIZE, games=2)
    played = list(play_match(program("passes"), SECOND, settings))
    for game in played:
        assert game.result.own_scores == {"passes": "B+99.5"}
        assert game.result.differs
        assert game.result.reason == "score"


def test_scores_as_text():
    assert parse_score("W+7.5") == -7.5
    assert parse_score("b+12\n") == 12
    assert parse_score("0") == 0
    assert parse_score("B+R") is None
    assert parse_score("cannot score") is None


def result(number: int) -> GameResult:
    return GameResult(number, "a", "b", 1, 3.5, "score", 40)


def test_a_directory_goes_on_after_a_kill(tmp_path):
    path = tmp_path / "match"
    directory = MatchDirectory(path, {"size": 9})
    for number in (0, 2):
        directory.add(result(number), b"(;)")
    with (path / "results.jsonl").open("a") as file:
        file.write('{"number": 3, "bla')  # killed here
    with pytest.raises(MatchError, match="--resume"):
        MatchDirectory(path, {"size": 9})
    with pytest.raises(MatchError, match=r"other settings: size \(9, now 13\)"):
        MatchDirectory(path, {"size": 13}, resume=True)
    resumed = MatchDirectory(path, {"size": 9}, resume=True)
    assert sorted(resumed.results) == [0, 2]
    resumed.add(result(3), b"(;)")
    assert results.read_results(path) == [result(k) for k in (0, 2, 3)]
    assert (path / "games" / "00003.sgf").read_bytes() == b"(;)"
    assert json.loads((path / "match.json").read_text()) == {"size": 9}


def test_other_directories_are_refused(tmp_path):
    with pytest.raises(MatchError, match="not a match directory"):
        results.read_results(tmp_path)
    MatchDirectory(tmp_path, {})
    (tmp_path / "results.jsonl").write_text("[]\n")
    with pytest.raises(MatchError, match=r"results\.jsonl, line 1"):
        results.read_results(tmp_path)


@pytest.mark.gnugo
def test_gnugo_beats_the_random_player(gnugo):
    opponent = Contestant(
        "gnugo", command=lambda seed: gnugo_command(seed=seed, level=1, program=gnugo)
    )
    settings = MatchSettings(
        size=SIZE, games=4, komi=0.5, shortest_opening=1, longest_opening=1
    )
    played = list(play_match(opponent, SECOND, settings, parallel=2))
    assert len(played) == 4
    wins = 0
    for game in played:
        outcome = game.result
        assert outcome.reason == "score"
        assert outcome.own_scores == {"gnugo": outcome.text}
        assert not outcome.differs
        winner = outcome.black if outcome.winner > 0 else outcome.white
        wins += winner == "gnugo"
    assert wins >= 3
