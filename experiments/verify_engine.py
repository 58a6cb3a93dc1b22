"""Checks the Go engine ply by ply against other programs, for as long as you like.

    python experiments/verify_engine.py --plies 1000000 --out runs/verify
    python experiments/verify_engine.py --gnugo --plies 20000

The first plays random games beside `tests/oracle`, a plain Python engine written
from the rules: all rule sets and ways of playing, boards of 2×2 to 9×9 in one batch
and every twentieth batch on 13×13 and 19×19 boards. It compares stones, captures, ko,
legal moves with superko, liberties, atari, history, end of the game, score and
pass-alive sets. The second asks GNU Go (`all_legal`, `captures`, `countlib`,
`list_stones`) under equal rules. Counters are kept in OUT/counters.json, so that a
run can be stopped and goes on where it was; each worker plays its own seeds.

Hardware: 2 CPU cores. Time: about 1,400 plies/s with two workers after compilation for
the oracle. Expected: no mismatch; exit status 1 if there is one, with the board drawn.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import importlib
import json
import multiprocessing
import os
import pathlib
import random
import sys
import time
from typing import Any

TESTS = pathlib.Path(__file__).resolve().parents[1] / "tests"
BIG_BATCH_EVERY = 20
_SMALL, _BIG = range(2, 10), (13, 19)


@dataclasses.dataclass
class Counters:
    """What has been compared so far.

    Attributes:
      batches: batches of games finished; the next batch has this number.
      plies: actions compared.
      plies_19: those on 19×19 boards.
      scores: scores compared.
      captured: stones captured.
      no_results: games that ended by repetition.
      by_rules: plies of each rule set.
      mismatches: differences found.
    """

    batches: int = 0
    plies: int = 0
    plies_19: int = 0
    scores: int = 0
    captured: int = 0
    no_results: int = 0
    by_rules: dict[str, int] = dataclasses.field(default_factory=dict)
    mismatches: int = 0

    def add(self, other: "Counters") -> None:
        """Adds the counters of one batch."""
        by_rules = collections.Counter(self.by_rules)
        by_rules.update(other.by_rules)
        for field in dataclasses.fields(self):
            if field.name != "by_rules":
                total = getattr(self, field.name) + getattr(other, field.name)
                setattr(self, field.name, total)
        self.by_rules = dict(sorted(by_rules.items()))

    @classmethod
    def load(cls, file: pathlib.Path) -> "Counters":
        """Counters of an earlier run, or zeros."""
        return cls(**json.loads(file.read_text())) if file.exists() else cls()

    def save(self, file: pathlib.Path) -> None:
        """Writes the counters; a kill leaves the old or the new file."""
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        new.write_text(json.dumps(dataclasses.asdict(self), indent=1))
        os.replace(new, file)


def _import_test_module(name: str) -> Any:
    """The oracle lives with the tests, which are not installed."""
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    return importlib.import_module(name)


def oracle_batch(seed: int, number: int) -> tuple[Counters, list[str]]:
    """Plays one batch of games beside the oracle."""
    beside = _import_test_module("engine_vs_oracle")
    lockstep = _import_test_module("oracle.lockstep")
    big = number % BIG_BATCH_EVERY == BIG_BATCH_EVERY - 1
    rng = random.Random(f"{seed} {number}")
    specs = []
    for size in _BIG if big else _SMALL:
        rules = rng.sample(lockstep.all_rules(komi=rng.choice((0.0, 6.5, 7.0))), 72)
        specs += lockstep.random_specs(
            16, size=size, rules=rules, seed=rng.randrange(2**31)
        )
    size = max(_BIG) if big else max(_SMALL)
    played = beside.Comparison(specs, size).play(max_plies=2 * size * size)
    on_19 = sum(
        len(moves)
        for moves, spec in zip(played.moves, specs, strict=True)
        if spec.size == max(_BIG)
    )
    counters = Counters(
        batches=1,
        plies=played.plies,
        plies_19=on_19,
        scores=played.scores,
        captured=played.captured,
        no_results=played.no_results,
        by_rules=dict(played.plies_by_rules),
        mismatches=len(played.mismatches),
    )
    return counters, played.mismatches


def gnugo_batch(seed: int, number: int) -> tuple[Counters, list[str]]:
    """Plays a few games beside GNU Go, under each rule set that it knows."""
    beside = _import_test_module("engine_vs_gnugo")
    found = beside.play_batch(random.Random(f"gnugo {seed} {number}"))
    counters = Counters(
        batches=1,
        plies=sum(found.plies_by_rules.values()),
        captured=found.captured,
        by_rules=dict(found.plies_by_rules),
        mismatches=len(found.mismatches),
    )
    return counters, found.mismatches


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--plies", type=int, default=20_000, help="stop after this many (20000)")
    add("--seed", type=int, default=0, help="names the sequence of games (0)")
    add("--workers", type=int, default=1, help="processes (1)")
    add("--gnugo", action="store_true", help="compare with GNU Go instead")
    add("--out", type=pathlib.Path, help="folder of the counters, to go on later")
    return parser.parse_args()


def main() -> int:
    """Runs batches until there are enough plies; returns the exit status."""
    arguments = parse_arguments()
    peer = "gnugo" if arguments.gnugo else "oracle"
    batch = gnugo_batch if arguments.gnugo else oracle_batch
    file = None
    if arguments.out:
        file = arguments.out / f"counters_{peer}_{arguments.seed}.json"
    total = Counters() if file is None else Counters.load(file)
    begin, before = time.monotonic(), total.plies
    # A JAX process must not be forked.
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(arguments.workers, context) as pool:
        while total.plies < arguments.plies:
            numbers = range(total.batches, total.batches + arguments.workers)
            for counters, mismatches in pool.map(
                batch, [arguments.seed] * len(numbers), numbers
            ):
                total.add(counters)
                for mismatch in mismatches[:5]:
                    print(mismatch, end="\n\n", flush=True)
            if file is not None:
                total.save(file)
            rate = (total.plies - before) / (time.monotonic() - begin)
            print(
                f"{total.plies:,} plies ({total.plies_19:,} at 19×19), "
                f"{total.scores:,} scores, {total.mismatches} mismatches, "
                f"{rate:.0f} plies/s",
                file=sys.stderr,
                flush=True,
            )
    print(json.dumps({"peer": peer, **dataclasses.asdict(total)}))
    return 1 if total.mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
