"""Fixtures shared by the whole suite."""

import os
import pathlib
import tempfile

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]

# Compiling takes most of the suite's time. Both workers, the programs that tests
# start, and the next run of the suite share what is compiled. Must be set before
# JAX is imported.
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR",
    str(pathlib.Path(tempfile.gettempdir()) / "alphago_jax_test_cache"),
)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")
# LLVM's optimiser doubles the time to compile and gains little on small arrays.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")


@pytest.fixture(scope="session")
def shared_dir() -> pathlib.Path:
    """Folder of real games and networks beside the checkout; skips without it."""
    folder = REPOSITORY.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the shared folder of real games is not here")
    return folder


@pytest.fixture(scope="session")
def gnugo() -> str:
    """Path of the GNU Go program; skips where it is not installed."""
    from alphago_jax.play.external import find_gnugo

    program = find_gnugo()
    if program is None:
        pytest.skip("GNU Go is not installed (Debian package gnugo)")
    return program
