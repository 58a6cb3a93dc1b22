"""Games of GNU Go against itself, for the bundled sample and the first networks.

Makes many different games with true results, cheaply, where no human games are
at hand (9×9) or none may be bundled. Every game has a random opening and two levels;
in some games a random move is thrown in now and then, so that the games also show how
mistakes are punished. The game is played out: the area on the board is the result.

    python experiments/gnugo_games.py --out runs/gnugo_9x9 --games 20000
    python experiments/gnugo_games.py --out runs/gnugo_19x19 --size 19 --games 60
    python experiments/gnugo_games.py --out runs/gnugo_9x9 --games 1500 --bundle FILE

The last form writes the first games of a run to one file, with a JSON file of their
settings and counts beside it. A killed run continues with --resume and loses no
finished game. Needs GNU Go (Debian package gnugo).

Files: `OUT/games-00000.sgfs.xz` and so on, one game a line; the shard being filled is
plain text. A root comment `C[random: 1 2 3 17]` numbers the plies, from 1, that were
drawn at random and should not be learnt as a policy's move.

Time on one core of a busy 2-core CPU machine, both players at one level, in CPU
seconds a game: 9×9, levels 1, 3, 5, 7, 8, 10: 0.9, 1.0, 1.8, 3.6, 4.9, 11.5 (three
games each, about 50 plies); 19×19, levels 1 and 5: 35 and 73 (one game each, 250 and
310 plies); all cores had other work. A 9×9 game takes some 80 bytes and a 19×19 game
some 500.
"""

import collections
import concurrent.futures
import contextlib
import dataclasses
import json
import pathlib
import queue
import threading
import time
from collections.abc import Generator, Sequence

import rich.console
import rich.progress
import tyro
from _game_shards import Shards, locked, read_games, write_games
from _gnugo_game import Table, canonical_hash, make_plan, moves_of

from alphago_jax.play.external import GtpError, GtpProcessError

SETTINGS = ("size", "seed", "levels", "noisy_games", "noisy_plies")
MOST_FAILURES = 20  # in a row, before the run gives up
LOG_SECONDS = 60.0  # between lines where standard error is not a terminal


@dataclasses.dataclass(frozen=True)
class Arguments:
    """Makes games of GNU Go against itself, or a bundle of games made before."""

    out: pathlib.Path
    """Folder of the run; made if absent."""
    size: int = 9
    """Side of the board, 5 to 19."""
    games: int = 20000
    """Number of different games to have in the end."""
    seed: int = 0
    """With the number of a game it decides all about that game."""
    levels: tuple[int, ...] = (1, 5, 10)
    """Levels that each player draws from in each game; repeat one for more of it."""
    noisy_games: float = 0.3
    """Fraction of the games with random moves after the opening."""
    noisy_plies: float = 0.03
    """Chance of a random move at each ply of such a game."""
    workers: int = 1
    """Games played at once, each by one or two GNU Go processes."""
    resume: bool = False
    """Continue the run in `out`."""
    bundle: pathlib.Path | None = None
    """Write the first `games` games of `out` to this file instead of playing."""


