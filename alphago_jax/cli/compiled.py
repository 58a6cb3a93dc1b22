"""Keeps compiled programs between runs; for the command and the experiments."""

import os
import pathlib
import sys

_VARIABLE = "JAX_COMPILATION_CACHE_DIR"


def keep_compiled() -> None:
    """Lets JAX write what it compiles under the user's cache folder, and look there.

    JAX_COMPILATION_CACHE_DIR names another folder; XDG_CACHE_HOME is honoured. Programs
    started from this one keep theirs in the same place.
    """
    if _VARIABLE in os.environ:
        return
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    os.environ[_VARIABLE] = str(pathlib.Path(cache) / "alphago_jax" / "compiled")
    # Left alone where it is not imported yet: it reads the variable then, and commands
    # that need no JAX start at once.
    if "jax" in sys.modules:
        import jax

        jax.config.update("jax_compilation_cache_dir", os.environ[_VARIABLE])
