"""`alphago-jax sgf`: game records read, checked on the engine, and converted."""

import collections
import dataclasses
import lzma
import pathlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

if TYPE_CHECKING:
    from alphago_jax.data.archives import ReadReport
    from alphago_jax.data.records import GameRecord

_CHUNK = 2048  # games replayed at a time


@dataclasses.dataclass(frozen=True)
class Sgf:
    """Reads files of games: SGF, collections, `.sgfs`, compressed, folders, archives.

    `info` counts them, `check` replays every game on the engine, `convert` writes them
    again, one game a line. What cannot be read is skipped, counted and named; `check`
    ends with status 1 if a game has an illegal move.
    """

    action: Annotated[Literal["info", "check", "convert"], tyro.conf.Positional]
    """What to do."""

    paths: Annotated[tuple[pathlib.Path, ...], tyro.conf.Positional]
    """Files, folders or archives."""

    rules: str = "chinese"
    """Rules to check by; simple ko refuses the least."""

    out: pathlib.Path | None = None
    """File that `convert` writes, ending in .sgfs or .sgfs.xz."""

    def run(self) -> None:
        """Does it."""
        from alphago_jax.data.archives import ReadReport, iter_records

        if not self.paths:
            raise ValueError("name files, folders or archives to read")
        report = ReadReport()
        records = iter_records(self.paths, report=report)
        action = {"info": self._info, "check": self._check, "convert": self._convert}
        action[self.action](records, report)

    def _info(self, records: "Iterator[GameRecord]", report: "ReadReport") -> None:
        sizes: collections.Counter[str] = collections.Counter()
        reasons: collections.Counter[str] = collections.Counter()
        moves = 0
        for record in records:
            sizes[f"{record.size}×{record.size}"] += 1
            reasons[record.result.reason] += 1
            moves += len(record)
        print(report)
        print(f"{moves} moves")
        for title, counts in (("board", sizes), ("result", reasons)):
            for what, count in counts.most_common():
                print(f"{title} {what}: {count}")

    def _check(self, records: "Iterator[GameRecord]", report: "ReadReport") -> None:
        refused = checked = 0
        for size, games in _by_size(records):
            for game, reason in _refused(games, size, self.rules):
                refused += 1
                print(f"{game.source}: {reason}")
            checked += len(games)
            print(f"{checked} games checked", file=sys.stderr)
        print(report)
        print(f"{checked} games checked on the engine, {refused} refused")
        if refused:
            raise SystemExit(1)

    def _convert(self, records: "Iterator[GameRecord]", report: "ReadReport") -> None:
        from alphago_jax.data.writing import to_sgf

        if self.out is None or not self.out.name.endswith((".sgfs", ".sgfs.xz")):
            raise ValueError("convert needs --out, a name ending in .sgfs or .sgfs.xz")
        if self.out.exists():
            raise ValueError(f"{self.out} exists and is not overwritten")
        opener = lzma.open if self.out.suffix == ".xz" else open
        with opener(self.out, "wt", encoding="utf-8") as file:
            for record in records:
                # A line break in a comment would end the game's line.
                file.write(" ".join(to_sgf(record).split("\n")) + "\n")
        print(report)


def _by_size(
    records: "Iterable[GameRecord]",
) -> "Iterator[tuple[int, list[GameRecord]]]":
    """Games in lots of one board size."""
    lots: dict[int, list[GameRecord]] = collections.defaultdict(list)
    for record in records:
        lot = lots[record.size]
        lot.append(record)
        if len(lot) == _CHUNK:
            yield record.size, lots.pop(record.size)
    yield from sorted(lots.items())


def _refused(
    games: "Sequence[GameRecord]", size: int, rules_name: str
) -> "Iterator[tuple[GameRecord, str]]":
    """Games with an illegal move or set-up, and what is illegal."""
    import numpy as np

    from alphago_jax.data.replay import Illegal, replay
    from alphago_jax.go import coords
    from alphago_jax.play.gtp import rule_sets

    nothing = np.zeros(0, np.int64)
    illegal: list[Illegal] = []
    rules = rule_sets.preset(rules_name)
    longest = max(len(game) for game in games) + 2
    # Few different lengths, since every length compiles anew.
    limit = max(1024, 1 << (longest - 1).bit_length())
    positions = replay(
        games,
        size,
        [nothing] * len(games),
        rules=rules,
        illegal=illegal,
        move_limit=limit,
    )
    try:
        for _ in positions:
            pass
    except ValueError as error:
        if len(games) == 1:
            yield games[0], f"set-up: {error}"
            return
        middle = len(games) // 2
        for half in (games[:middle], games[middle:]):
            yield from _refused(half, size, rules_name)
        return
    for found in sorted(illegal, key=lambda found: found.game):
        vertex = coords.action_to_vertex(found.action, size)
        yield games[found.game], f"move {found.ply + 1}, {vertex}, is illegal"
