"""A growing collection of games on disk, one a line, that survives a kill.

Used by `gnugo_games.py`.
"""

import contextlib
import fcntl
import lzma
import os
import pathlib
from collections.abc import Iterator, Sequence

SHARD_GAMES = 500


def read_games(folder: pathlib.Path) -> list[str]:
    """All finished games of a run, which may still be going on."""
    texts = {path.with_suffix(""): path for path in folder.glob("games-*.sgfs.xz")}
    lines: list[str] = []
    for packed in sorted(texts.values()):
        lines += lzma.decompress(packed.read_bytes()).decode().splitlines()
    for text in sorted(set(folder.glob("games-*.sgfs")) - set(texts)):
        # What follows the last line feed is still being written, or never was.
        lines += text.read_text().rpartition("\n")[0].splitlines()
    return lines


def write_games(lines: Sequence[str], path: pathlib.Path) -> None:
    """Writes games to an `.sgfs.xz` file, which appears whole or not at all."""
    data = "".join(f"{line}\n" for line in lines).encode()
    draft = path.with_name(path.name + ".draft")
    draft.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    draft.rename(path)


@contextlib.contextmanager
def locked(folder: pathlib.Path) -> Iterator[None]:
    """Keeps other processes from writing to a run; ends with the process."""
    with (folder / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"another process is working in {folder}") from None
        yield


class Shards:
    """The finished games of a run: full shards are compressed, the last is text."""

    def __init__(self, folder: pathlib.Path) -> None:
        """Reads what a run left behind and puts its last shard in order.

        Args:
            folder: of the run; no other process may be writing there.
        """
        self.folder = folder
        self.lines = read_games(folder)
        packed = sorted(folder.glob("games-*.sgfs.xz"))
        for path in packed:
            path.with_suffix("").unlink(missing_ok=True)  # killed while packing
        open_games = len(self.lines) % SHARD_GAMES
        tail = self._tail(len(self.lines))
        if tail.exists():
            data = tail.read_bytes()
            os.truncate(tail, data.rfind(b"\n") + 1)
        elif open_games:  # a finished run is extended: its last shard was packed early
            rest = self.lines[-open_games:]
            tail.write_text("".join(f"{line}\n" for line in rest))
            tail.with_suffix(".sgfs.xz").unlink()

    def append(self, line: str) -> None:
        """Keeps one game, safe from a kill of this process once it returns."""
        with self._tail(len(self.lines)).open("a") as file:
            file.write(line + "\n")
        self.lines.append(line)
        if len(self.lines) % SHARD_GAMES == 0:
            self.pack()

    def pack(self) -> None:
        """Compresses the last shard, if it is not yet."""
        tail = self._tail(len(self.lines) - 1)
        if self.lines and tail.exists():
            lines = tail.read_text().splitlines()
            write_games(lines, tail.with_suffix(".sgfs.xz"))
            tail.unlink()

    def _tail(self, number: int) -> pathlib.Path:
        """Text file of the shard that game `number` of the kept ones belongs to."""
        return self.folder / f"games-{number // SHARD_GAMES:05d}.sgfs"
