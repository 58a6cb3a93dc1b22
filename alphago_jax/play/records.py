"""Games of players as SGF, and records as games on the engine."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from alphago_jax import go
from alphago_jax.data.records import GameRecord
from alphago_jax.data.results import DRAW, UNKNOWN, Result, parse_result
from alphago_jax.data.writing import to_sgf
from alphago_jax.play.match import FinishedGame

_GameT = TypeVar("_GameT", bound=go.Game)


class RecordError(ValueError):
    """A record that the engine refuses, with the number of the move."""


def record_of(
    game: go.Game,
    *,
    result: Result = UNKNOWN,
    players: tuple[str, str] = ("", ""),
    rules: str = "",
    event: str = "",
) -> GameRecord:
    """A game as a record.

    Args:
      game: set-up stones, moves, komi and handicap are taken from it.
      result: who won and how.
      players: Black's and White's names.
      rules: name of the rules.
      event: name of the event.
    """
    black, white = (tuple(sorted(stones)) for stones in game.set_up_stones)
    return GameRecord(
        size=game.size,
        actions=np.array([move.action for move in game.moves], np.int16),
        colours=np.array([move.colour for move in game.moves], np.int8),
        black=black,
        white=white,
        to_play=game.moves[0].colour if game.moves else game.to_play,
        komi=game.rules.komi,
        handicap=game.handicap if game.handicap >= 2 else 0,
        rules=rules or None,
        result=result,
        players=players,
        event=event,
    )


def margin_result(points: float) -> Result:
    """The result of a counted game. `points` is Black − White."""
    if points == 0:
        return DRAW
    return Result(1 if points > 0 else -1, abs(points), "score")


def resignation(colour: int) -> Result:
    """The result after a colour has resigned."""
    return Result(-colour, None, "resign")


def match_sgf(finished: FinishedGame) -> bytes:
    """A game of a match as an SGF file; what was unusual is in its comment."""
    game, outcome = finished.game, finished.result
    # Random plies are no examples of play; `GameRecord.random_plies` reads this.
    plies = range(1, finished.num_random + 1)
    notes = [" ".join(["random:", *map(str, plies)])] if plies else []
    if outcome.reason != "score":
        notes.append(outcome.reason)
    if outcome.differs:
        notes.append(f"counted otherwise: {dict(outcome.own_scores)}")
    record = record_of(
        game,
        result=parse_result(outcome.text),
        players=(outcome.black, outcome.white),
        event=f"match game {outcome.number}",
    )
    return (to_sgf(record, {0: "\n".join(notes)}) + "\n").encode()


def replay(
    record: GameRecord,
    make_game: Callable[..., _GameT],
    rules: go.Rules,
    num_moves: int | None = None,
) -> _GameT:
    """Plays a record on the engine, which checks every move.

    Args:
      record: a game.
      make_game: `go.Game` or a subclass.
      rules: the rules; the record's komi goes before theirs.
      num_moves: how many moves; all by default.

    Raises:
      RecordError: for an illegal move, with its number; or a set-up that cannot be.
    """
    if record.komi is not None:
        rules = rules.replace(komi=record.komi)
    is_set_up = bool(record.black or record.white)
    try:
        game = make_game(
            record.size,
            rules,
            black=record.black,
            white=record.white,
            to_play=record.to_play,
            handicap=record.handicap if is_set_up else None,
        )
    except ValueError as error:
        raise RecordError(f"set-up: {error}") from error
    for number in range(len(record) if num_moves is None else num_moves):
        try:
            game.play(int(record.actions[number]), int(record.colours[number]))
        except go.IllegalMoveError as error:
            raise RecordError(f"move {number + 1}: {error}") from error
    return game
