"""One network on disk: a directory of Orbax arrays, or a single small `.npz` file.

Both forms carry their `NetworkMetadata`, so that nothing else is needed to build the
network again. Arrays come back as NumPy arrays, whatever devices they were saved from.
"""

import hashlib
import json
import os
import pathlib
import shutil
import zipfile
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
import orbax.checkpoint as ocp

from alphago_jax.checkpoint.arrays import restore_as_numpy
from alphago_jax.checkpoint.metadata import (
    CheckpointError,
    NetworkMetadata,
    check_format_version,
    read_json,
    write_json,
)

NETWORK_FILE = "network.json"
_ARRAYS = "variables"
_SEPARATOR = "/"
_METADATA_ENTRY = "metadata.json"

Variables = Mapping[str, Any]


def save_network(
    path: str | os.PathLike[str],
    variables: Variables,
    metadata: NetworkMetadata,
    *,
    overwrite: bool = False,
) -> pathlib.Path:
    """Saves a network as a directory: `network.json` beside Orbax arrays.

    The directory appears under its name only when it is complete.

    Args:
        path: directory to make.
        variables: nested dicts of arrays, as `Network.init` returns.
        metadata: what the network is.
        overwrite: replace a network that is already there.

    Returns:
        The directory.

    Raises:
        CheckpointError: something is there and `overwrite` is False.
    """
    path = pathlib.Path(path).absolute()
    if path.exists() and not (overwrite and (path / NETWORK_FILE).is_file()):
        raise CheckpointError(f"{path} exists and is not overwritten")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(temporary / _ARRAYS, jax.tree.map(np.asarray, variables))
    write_json(temporary / NETWORK_FILE, metadata.to_json())
    if path.exists():
        shutil.rmtree(path)
    temporary.rename(path)
    return path


def save_network_file(
    path: str | os.PathLike[str],
    variables: Variables,
    metadata: NetworkMetadata,
    *,
    half: bool = False,
    overwrite: bool = False,
) -> str:
    """Saves a network as one compressed `.npz` file with its metadata inside.

    The same network gives the same bytes, so the hash names the network.

    Args:
        path: file to make, ending in `.npz`.
        variables: nested dicts of arrays, as `Network.init` returns.
        metadata: what the network is.
        half: store floating-point arrays as float16 (relative error 2⁻¹¹, or 2⁻²⁵
            absolute below 2⁻¹⁴); they are read back in their own dtypes.
        overwrite: replace a file that is already there.

    Returns:
        The SHA-256 of the file, in hexadecimal.

    Raises:
        CheckpointError: the file exists and `overwrite` is False, its name does not
            end in `.npz`, or a weight does not fit into float16.
    """
    path = pathlib.Path(path)
    if path.suffix != ".npz":
        raise CheckpointError(f"{path}: a network file's name ends in .npz")
    if path.exists() and not overwrite:
        raise CheckpointError(f"{path} exists and is not overwritten")
    arrays = {
        name: np.asarray(array) for name, array in sorted(_flatten(variables).items())
    }
    dtypes = {name: array.dtype.name for name, array in arrays.items()}
    stored = {name: _storable(name, array, half) for name, array in arrays.items()}
    header = json.dumps({"network": metadata.to_json(), "dtypes": dtypes})
    stored[_METADATA_ENTRY] = np.frombuffer(header.encode(), np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **stored)
    os.replace(temporary, path)
    return file_sha256(path)


def read_network_file(
    path: pathlib.Path, sha256: str | None = None
) -> tuple[NetworkMetadata, dict[str, Any]]:
    """Reads a file of `save_network_file`; see `load_network`."""
    if sha256 is not None and file_sha256(path) != sha256.lower():
        raise CheckpointError(f"{path}: its SHA-256 is not {sha256}")
    try:
        # NumPy would leave a file open that turns out not to be a zip.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            header = json.loads(bytes(stored[_METADATA_ENTRY]))
            dtypes = header["dtypes"]
            arrays = {
                name: stored[name].astype(jax.numpy.dtype(dtype))
                for name, dtype in dtypes.items()
            }
            network = header["network"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError) as error:
        raise CheckpointError(f"{path} is not a network file: {error}") from error
    check_format_version(network)
    return NetworkMetadata.from_json(network), _unflatten(arrays)


def read_network_directory(
    path: pathlib.Path,
) -> tuple[NetworkMetadata, dict[str, Any]]:
    """Reads a directory of `save_network`; see `load_network`."""
    metadata = NetworkMetadata.from_json(read_json(path / NETWORK_FILE))
    return metadata, restore_as_numpy(path / _ARRAYS)


def file_sha256(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _storable(name: str, array: np.ndarray, half: bool) -> np.ndarray:
    if not jax.numpy.issubdtype(array.dtype, jax.numpy.floating):
        return array
    if not half:
        # NumPy's file format has no bfloat16; float32 holds it exactly.
        return array.astype(np.float32) if array.dtype.itemsize < 4 else array
    if array.size and not np.abs(array).max() <= np.finfo(np.float16).max:
        raise CheckpointError(f"{name} does not fit into float16")
    return array.astype(np.float16)


def _flatten(tree: Variables, prefix: str = "") -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    for key, value in tree.items():
        if _SEPARATOR in key:
            raise CheckpointError(f"a variable's name holds {_SEPARATOR!r}: {key}")
        name = prefix + key
        if isinstance(value, Mapping):
            leaves |= _flatten(value, name + _SEPARATOR)
        else:
            leaves[name] = value
    return leaves


def _unflatten(leaves: Mapping[str, np.ndarray]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for name, array in leaves.items():
        *parents, last = name.split(_SEPARATOR)
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[last] = array
    return tree
