"""Games to SGF and back."""

import pytest

from alphago_jax import go
from alphago_jax.data.records import read_sgf
from alphago_jax.play.match import FinishedGame
from alphago_jax.play.records import RecordError, match_sgf, replay
from alphago_jax.play.results import GameResult

RULES = go.Rules.chinese(komi=6.5)


def test_a_match_game_keeps_its_moves_and_its_story():
    game = go.Game(5, RULES)
    for action in (12, 7, 25, 3):
        game.play(action)
    scores = {"b] \\": "B+1.5"}
    result = GameResult(8, "a", "b] \\", -1, -3.5, "move limit", 4, scores, True)
    (record,) = read_sgf(match_sgf(FinishedGame(result, game, 2)))
    assert record.actions.tolist() == [12, 7, 25, 3]
    assert record.colours.tolist() == [1, -1, 1, -1]
    assert (record.size, record.komi) == (5, 6.5)
    assert record.players == ("a", "b] \\")
    assert str(record.result) == "W+3.5"
    assert record.random_plies == (0, 1)
    assert "move limit" in record.comment and "B+1.5" in record.comment


@pytest.mark.parametrize(
    ("reason", "margin", "text"),
    [
        ("resignation", None, "B+R"),
        ("forfeit: x", None, "B+F"),
        ("score", 2.5, "B+2.5"),
    ],
)
def test_results(reason, margin, text):
    result = GameResult(0, "a", "b", 1, margin, reason, 0)
    (record,) = read_sgf(match_sgf(FinishedGame(result, go.Game(5, RULES), 0)))
    assert str(record.result) == result.text == text
    assert record.random_plies == ()


def test_replaying_checks_every_move():
    (record,) = read_sgf(b"(;SZ[5]KM[0]AB[aa][bb]AW[ee];W[cc];B[dd];W[cc])")
    game = replay(record, go.Game, RULES, 2)
    assert [move.action for move in game.moves] == [12, 18]
    assert game.rules == RULES.replace(komi=0.0)
    assert game.stones.sum() == 1
    with pytest.raises(RecordError, match=r"move 3: illegal move C3: occupied"):
        replay(record, go.Game, RULES)
    (dead,) = read_sgf(b"(;SZ[5]AB[aa]AW[ab][ba])")
    with pytest.raises(RecordError, match=r"set-up: .*no liberty"):
        replay(dead, go.Game, RULES)
