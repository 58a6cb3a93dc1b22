"""Building a network from its checkpoint alone."""

import os

import jax
import jax.numpy as jnp

from alphago_jax.checkpoint import CheckpointError, NetworkMetadata, load_network
from alphago_jax.networks.network import Network, Variables
from alphago_jax.networks.registry import create


def from_checkpoint(
    path: str | os.PathLike[str], *, sha256: str | None = None
) -> tuple[Network, Variables, NetworkMetadata]:
    """Loads a network; nothing but the checkpoint is needed.

    Args:
        path: a network directory, a `.npz` network file, or a run directory, of which
            the best checkpoint is taken, or the newest where no metric decides.
        sha256: hash that a file must have, in hexadecimal.

    Returns:
        The network, its variables on the default device, and what is known about it.

    Raises:
        CheckpointError: there is no network at `path`, its hash differs, or this
            version cannot build it.
    """
    metadata, arrays = load_network(path, sha256=sha256)
    try:
        network = create(metadata.name, metadata.board_size, **metadata.config)
    except ValueError as error:
        raise CheckpointError(f"{path}: {error}") from error
    variables = jax.tree.map(jnp.asarray, arrays)
    expected = jax.eval_shape(network.init, jax.random.key(0))
    _check_shapes(path, expected, variables)
    return network, variables, metadata


def _check_shapes(
    path: str | os.PathLike[str], expected: Variables, found: Variables
) -> None:
    def shapes(variables: Variables) -> dict[str, tuple[int, ...]]:
        leaves = jax.tree_util.tree_leaves_with_path(variables)
        return {jax.tree_util.keystr(place): leaf.shape for place, leaf in leaves}

    want, have = shapes(expected), shapes(found)
    for place in sorted(want.keys() | have.keys()):
        if want.get(place) != have.get(place):
            raise CheckpointError(
                f"{path}: {place} has shape {have.get(place)}, "
                f"the network needs {want.get(place)}"
            )
