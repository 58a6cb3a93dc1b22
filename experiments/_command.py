"""How every experiment is started: arguments by tyro, mistakes in one line."""

import os
import pathlib
import sys
from collections.abc import Callable
from typing import TypeVar

import jax
import tyro

from alphago_jax.cli.mistakes import mistakes_in_one_line

Config = TypeVar("Config")


def keep_compiled() -> None:
    """Keeps compiled programs between runs; JAX_COMPILATION_CACHE_DIR says where."""
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        folder = pathlib.Path(cache) / "alphago_jax" / "compiled"
        jax.config.update("jax_compilation_cache_dir", str(folder))


def run(main: Callable[[Config], None], config: type[Config], description: str) -> None:
    """Parses the command line and calls `main`; see `mistakes_in_one_line`."""
    arguments = tyro.cli(config, description=description)
    keep_compiled()
    with mistakes_in_one_line(pathlib.Path(sys.argv[0]).name):
        main(arguments)
