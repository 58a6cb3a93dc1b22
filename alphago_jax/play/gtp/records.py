"""GTP commands that read and write game records: loadsgf, printsgf."""

import logging
import pathlib

from alphago_jax import go
from alphago_jax.data.records import iter_games
from alphago_jax.data.results import UNKNOWN, VOID, Result
from alphago_jax.data.writing import to_sgf
from alphago_jax.play import counting
from alphago_jax.play.gtp import arguments as read
from alphago_jax.play.gtp import rule_sets
from alphago_jax.play.gtp.protocol import CommandError
from alphago_jax.play.gtp.session import OpenGame, Session
from alphago_jax.play.records import (
    margin_result,
    record_of,
    replay,
    resignation,
)

_log = logging.getLogger(__name__)


def loadsgf(session: Session, arguments: list[str]) -> str:
    """`loadsgf FILE [MOVE]`: the main line, up to the position before that move.

    Rules stay, komi is the file's; what was tolerated in the file is logged. After a
    failure the game is what it was.
    """
    read.need(arguments, 1)
    *words, last = arguments
    stop = None
    if words and last.isascii() and last.isdigit():
        stop = read.integer(last)
        arguments = words
    path = pathlib.Path(" ".join(arguments))
    try:
        record = next(iter_games(path.read_bytes()))
        if isinstance(record, Exception):
            raise record
        count = len(record) if stop is None else min(max(stop - 1, 0), len(record))
        session.take(replay(record, OpenGame, session.rules, count))
        for note in record.warnings:
            _log.warning("%s: %s: %s", path.name, note.kind, note.message)
    except OSError as error:
        raise CommandError(f"cannot load file: {error.strerror}") from None
    except ValueError as error:
        raise CommandError(f"cannot load file: {error}") from None
    return ""


def printsgf(session: Session, arguments: list[str]) -> str:
    """`printsgf [FILE]`: the game as SGF, in the reply or in a file."""
    game = session.game
    record = record_of(game, result=_result(session), rules=_rules_name(game.rules))
    text = to_sgf(record)
    if not arguments:
        return text
    try:
        pathlib.Path(" ".join(arguments)).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"cannot write file: {error.strerror}") from None
    return ""


def _rules_name(rules: go.Rules) -> str:
    presets = rule_sets.PRESETS.items()
    same = (name for name, own in presets if own.replace(komi=rules.komi) == rules)
    return next(same, "")


def _result(session: Session) -> Result:
    """The result, the same as final_score; unknown while the game goes on."""
    if session.resigned is not None:
        return resignation(session.resigned)
    if not session.game.is_over:
        return UNKNOWN
    if go.is_no_result(session.game.state):
        return VOID
    return margin_result(counting.final_margin(session.game))


COMMANDS = {"loadsgf": loadsgf, "printsgf": printsgf}
