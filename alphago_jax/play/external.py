"""A client for other Go programs that speak GTP, such as GNU Go or KataGo.

The program runs as a child process. Replies are read by a thread, so that a program
that hangs is noticed, and standard error is kept aside for error messages.

    with GtpProcess(gnugo_command(level=10)) as program:
        program.send("boardsize 9")
        vertex = program.send("genmove black")

Protocol: Gunnar Farnebäck, "Specification of the Go Text Protocol, version 2", 2002.
"""

import collections
import contextlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import IO

_ASIDE_LINES = 200
_CONTROL = {code: None for code in (*range(9), *range(11, 32), 127)} | {9: " "}


class GtpError(RuntimeError):
    """The program understood a command and refused it (a reply with `?`).

    Attributes:
        command: the command as it was sent.
        reply: the text after the question mark.
    """

    def __init__(self, command: str, reply: str) -> None:
        super().__init__(f"{command!r} was refused: {reply}")
        self.command = command
        self.reply = reply


class GtpProcessError(RuntimeError):
    """The program could not be started, ended, or did not answer in time."""


class GtpProcess:
    """One running GTP program; use it as a context manager or call `close`."""

    def __init__(self, command: str | Sequence[str], *, timeout: float = 120.0) -> None:
        """Starts the program.

        Args:
            command: a shell-like command line or a list of arguments; no shell runs.
            timeout: seconds that a reply may take unless `send` is told otherwise.

        Raises:
            GtpProcessError: the program cannot be started.
        """
        words = shlex.split(command) if isinstance(command, str) else list(command)
        self.command_line = shlex.join(words)
        self._timeout = timeout
        self._aside: collections.deque[str] = collections.deque(maxlen=_ASIDE_LINES)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        try:
            # A session of its own: Ctrl-C reaches us only, and `close` decides.
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError, IndexError) as error:
            raise GtpProcessError(f"cannot start {self.command_line!r}: {error}") from (
                error
            )
        assert self._process.stdout is not None and self._process.stderr is not None
        self._threads = [
            threading.Thread(target=self._read_replies, daemon=True),
            threading.Thread(
                target=_drain, args=(self._process.stderr, self._aside), daemon=True
            ),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """Process id of the program."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """True while the program can be asked."""
        return not self._closed and self._process.poll() is None

    @property
    def aside(self) -> str:
        """The last lines of standard error, and of output that was no reply."""
        return "\n".join(self._aside.copy())

    def send(self, command: str, *, timeout: float | None = None) -> str:
        """Sends one command and waits for its reply.

        Args:
            command: one line, without an id.
            timeout: seconds to wait for this reply; the default of the process if
                None.

        Returns:
            The reply without its `=`, stripped; its lines are joined by newlines.

        Raises:
            GtpError: the program answered with `?`.
            GtpProcessError: the program has ended or did not answer in time. A program
                that is late is killed, since its later replies would be mistaken.
            ValueError: the command is empty, a comment or more than one line.
        """
        if "\n" in command or "\r" in command or not command.partition("#")[0].strip():
            raise ValueError(f"a GTP command is one line: {command!r}")
        with self._lock:
            self._write(command)
            accepted, reply = self._receive(command, timeout or self._timeout)
        if not accepted:
            raise GtpError(command, reply)
        return reply

    def close(self, *, timeout: float = 5.0) -> None:
        """Asks the program to quit and kills it if it has not ended in `timeout` s."""
        if self._closed:
            return
        self._closed = True
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError, ValueError):
            stdin.write(b"quit\n")
            stdin.flush()
        with contextlib.suppress(OSError, ValueError):
            stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout)
        self._kill()

    def __enter__(self) -> "GtpProcess":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _kill(self) -> None:
        """Ends what is left of the program and the threads that read from it."""
        self._closed = True
        # The group is the program's own: a wrapper script's children go with it.
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join(timeout=5.0)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream is not None
            with contextlib.suppress(OSError, ValueError):
                stream.close()

    def _write(self, command: str) -> None:
        if self._closed:
            raise GtpProcessError(f"{self.command_line!r} is closed")
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(command.encode() + b"\n")
            stdin.flush()
        except (OSError, ValueError):
            raise self._failure(command, "has ended") from None

    def _receive(self, command: str, timeout: float) -> tuple[bool, str]:
        """Reads lines up to the empty line that ends a reply."""
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=timeout)
            except queue.Empty:
                raise self._failure(
                    command, f"did not answer within {timeout:g} s"
                ) from None
            if line is None:
                raise self._failure(command, "has ended")
            if lines and not line:
                break
            if lines or line.startswith(("=", "?")):
                lines.append(line)
            elif line:
                self._aside.append(line)
        status = lines[0][0]
        # Ids are never sent, but a program may echo one: "=12 D4".
        lines[0] = lines[0][1:].lstrip("0123456789")
        return status == "=", "\n".join(lines).strip()

    def _failure(self, command: str, what: str) -> GtpProcessError:
        """Kills the program and says what happened, with its last words."""
        self._process.poll()
        self._kill()
        code = self._process.returncode
        words = self.aside[-2000:].strip()
        return GtpProcessError(
            f"{self.command_line!r} {what} (command {command!r}, exit status {code})"
            + (f"; its last words:\n{words}" if words else "")
        )

    def _read_replies(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for raw in stdout:
                text = raw.decode(errors="replace").rstrip()
                self._lines.put(text.translate(_CONTROL))
        self._lines.put(None)


def _drain(stream: IO[bytes], lines: collections.deque[str]) -> None:
    """Keeps the last lines of a stream, so that its pipe never fills."""
    with contextlib.suppress(OSError, ValueError):
        for raw in stream:
            lines.append(raw.decode(errors="replace").rstrip())


def find_gnugo() -> str | None:
    """Path of the GNU Go program, or None; Debian puts it where PATH may not look."""
    return shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


def gnugo_command(
    *, level: int = 10, seed: int = 1, program: str | None = None
) -> list[str]:
    """Arguments that start GNU Go as the reference opponent.

    Area scoring, positional superko and no suicide; it plays the game out until area
    counting on the board is right, and it never resigns.

    Args:
        level: strength, 1 to 10.
        seed: of GNU Go's own random numbers, positive (0 takes the time).
        program: path of the program; searched for if None.

    Raises:
        GtpProcessError: GNU Go is not installed.
    """
    program = program or find_gnugo()
    if program is None:
        raise GtpProcessError("GNU Go is not installed (Debian package gnugo)")
    rules = "--chinese-rules --forbid-suicide --positional-superko"
    ending = "--capture-all-dead --play-out-aftermath --never-resign"
    return [
        *(program, "--mode", "gtp", "--level", str(level), "--seed", str(seed)),
        *rules.split(),
        *ending.split(),
    ]
