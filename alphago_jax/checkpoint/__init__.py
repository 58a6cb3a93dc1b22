"""Networks and training runs on disk.

`save_network` and `load_network` keep one network, in a directory (Orbax arrays beside
a JSON description) or in one small `.npz` file; `RunDirectory` keeps everything that a
training run needs to go on after a kill. `networks.from_checkpoint` reads all three.
"""

from alphago_jax.checkpoint.loading import load_network
from alphago_jax.checkpoint.metadata import CheckpointError, NetworkMetadata
from alphago_jax.checkpoint.network_files import (
    file_sha256,
    save_network,
    save_network_file,
)
from alphago_jax.checkpoint.retention import Retention
from alphago_jax.checkpoint.run_directory import Restored, RunDirectory
from alphago_jax.checkpoint.shipped import shipped_networks

__all__ = [
    "CheckpointError",
    "NetworkMetadata",
    "Restored",
    "Retention",
    "RunDirectory",
    "file_sha256",
    "load_network",
    "save_network",
    "save_network_file",
    "shipped_networks",
]
