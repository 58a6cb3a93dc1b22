"""Choosing games: filters, and a split that no duplicate can cross.

A filter is a function of a game; the makers here give it a name for reports.
"""

import functools
import hashlib
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from alphago_jax.data.headers import rank_number
from alphago_jax.data.records import GameRecord

Filter = Callable[[GameRecord], bool]

SPLIT_PLIES = 60  # two games alike this far share their positions, and their side
_DIGEST_BYTES = 16


def _named(name: str, function: Filter) -> Filter:
    function.__name__ = name
    return function


def by_size(*sizes: int) -> Filter:
    """Games on boards of these sides."""
    return _named(f"size in {sizes}", lambda game: game.size in sizes)


def by_rank(lowest: str, highest: str | None = None) -> Filter:
    """Games where both players are at least `lowest`, at most `highest`.

    Ranks as in `headers.rank_number`: "5d", "1p". Unknown ranks do not pass.

    Raises:
      ValueError: if a bound is no rank.
    """
    bounds = [None if text is None else rank_number(text) for text in (lowest, highest)]
    if bounds[0] is None or (highest is not None and bounds[1] is None):
        raise ValueError(f"not a rank: {lowest!r} or {highest!r}; write 5d, 3k or 9p")
    low, high = bounds[0], bounds[1]

    def passes(game: GameRecord) -> bool:
        ranks = [rank_number(text) for text in game.ranks]
        return all(
            rank is not None and low <= rank and (high is None or rank <= high)
            for rank in ranks
        )

    return _named(f"rank {lowest} to {highest or 'any'}", passes)


def by_date(first: str = "", last: str = "9999") -> Filter:
    """Games of a span, bounds included: "2015", "2015-03" or "2015-03-14".

    `by_date(last="2022")` is all before 2023. Games without a date do not pass.
    A date that says less than a bound is compared as far as it goes.
    """

    def passes(game: GameRecord) -> bool:
        date = game.date
        if date is None:
            return False
        return date[: len(first)] >= first[: len(date)] and date[: len(last)] <= last

    return _named(f"date {first} to {last}", passes)


def by_handicap(most: int = 0) -> Filter:
    """Games with at most so many handicap stones; 0 is even games only."""
    return _named(f"handicap at most {most}", lambda game: game.handicap <= most)


def by_length(least: int = 0, most: int | None = None) -> Filter:
    """Games of at least and at most so many moves."""
    return _named(
        f"moves {least} to {'any' if most is None else most}",
        lambda game: least <= len(game) and (most is None or len(game) <= most),
    )


def with_result(game: GameRecord) -> bool:
    """The winner is known, or it is a draw."""
    return game.result.winner is not None


def decided_by_play(game: GameRecord) -> bool:
    """The winner was ahead: by score, resignation or a draw; not on time."""
    return game.result.by_play


def without_set_up(game: GameRecord) -> bool:
    """The game begins on an empty board."""
    return not game.black and not game.white


def without_warnings(*kinds: str) -> Filter:
    """Games without these warnings; without any, if none are named."""
    return _named(
        f"no warning {', '.join(kinds)}".rstrip(),
        lambda game: not any(not kinds or n.kind in kinds for n in game.warnings),
    )


def all_of(*filters: Filter) -> Filter:
    """Games that pass every filter."""
    name = " and ".join(f.__name__ for f in filters)
    return _named(name, lambda game: all(f(game) for f in filters))


@functools.cache
def _turned_actions(size: int) -> np.ndarray:
    """Where every action goes under the eight symmetries: int16 [8, N²+1]."""
    board = np.arange(size * size).reshape(size, size)
    turns = [np.rot90(b, k) for b in (board, board.T) for k in range(4)]
    table = np.stack([turn.ravel() for turn in turns])
    passes = np.full((8, 1), size * size)
    return np.concatenate([table, passes], axis=1).astype(np.int16)


def game_hash(game: GameRecord, *, plies: int | None = None) -> bytes:
    """What a game is, whichever way its board is turned: 16 bytes.

    Equal for games with equal size, set-up and moves (the first `plies`) up to
    the eight symmetries; header and result do not count. Stable for ever.
    """
    table = _turned_actions(game.size)
    parts = [np.sort(table[:, list(s)], axis=1) for s in (game.black, game.white) if s]
    turned = np.concatenate([*parts, table[:, game.actions[:plies]]], axis=1)
    rows = turned.astype(">i2")  # [8, S + T]; big-endian, the same on any machine
    least = min(row.tobytes() for row in rows)
    colours = game.colours[:plies].tobytes()
    counts = f"{game.size},{len(game.black)},{len(game.white)};".encode()
    return hashlib.blake2b(counts + colours + least, digest_size=_DIGEST_BYTES).digest()


def unique(games: Iterable[GameRecord]) -> list[GameRecord]:
    """The first of every game; a game and its turned copies are one."""
    found: dict[bytes, GameRecord] = {}
    for game in games:
        found.setdefault(game_hash(game), game)
    return list(found.values())


def split_of(game: GameRecord, fractions: Mapping[str, float], *, seed: int = 0) -> str:
    """The part that a game belongs to, from its first `SPLIT_PLIES` moves alone.

    Independent of the other games, so that data added later moves nothing across.

    Args:
      game: any.
      fractions: name -> share, adding up to 1.
      seed: another seed, another split.

    Raises:
      ValueError: if the shares do not add up to 1.
    """
    if abs(sum(fractions.values()) - 1) > 1e-6 or min(fractions.values()) < 0:
        raise ValueError(f"shares must add up to 1: {dict(fractions)}")
    content = game_hash(game, plies=SPLIT_PLIES)
    salt = seed.to_bytes(8, "big", signed=True)
    drawn = hashlib.blake2b(content, digest_size=8, salt=salt).digest()
    place = int.from_bytes(drawn, "big") / 2**64
    for name, share in fractions.items():
        place -= share
        if place < 0:
            return name
    return list(fractions)[-1]


def split(
    games: Iterable[GameRecord], fractions: Mapping[str, float], *, seed: int = 0
) -> dict[str, list[GameRecord]]:
    """Games by part, whole games only, duplicates always in one part.

    Arguments and errors as in `split_of`.
    """
    parts: dict[str, list[GameRecord]] = {name: [] for name in fractions}
    for game in games:
        parts[split_of(game, fractions, seed=seed)].append(game)
    return parts
