"""Games out of files, folders and archives, in bulk.

One bad file or game never stops the reading: it is skipped, counted, and kept
with its place and reason in a `ReadReport`.
"""

import bz2
import collections
import contextlib
import dataclasses
import gzip
import lzma
import pathlib
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, NamedTuple

from alphago_jax.data import sgf
from alphago_jax.data.plain_records import read_plain
from alphago_jax.data.records import GameRecord, Source, iter_games
from alphago_jax.data.sgf import SgfError

Filter = Callable[[GameRecord], bool]

_TAR = (".tar", ".tgz", ".tbz2", ".txz", ".tar.gz", ".tar.bz2", ".tar.xz")
_OPENERS = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}
# What a damaged archive raises: RuntimeError and NotImplementedError come from
# encrypted and exotic zip members.
_DAMAGE = (
    OSError,
    EOFError,
    RuntimeError,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
)
_KEPT_SKIPS = 1000


class Skip(NamedTuple):
    """A game or file that was not read. `reason` is from a small fixed set."""

    source: Source
    reason: str
    message: str


@dataclasses.dataclass
class ReadReport:
    """What happened while reading. Counts are exact; only the first skips are kept.

    Attributes:
      read: games handed out.
      files: files of games opened, those in archives too.
      ignored: files in folders and archives whose names are not of games.
      rejected: filter name -> games that it refused.
      skipped: reason -> games and files that could not be read.
      skips: the first thousand of them.
      warnings: kind -> games with such a warning, among those read.
    """

    read: int = 0
    files: int = 0
    ignored: int = 0
    rejected: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )
    skipped: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )
    skips: list[Skip] = dataclasses.field(default_factory=list)
    warnings: collections.Counter[str] = dataclasses.field(
        default_factory=collections.Counter
    )

    def skip(self, source: Source, reason: str, message: str) -> None:
        """Counts something that could not be read."""
        self.skipped[reason] += 1
        if len(self.skips) < _KEPT_SKIPS:
            self.skips.append(Skip(source, reason, message))

    def accept(self, record: GameRecord, keep: Iterable[Filter]) -> bool:
        """Whether all filters pass a game; counts it either way."""
        for wanted in keep:
            if not wanted(record):
                self.rejected[getattr(wanted, "__name__", repr(wanted))] += 1
                return False
        self.read += 1
        for kind in {note.kind for note in record.warnings}:
            self.warnings[kind] += 1
        return True

    def __str__(self) -> str:
        lines = [f"{self.read} games read from {self.files} files"]
        if self.ignored:
            lines.append(f"{self.ignored} files ignored, by name no games")
        tables = (
            ("refused by filter", self.rejected),
            ("skipped", self.skipped),
            ("read with a warning", self.warnings),
        )
        for title, counts in tables:
            for what, count in counts.most_common():
                lines.append(f"{title}: {count} × {what}")
        lines += [f"  {skip.source}: {skip.message}" for skip in self.skips[:20]]
        if sum(self.skipped.values()) > 20:
            lines.append("  …")
        return "\n".join(lines)


def iter_records(
    paths: Iterable[str | pathlib.Path] | str | pathlib.Path,
    *,
    keep: Iterable[Filter] = (),
    report: ReadReport | None = None,
) -> Iterator[GameRecord]:
    """Every game in files, folders (recursively, in order of name) and archives.

    Reads `.sgf`; `.sgfs` (one game a line); both compressed with xz, gzip or
    bzip2; zip; and tar, compressed or not. A file named here is read whatever its
    name; in folders and archives only names of games are.

    Args:
      paths: one or many.
      keep: filters that a game must all pass.
      report: counts of what was read and skipped, filled while iterating.

    Raises:
      FileNotFoundError: at once, if one of `paths` does not exist.
    """
    if isinstance(paths, str | pathlib.Path):
        paths = [paths]
    roots = [pathlib.Path(path) for path in paths]
    for root in roots:
        if not root.exists():
            raise FileNotFoundError(f"no such file or folder: {root}")
    report = ReadReport() if report is None else report
    return _records(roots, tuple(keep), report)


def _records(
    roots: list[pathlib.Path], keep: tuple[Filter, ...], report: ReadReport
) -> Iterator[GameRecord]:
    for root in roots:
        for game in _from_path(root, report):
            if report.accept(game, keep):
                yield game


def _from_path(root: pathlib.Path, report: ReadReport) -> Iterator[GameRecord]:
    if not root.is_dir():
        yield from _from_file(root, report)
        return
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        if _is_archive(path.name) or _is_games(path.name):
            yield from _from_file(path, report)
        else:
            report.ignored += 1


def _is_archive(name: str) -> bool:
    return name.lower().endswith((".zip", *_TAR))


def _is_games(name: str) -> bool:
    stem, _ = _uncompressed_name(name)
    return stem.endswith((".sgf", ".sgfs", ".mgt"))


def _uncompressed_name(name: str) -> tuple[str, str]:
    """Lower-case name without its compression, and the compression."""
    name = name.lower()
    for suffix in _OPENERS:
        if name.endswith(suffix):
            return name.removesuffix(suffix), suffix
    return name, ""


def _from_file(path: pathlib.Path, report: ReadReport) -> Iterator[GameRecord]:
    source = Source(str(path))
    name = path.name.lower()
    try:
        if name.endswith(".zip"):
            yield from _from_zip(path, report)
        elif name.endswith(_TAR):
            yield from _from_tar(path, report)
        else:
            with path.open("rb") as file:
                yield from _from_stream(file, source, report)
    except _DAMAGE as error:
        report.skip(source, "unreadable file", _describe(error))


def _from_zip(path: pathlib.Path, report: ReadReport) -> Iterator[GameRecord]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            if not _is_games(member.filename):
                report.ignored += 1
                continue
            source = Source(f"{path}/{member.filename}")
            try:
                with archive.open(member) as file:
                    yield from _from_stream(file, source, report)
            except _DAMAGE as error:
                report.skip(source, "unreadable file", _describe(error))


def _from_tar(path: pathlib.Path, report: ReadReport) -> Iterator[GameRecord]:
    with tarfile.open(path) as archive:
        for member in archive:
            if not member.isfile():
                continue
            if not _is_games(member.name):
                report.ignored += 1
                continue
            file = archive.extractfile(member)
            if file is not None:
                yield from _from_stream(file, Source(f"{path}/{member.name}"), report)


def _from_stream(
    file: IO[bytes], source: Source, report: ReadReport
) -> Iterator[GameRecord]:
    """Games of one file, which may be compressed."""
    name, compression = _uncompressed_name(source.file)
    report.files += 1
    opener = _OPENERS[compression] if compression else contextlib.nullcontext
    with opener(file) as plain:
        if name.endswith(".sgfs"):
            yield from _from_lines(plain, source, report)
        else:
            yield from _games(plain.read(sgf.MAX_BYTES + 1), source, report)


def _from_lines(
    file: IO[bytes], source: Source, report: ReadReport
) -> Iterator[GameRecord]:
    number = 0
    while line := file.readline(sgf.MAX_BYTES + 1):
        number += 1
        if line.isspace():
            continue
        place = source._replace(line=number)
        record = read_plain(line, place)
        if record is not None:
            yield record
        else:
            yield from _games(line, place, report)


def _games(data: bytes, source: Source, report: ReadReport) -> Iterator[GameRecord]:
    for game in iter_games(data, source=source):
        if isinstance(game, SgfError):
            report.skip(source, game.reason, str(game))
        else:
            yield game


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]
