"""`alphago-jax convert`: a network from one form into another."""

import dataclasses
import pathlib
from typing import Annotated

import tyro


@dataclasses.dataclass(frozen=True)
class Convert:
    """Writes the network of a run or directory as one small `.npz` file."""

    network: Annotated[pathlib.Path, tyro.conf.Positional]
    """A run directory (its best checkpoint), a saved network, or a shipped name."""

    file: Annotated[pathlib.Path, tyro.conf.Positional]
    """The file to write; its name ends in .npz."""

    half: bool = False
    """Store float16: half the size, a relative error of 1/2048 in a weight."""

    overwrite: bool = False
    """Replace a file that is already there."""

    def run(self) -> None:
        """Writes the file and prints what is in it."""
        from alphago_jax import checkpoint, networks

        _, variables, metadata = networks.from_checkpoint(self.network)
        sha256 = checkpoint.save_network_file(
            self.file, variables, metadata, half=self.half, overwrite=self.overwrite
        )
        print(f"{self.file}: {self.file.stat().st_size} bytes, SHA-256 {sha256}")
        print(f"{metadata.name} {metadata.board_size}×{metadata.board_size}, ", end="")
        figures = [f"{name} {figure:.4f}" for name, figure in metadata.metrics.items()]
        print(f"step {metadata.step}  {'  '.join(figures)}".rstrip())
