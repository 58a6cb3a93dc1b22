"""Real files: odd ones against their manifest, and the fast reader on archives."""

import csv
import dataclasses
import itertools
import lzma
import tarfile

import numpy as np
import pytest

from alphago_jax.data.archives import ReadReport, iter_records
from alphago_jax.data.plain_records import read_plain
from alphago_jax.data.records import GameRecord, iter_games, read_sgf
from alphago_jax.data.sgf import SgfError
from alphago_jax.data.writing import to_sgf

pytestmark = pytest.mark.shared
LINES = 60  # of every archive


def fields(record):
    values = {f.name: getattr(record, f.name) for f in dataclasses.fields(record)}
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in values.items()
    }


@pytest.fixture(scope="module")
def odd(shared_dir):
    """Rows of the manifest: (file, tags, games and errors of the file)."""
    folder = shared_dir / "data" / "awkward"
    with (folder / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        (
            row["file"],
            set(row["tags"].split(",")),
            list(iter_games((folder / row["file"]).read_bytes())),
        )
        for row in rows
    ]


def test_odd_files_load_or_say_why(odd):
    assert len(odd) == 261
    refused = {name: games[0] for name, _, games in odd if not _loads(games)}
    reasons = [error.reason for error in refused.values()]
    assert {reason: reasons.count(reason) for reason in set(reasons)} == {
        "board not square": 10,
        "no game": 3,
        "not a game of Go": 1,
        "bad point": 3,
    }
    assert all(error.line is not None for error in refused.values())


def _loads(games):
    return isinstance(games[0], GameRecord)


# Manifest tag -> what a record of such a file must be.
TAGS = {
    "no-moves": lambda record: len(record) == 0,
    "white-first": lambda record: record.to_play == -1,
    "noRE": lambda record: record.result.winner is None,
    "setup-after-move": lambda r: "set-up after a move" in kinds(r),
    "unclosed": lambda record: "unclosed" in kinds(record),
    "pass-tt": lambda record: record.size**2 in record.actions,
    "pass-empty": lambda record: record.size**2 in record.actions,
}
# Passes in variations, moves after a set-up: not in the main line's record.
NOT_IN_MAIN_LINE = {"variations", "setup-after-move"}


def kinds(record):
    return {note.kind for note in record.warnings}


def test_odd_files_agree_with_the_manifest(odd):
    checked = 0
    for name, tags, games in odd:
        if len(games) > 1 or not _loads(games):
            continue
        checked += 1
        (record,) = games
        sizes = [int(tag[2:]) for tag in tags if tag[2:].isdigit() and tag[:2] == "SZ"]
        assert record.size == (sizes or [19])[0], name
        for tag in tags & TAGS.keys():
            in_variation = tag.startswith("pass") and tags & NOT_IN_MAIN_LINE
            assert in_variation or TAGS[tag](record), (name, tag)
        if not tags & {"no-moves", "unclosed"}:
            assert len(record) > 0, name
    assert checked > 230


def test_files_as_found(shared_dir):
    games = 0
    with tarfile.open(shared_dir / "data" / "raw_sgf.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is None:
                continue
            (record,) = read_sgf(file.read())
            again = read_sgf(to_sgf(record))[0]
            assert again.actions.tolist() == record.actions.tolist()
            assert (again.komi, again.black) == (record.komi, record.black)
            games += 1
    assert games == 650


def test_fast_reader_equals_the_full_one_on_archives(shared_dir):
    archives = sorted((shared_dir / "data").glob("*/*.sgfs.xz"))
    fast = lines = 0
    for path in archives[::5]:
        with lzma.open(path) as file:
            for line in itertools.islice(file, LINES):
                lines += 1
                record = read_plain(line)
                if record is None:
                    continue
                fast += 1
                (full,) = read_sgf(line)
                assert fields(record) == fields(full)
    assert lines > 1000 and fast > 0.98 * lines


def test_truncated_real_files_raise_nothing_but_sgf_errors(shared_dir):
    rng = np.random.default_rng(0)
    files = sorted((shared_dir / "data" / "awkward").rglob("*.sgf"))
    small = [path.read_bytes() for path in files if path.stat().st_size < 3000]
    assert len(small) > 150
    for data in small:
        changed = np.frombuffer(data, np.uint8).copy()
        changed[rng.integers(len(data), size=3)] = rng.integers(0, 256, 3)
        for text in (data[: rng.integers(len(data))], changed.tobytes()):
            for game in iter_games(text):
                assert isinstance(game, GameRecord | SgfError)


def test_small_boards_in_bulk(shared_dir):
    report = ReadReport()
    games = list(iter_records(shared_dir / "data" / "small_boards", report=report))
    sizes = [game.size for game in games]
    assert [sizes.count(size) for size in (9, 13, 17)] == [787, 203, 15]
    assert (report.files, sum(report.skipped.values())) == (5, 0)
