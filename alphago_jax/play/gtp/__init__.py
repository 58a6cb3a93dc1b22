"""A Go Text Protocol server: `Engine` answers commands, `serve` speaks for it.

>>> session = Session(make_agent, size=9)  # doctest: +SKIP
>>> with private_stdout() as output:  # doctest: +SKIP
...     serve(Engine(session).handle, sys.stdin.buffer, output)
"""

from alphago_jax.play.gtp.engine import Engine
from alphago_jax.play.gtp.protocol import (
    CommandError,
    Request,
    answer,
    format_reply,
    parse,
    private_stdout,
    serve,
)
from alphago_jax.play.gtp.session import Resignation, Session, TimeSettings

__all__ = [
    "CommandError",
    "Engine",
    "Request",
    "Resignation",
    "Session",
    "TimeSettings",
    "answer",
    "format_reply",
    "parse",
    "private_stdout",
    "serve",
]
