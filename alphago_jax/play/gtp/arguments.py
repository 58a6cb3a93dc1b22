"""Arguments of GTP commands, read as the specification has them."""

import math

from alphago_jax.go import coords
from alphago_jax.play.gtp.protocol import CommandError

COLOUR_NAMES = {1: "black", -1: "white"}
_COLOURS = {"b": 1, "black": 1, "w": -1, "white": -1}
_LARGEST = 2**31 - 1


def need(arguments: list[str], count: int) -> list[str]:
    """The first arguments; more than asked for are ignored, as most engines do.

    Raises:
      CommandError: "syntax error" if there are fewer.
    """
    if len(arguments) < count:
        raise CommandError("syntax error")
    return arguments[:count]


def colour(text: str, error: str = "invalid color") -> int:
    """+1 for "b" or "black", −1 for "w" or "white", in any case."""
    if text.lower() not in _COLOURS:
        raise CommandError(error)
    return _COLOURS[text.lower()]


def vertex(text: str, size: int, error: str = "invalid coordinate") -> int:
    """The action of "D4" or "pass", in any case."""
    try:
        return coords.vertex_to_action(text, size)
    except ValueError:
        raise CommandError(error) from None


def integer(text: str, error: str = "syntax error") -> int:
    """A whole number from 0 to 2³¹ − 1."""
    if not (text.isascii() and text.isdigit() and int(text[-20:]) <= _LARGEST):
        raise CommandError(error)
    if len(text) > 20:
        raise CommandError(error)
    return int(text)


def number(text: str, error: str = "syntax error") -> float:
    """A finite number."""
    try:
        value = float(text)
    except ValueError:
        raise CommandError(error) from None
    if not math.isfinite(value):
        raise CommandError(error)
    return value
