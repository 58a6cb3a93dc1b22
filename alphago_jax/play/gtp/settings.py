"""GTP commands about the engine and its settings: board size, komi, rules, clocks."""

import time
from collections.abc import Callable

from alphago_jax import go
from alphago_jax.play.gtp import arguments as read
from alphago_jax.play.gtp import rule_sets
from alphago_jax.play.gtp.protocol import CommandError
from alphago_jax.play.gtp.session import Session, TimeSettings


def boardsize(session: Session, arguments: list[str]) -> str:
    """`boardsize N`: an empty board of another size."""
    (text,) = read.need(arguments, 1)
    size = read.integer(text, "boardsize not an integer")
    if not 2 <= size <= 25:
        raise CommandError("unacceptable size")
    try:
        session.new_game(size)
    except ValueError:
        raise CommandError("unacceptable size") from None
    return ""


def query_boardsize(session: Session, arguments: list[str]) -> str:
    """`query_boardsize`: the board side."""
    del arguments
    return str(session.game.size)


def clear_board(session: Session, arguments: list[str]) -> str:
    """`clear_board`: a new game; size, komi, rules and time settings stay."""
    del arguments
    session.new_game(session.game.size)
    return ""


def komi(session: Session, arguments: list[str]) -> str:
    """`komi X`: points for White, a whole or half number."""
    points = read.number(*read.need(arguments, 1))
    try:
        session.set_komi(points)
    except ValueError as error:
        raise CommandError(str(error)) from None
    return ""


def get_komi(session: Session, arguments: list[str]) -> str:
    """`get_komi`: points for White."""
    del arguments
    return f"{session.rules.komi:g}"


def get_handicap(session: Session, arguments: list[str]) -> str:
    """`get_handicap`: handicap stones, placed or played by Black in a row."""
    del arguments
    return str(session.game.handicap)


def get_rules(session: Session, arguments: list[str]) -> str:
    """`kata-get-rules`: the rules as a JSON object."""
    del arguments
    return rule_sets.to_text(session.rules)


def set_rules(session: Session, arguments: list[str]) -> str:
    """`kata-set-rules NAME|JSON`, `kgs-rules NAME`: the game is judged by them."""
    read.need(arguments, 1)
    return _change_rules(session, rule_sets.from_text, " ".join(arguments))


def set_rule(session: Session, arguments: list[str]) -> str:
    """`kata-set-rule KEY VALUE`: one switch."""
    key, value = read.need(arguments, 2)

    def change(value: str, rules: go.Rules) -> go.Rules:
        return rule_sets.with_switch(rules, key, value)

    return _change_rules(session, change, value)


def _change_rules(
    session: Session, change: Callable[[str, go.Rules], go.Rules], text: str
) -> str:
    try:
        session.set_rules(change(text, session.rules))
    except go.IllegalMoveError as error:
        raise CommandError(f"the game has an {error} under these rules") from None
    except ValueError as error:
        raise CommandError(str(error)) from None
    return ""


def time_settings(session: Session, arguments: list[str]) -> str:
    """`time_settings MAIN PERIOD STONES`: seconds; Canadian byo-yomi.

    `0 1 0` (a period without stones) means no limit.
    """
    main, period, stones = (read.integer(text) for text in read.need(arguments, 3))
    if period > 0 and stones == 0:
        settings = TimeSettings()
    elif period == 0:
        settings = TimeSettings("absolute", main)
    else:
        settings = TimeSettings("canadian", main, period, stones)
    session.time_settings = settings
    return ""


def kgs_time_settings(session: Session, arguments: list[str]) -> str:
    """`kgs-time_settings none|absolute M|byoyomi M P N|canadian M P N`."""
    system = read.need(arguments, 1)[0].lower()
    num_numbers = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}
    if system not in num_numbers:
        raise CommandError(f"unknown time system {system}")
    texts = read.need(arguments[1:], num_numbers[system])
    main, period, periods = ([read.integer(text) for text in texts] + [0, 0, 0])[:3]
    session.time_settings = TimeSettings(system, main, period, periods)
    return ""


def time_left(session: Session, arguments: list[str]) -> str:
    """`time_left COLOUR SECONDS STONES`: what the clock shows."""
    colour_text, seconds, stones = read.need(arguments, 3)
    # A player whose time is over has less than none on some clients' clocks.
    left = (read.number(seconds), read.integer(stones))
    session.time_left[read.colour(colour_text)] = left
    return ""


def cputime(session: Session, arguments: list[str]) -> str:
    """`cputime`: seconds of processor time used by this process."""
    del session, arguments
    return f"{time.process_time():.3f}"


COMMANDS = {
    "boardsize": boardsize,
    "query_boardsize": query_boardsize,
    "clear_board": clear_board,
    "komi": komi,
    "get_komi": get_komi,
    "get_handicap": get_handicap,
    "kata-get-rules": get_rules,
    "kata-set-rules": set_rules,
    "kgs-rules": set_rules,
    "kata-set-rule": set_rule,
    "time_settings": time_settings,
    "kgs-time_settings": kgs_time_settings,
    "time_left": time_left,
    "cputime": cputime,
    "gomill-cpu_time": cputime,
}
