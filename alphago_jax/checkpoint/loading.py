"""Reading a network from whatever form it was saved in."""

import dataclasses
import os
import pathlib
from typing import Any

from alphago_jax.checkpoint.arrays import restore_as_numpy
from alphago_jax.checkpoint.metadata import (
    CheckpointError,
    NetworkMetadata,
    check_format_version,
    read_json,
)
from alphago_jax.checkpoint.network_files import (
    NETWORK_FILE,
    read_network_directory,
    read_network_file,
)
from alphago_jax.checkpoint.retention import Retention, best_step, make_manager
from alphago_jax.checkpoint.run_directory import (
    CHECKPOINTS,
    RUN_FILE,
)
from alphago_jax.checkpoint.shipped import shipped_networks


def load_network(
    path: str | os.PathLike[str], *, sha256: str | None = None
) -> tuple[NetworkMetadata, dict[str, Any]]:
    """Reads a network: a directory, a `.npz` file, a run, or one that ships, by name.

    Of a run directory it takes the best checkpoint by the run's metric, or the newest
    where no metric was kept, and the averaged parameters where the run keeps them.

    Args:
        path: the directory or file; what is not there may be a name of
            `shipped_networks`.
        sha256: hash that a file must have, in hexadecimal.

    Returns:
        The metadata, and the variables as nested dicts of NumPy arrays.

    Raises:
        CheckpointError: there is no network at `path`, it was written by a newer
            version, or its hash differs.
    """
    shipped = shipped_networks()
    place = pathlib.Path(path)
    if not place.exists():
        place = shipped.get(str(path), place)
    path = place.absolute()
    if path.is_file():
        return read_network_file(path, sha256)
    if sha256 is not None:
        raise CheckpointError(f"{path}: only a file has a hash")
    if (path / NETWORK_FILE).is_file():
        return read_network_directory(path)
    if (path / RUN_FILE).is_file():
        return _load_run(path)
    raise CheckpointError(
        f"{path} is neither a network, nor a run, nor a .npz file; "
        f"networks that ship: {', '.join(shipped) or 'none'}"
    )


def _load_run(path: pathlib.Path) -> tuple[NetworkMetadata, dict[str, Any]]:
    """Reads the network of a run, also while the run goes on."""
    description = read_json(path / RUN_FILE)
    check_format_version(description)
    if description["network"] is None:
        raise CheckpointError(f"{path}: this run does not say what network it trains")
    retention = Retention(**description["retention"])
    with make_manager(path / CHECKPOINTS, retention, read_only=True) as manager:
        step = best_step(manager, retention)
        if step is None:
            step = max(manager.all_steps(), default=None)
        if step is None:
            raise CheckpointError(f"{path} holds no complete checkpoint yet")
        metrics: Any = manager.metrics(step) or {}
    state = restore_as_numpy(path / CHECKPOINTS / str(step) / "state")
    # An average that is not kept is saved as nothing.
    variables = {"params": state.get("ema_params") or state["params"]}
    if state.get("batch_stats"):
        variables["batch_stats"] = state["batch_stats"]
    metadata = NetworkMetadata.from_json(description["network"])
    return dataclasses.replace(metadata, step=step, metrics=metrics), variables
