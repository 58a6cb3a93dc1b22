"""The `alphago-jax` command. Importing it is quick and touches no device.

Each subcommand is a dataclass of its arguments with a method `run`, which imports what
it needs. What a user got wrong is said in one line on standard error, without a
traceback; ALPHAGO_JAX_TRACEBACK=1 shows where an error came from.
"""

import sys
from collections.abc import Sequence
from typing import Annotated

import tyro

from alphago_jax.cli.compiled import keep_compiled
from alphago_jax.cli.convert import Convert
from alphago_jax.cli.doctor import Doctor
from alphago_jax.cli.evaluate import Evaluate
from alphago_jax.cli.gtp import Gtp
from alphago_jax.cli.match import Match
from alphago_jax.cli.mistakes import mistakes_in_one_line
from alphago_jax.cli.rating import Elo, Rating
from alphago_jax.cli.sgf import Sgf

Command = (
    Annotated[Gtp, tyro.conf.subcommand("gtp")]
    | Annotated[Match, tyro.conf.subcommand("match")]
    | Annotated[Rating, tyro.conf.subcommand("rating")]
    | Annotated[Elo, tyro.conf.subcommand("elo")]
    | Annotated[Sgf, tyro.conf.subcommand("sgf")]
    | Annotated[Evaluate, tyro.conf.subcommand("eval")]
    | Annotated[Convert, tyro.conf.subcommand("convert")]
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
    keep_compiled()
    with mistakes_in_one_line("alphago-jax"):
        command.run()
        sys.stdout.flush()
