"""How every experiment is started: arguments by tyro, mistakes in one line."""

import pathlib
import sys
from collections.abc import Callable
from typing import TypeVar

import tyro

from alphago_jax.cli.compiled import keep_compiled
from alphago_jax.cli.mistakes import mistakes_in_one_line

Config = TypeVar("Config")


def run(main: Callable[[Config], None], config: type[Config], description: str) -> None:
    """Parses the command line and calls `main`; see `mistakes_in_one_line`."""
    arguments = tyro.cli(config, description=description)
    keep_compiled()
    with mistakes_in_one_line(pathlib.Path(sys.argv[0]).name):
        main(arguments)
