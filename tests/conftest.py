"""Fixtures shared by the whole suite."""

import pathlib
import shutil

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]


def find_gnugo() -> str | None:
    """Path of the GNU Go program; Debian puts it where PATH may not look."""
    return shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


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
    program = find_gnugo()
    if program is None:
        pytest.skip("GNU Go is not installed (Debian package gnugo)")
    return program
