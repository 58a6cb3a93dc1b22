"""The framing of the Go Text Protocol: requests in, replies out.

Gunnar Farnebäck, "Specification of the Go Text Protocol, version 2", draft 2 (2002):
a request is a line `[id] command arguments`; a reply is `=[id] text` or `?[id] text`
and ends with an empty line. Nothing else may appear on standard output, so the server
takes the real one for itself and sends everything that is printed to standard error.
"""

import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, NamedTuple

_CONTROL = {code: None for code in (*range(32), 127) if code != 9} | {9: " "}
_log = logging.getLogger(__name__)


class CommandError(ValueError):
    """A command that cannot be carried out; its text is the reply after `?`."""


class Request(NamedTuple):
    """One command. Attributes: id (digits or ""), name (or ""), arguments."""

    id: str
    name: str
    arguments: list[str]


Handler = Callable[[str, list[str]], str]
"""`(name, arguments) -> reply`; raises `CommandError` to refuse."""


def parse(line: str) -> Request | None:
    """Reads one line of input.

    Control characters go (the carriage return of CRLF too), tabs are spaces, and what
    follows a `#` is a comment.

    Returns:
      The request, or None where nothing is asked: a reply would then be one too many.
    """
    text = line.partition("#")[0].translate(_CONTROL)
    # Only spaces separate: other white space of Unicode may be part of a file name.
    words = [word for word in text.split(" ") if word]
    if not words:
        return None
    number = ""
    if words[0].isascii() and words[0].isdigit():
        number = words.pop(0)
    return Request(number, words[0] if words else "", words[1:])


def format_reply(request_id: str, accepted: bool, text: str) -> str:
    """One reply with its closing empty line.

    Inner blank lines would end the reply too early for the client: they are dropped,
    as are control characters and white space at the ends of lines.
    """
    lines = [line.translate(_CONTROL).rstrip() for line in text.splitlines()]
    head = lines[0] if lines else ""
    body = "\n".join([head, *(line for line in lines[1:] if line)])
    space = " " if head else ""
    return f"{'=' if accepted else '?'}{request_id}{space}{body}\n\n"


def answer(request: Request, handler: Handler) -> str:
    """Carries a request out and formats its one reply, whatever happens."""
    if not request.name:
        return format_reply(request.id, False, "unknown command")
    try:
        text = handler(request.name, request.arguments)
    except CommandError as error:
        return format_reply(request.id, False, str(error) or "failed")
    except Exception as error:
        # The client is waiting: a fault of ours must not leave it without a reply.
        _log.exception("%s failed", request.name)
        words = f"internal error: {type(error).__name__}: {error}"
        return format_reply(request.id, False, " ".join(words.split()))
    return format_reply(request.id, True, text)


def serve(handler: Handler, lines: Iterable[bytes], output: BinaryIO) -> None:
    """Answers requests until `quit` or the end of input.

    Args:
      handler: carries commands out; `quit` is for it too (it may do nothing).
      lines: lines of input, in any encoding that extends ASCII.
      output: where replies go, and nothing else.
    """
    for line in lines:
        request = parse(line.decode("utf-8", errors="replace"))
        if request is None:
            continue
        reply = answer(request, handler)
        output.write(reply.encode("utf-8", errors="replace"))
        output.flush()
        if request.name == "quit":
            return


@contextlib.contextmanager
def private_stdout() -> Iterator[BinaryIO]:
    """Takes standard output away from everyone else in this process.

    Within, what is printed goes to standard error, from compiled libraries too (it is
    the file descriptor that is moved).

    Yields:
      The real standard output, for replies.
    """
    sys.stdout.flush()
    stdout, stderr = sys.stdout, sys.stderr
    descriptor = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = stderr
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as output:
            yield output
    finally:
        sys.stdout = stdout
        os.dup2(descriptor, 1)
        os.close(descriptor)