def check_settings(arguments: Arguments) -> None:
    """Makes the folder of a new run; refuses to mix two runs in one folder."""
    values = dataclasses.asdict(arguments)
    settings = {name: values[name] for name in SETTINGS} | {
        "levels": list(arguments.levels)
    }
    file = arguments.out / "settings.json"
    if file.exists() and not arguments.resume:
        raise SystemExit(f"{arguments.out} holds a run; continue it with --resume")
    if file.exists():
        before = json.loads(file.read_text())
        changed = [n for n in SETTINGS if before.get(n) != settings[n]]
        if changed:
            raise SystemExit(f"{file} has other values for: {', '.join(changed)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(settings) + "\n")


def play_in_order(
    arguments: Arguments, first: int, console: rich.console.Console
) -> Generator[tuple[int, str | None]]:
    """Plays games `first`, `first` + 1, … without end and yields them in this order.

    Yields:
        The number of the game and its SGF line, or None if it failed.
    """
    tables = [Table() for _ in range(arguments.workers)]
    free: queue.SimpleQueue[Table] = queue.SimpleQueue()
    for table in tables:
        free.put(table)
    stopping = threading.Event()
    values = dataclasses.asdict(arguments)
    choices = {name: values[name] for name in SETTINGS if name != "seed"}

    def play(index: int) -> str | None:
        table = free.get()
        try:
            return table.play(make_plan(arguments.seed, index, **choices))
        except (GtpError, GtpProcessError) as error:
            table.close()
            if not stopping.is_set():
                console.print(f"game {index} failed: {error}", markup=False)
            return None
        finally:
            free.put(table)

    pool = concurrent.futures.ThreadPoolExecutor(arguments.workers)
    pending: collections.deque[concurrent.futures.Future[str | None]]
    # Two for each worker: nobody waits while the oldest game is being finished.
    pending = collections.deque()
    index = first
    try:
        while True:
            while len(pending) < 2 * arguments.workers:
                pending.append(pool.submit(play, index + len(pending)))
            yield index, pending.popleft().result()
            index += 1
    finally:
        stopping.set()
        pool.shutdown(wait=False, cancel_futures=True)
        for table in tables:
            table.close()


@dataclasses.dataclass
class Counts:
    """What became of the games played by this process."""

    kept: int = 0
    duplicate: int = 0
    failed: int = 0

    def text(self, seconds: float) -> str:
        """One line for people."""
        return (
            f"{self.kept / max(seconds, 1e-9):.3f} games/s, "
            f"{self.duplicate} duplicates, {self.failed} failures dropped"
        )


def fill(arguments: Arguments, shards: Shards, console: rich.console.Console) -> None:
    """Plays until the run has all its games."""
    size = arguments.size
    seen = {canonical_hash(moves_of(line, size), size) for line in shards.lines}
    first = 1 + max((int(_property(line, "GN")) for line in shards.lines), default=-1)
    counts, failures_in_a_row = Counts(), 0
    start = logged = time.monotonic()
    with (
        _progress(console) as progress,
        contextlib.closing(play_in_order(arguments, first, console)) as games,
    ):
        task = progress.add_task(
            "games", total=arguments.games, completed=len(shards.lines), note=""
        )
        while len(shards.lines) < arguments.games:
            _, line = next(games)
            failures_in_a_row = 0 if line else failures_in_a_row + 1
            if failures_in_a_row == MOST_FAILURES:
                raise SystemExit(f"{MOST_FAILURES} games failed in a row")
            key = line and canonical_hash(moves_of(line, size), size)
            counts.failed += line is None
            counts.duplicate += key in seen
            if line and key and key not in seen:
                seen.add(key)
                shards.append(line)
                counts.kept += 1
            now = time.monotonic()
            note = counts.text(now - start)
            progress.update(task, completed=len(shards.lines), note=note)
            if not console.is_terminal and now - logged > LOG_SECONDS:
                logged = now
                left = (arguments.games - len(shards.lines)) * (now - start)
                left /= max(counts.kept, 1) * 3600
                total = f"{len(shards.lines)}/{arguments.games}"
                console.print(f"{total} games, {note}, {left:.1f} h left")


def _progress(console: rich.console.Console) -> rich.progress.Progress:
    return rich.progress.Progress(
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.MofNCompleteColumn(),
        rich.progress.TimeRemainingColumn(),
        rich.progress.TextColumn("{task.fields[note]}"),
        console=console,
        disable=not console.is_terminal,
    )


def _property(line: str, name: str) -> str:
    """The value of a property of the root of a game made here."""
    return line.partition(f"{name}[")[2].partition("]")[0]


def summary(lines: Sequence[str]) -> str:
    """Counts that a reader of the games wants to know, as one JSON object."""
    pairs = collections.Counter(
        " - ".join(_property(line, who).split()[-1] for who in ("PB", "PW"))
        for line in lines
    )
    plies = [line.count(";B[") + line.count(";W[") for line in lines]
    return json.dumps(
        {
            "games": len(lines),
            "plies": sum(plies),
            "random_plies": sum(
                len(_property(line, "C").partition(";")[0].split()) - 1
                for line in lines
            ),
            "black_wins": sum("RE[B" in line for line in lines),
            "gnugo_scores_otherwise": sum("GNU Go says" in line for line in lines),
            "levels_black_white": dict(sorted(pairs.items())),
            "komi": dict(collections.Counter(_property(x, "KM") for x in lines)),
        }
    )


def write_bundle(arguments: Arguments, path: pathlib.Path) -> None:
    """Writes the first games of a run to `path`, and beside it what they are."""
    lines = read_games(arguments.out)[: arguments.games]
    if not lines:
        raise SystemExit(f"{arguments.out} holds no games")
    write_games(lines, path)
    settings = json.loads((arguments.out / "settings.json").read_text())
    text = json.dumps(settings | json.loads(summary(lines)), indent=2)
    path.with_name(path.name.partition(".")[0] + ".json").write_text(text + "\n")
    print(text)


def main(arguments: Arguments) -> None:
    """Plays the games, or bundles those already played."""
    console = rich.console.Console(stderr=True)
    if arguments.bundle:
        write_bundle(arguments, arguments.bundle)
        return
    check_settings(arguments)
    with locked(arguments.out):
        shards = Shards(arguments.out)
        try:
            fill(arguments, shards, console)
        except KeyboardInterrupt:
            raise SystemExit("stopped; continue with --resume") from None
        shards.pack()
        print(summary(shards.lines))


if __name__ == "__main__":
    main(tyro.cli(Arguments))
