"""The `alphago-jax` command. Importing it is quick and touches no device.

Each subcommand is a dataclass of its arguments with a method `run`, which imports what
it needs. What a user got wrong is said in one line on standard error, without a
traceback; ALPHAGO_JAX_TRACEBACK=1 shows where an error came from.
"""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import tyro

from alphago_jax.cli.doctor import Doctor
from alphago_jax.cli.evaluate import Evaluate
from alphago_jax.cli.gtp import Gtp
from alphago_jax.cli.match import Match
from alphago_jax.cli.rating import Elo, Rating
from alphago_jax.cli.sgf import Sgf

Command = (
    Annotated[Gtp, tyro.conf.subcommand("gtp")]
    | Annotated[Match, tyro.conf.subcommand("match")]
    | Annotated[Rating, tyro.conf.subcommand("rating")]
    | Annotated[Elo, tyro.conf.subcommand("elo")]
    | Annotated[Sgf, tyro.conf.subcommand("sgf")]
    | Annotated[Evaluate, tyro.conf.subcommand("eval")]
    | Annotated[Doctor, tyro.conf.subcommand("doctor")]
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command.

    Args:
      arguments: instead of those of the process.

    Raises:
      SystemExit: status 2 after a user's mistake, 130 after Ctrl-C.
    """
    command = tyro.cli(
        Command,  # type: ignore[arg-type]
        prog="alphago-jax",
        description="Go players of the AlphaGo lineage: play, compare, evaluate.",
        args=arguments,
    )
    try:
        command.run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("alphago-jax: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        # Our reader has left, as `head` does; the flush at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise SystemExit(1) from None
    except (OSError, ValueError, RuntimeError) as error:
        if os.environ.get("ALPHAGO_JAX_TRACEBACK") or not _is_plain(error):
            raise
        print(f"alphago-jax: {_text(error)}", file=sys.stderr)
        raise SystemExit(2) from None


def _is_plain(error: Exception) -> bool:
    """Whether an error is the user's to mend: ours, or the file system's.

    Errors out of JAX and other libraries are faults, and keep their traceback.
    """
    if isinstance(error, OSError):
        return True
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    module = "" if frame is None else frame.tb_frame.f_globals.get("__name__", "")
    return module.partition(".")[0] == "alphago_jax"


def _text(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
