"""Networks that ship with the package: `weights/NAME.npz`, each with a model card."""

import pathlib

_WEIGHTS = pathlib.Path(__file__).parents[1] / "weights"


def shipped_networks() -> dict[str, pathlib.Path]:
    """The network files of the package by name; beside each lies `NAME.md`."""
    return {path.stem: path for path in sorted(_WEIGHTS.glob("*.npz"))}
