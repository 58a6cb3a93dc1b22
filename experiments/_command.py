"""How every experiment is started: arguments by tyro, mistakes in one line."""

import os
import pathlib
import sys
from collections.abc import Callable
from typing import TypeVar

import jax
import tyro

Config = TypeVar("Config")


def keep_compiled() -> None:
    """Keeps compiled programs between runs; JAX_COMPILATION_CACHE_DIR says where."""
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        folder = pathlib.Path(cache) / "alphago_jax" / "compiled"
        jax.config.update("jax_compilation_cache_dir", str(folder))


def run(main: Callable[[Config], None], config: type[Config], description: str) -> None:
    """Parses the command line and calls `main`.

    What the user can mend (a missing file, a run that is already there) is said in
    one line on stderr, with exit status 2; ALPHAGO_JAX_TRACEBACK=1 shows where it
    came from.
    """
    arguments = tyro.cli(config, description=description)
    keep_compiled()
    try:
        main(arguments)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except (OSError, ValueError) as error:
        if os.environ.get("ALPHAGO_JAX_TRACEBACK"):
            raise
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(2) from None
