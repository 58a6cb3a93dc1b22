"""Arrays on their way to the disk and back onto devices."""

import pathlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def copy_to_host(state: Any) -> Any:
    """Copies arrays to the host, sharing no memory: they may be donated next.

    Random keys become their data. An array spread over other hosts too is copied on
    the devices instead, so that every host can write its part.
    """

    def copy(leaf: Any) -> Any:
        leaf = jax.random.key_data(leaf) if _is_key(leaf) else leaf
        whole_here = not isinstance(leaf, jax.Array) or (
            leaf.is_fully_addressable or leaf.is_fully_replicated
        )
        # np.asarray would be a view on the CPU.
        return np.array(leaf, copy=True) if whole_here else jnp.copy(leaf)

    return jax.tree.map(copy, state)


def abstract_arrays(target: Any) -> Any:
    """Shapes, dtypes and shardings of arrays, random keys as their data."""

    def describe(leaf: Any) -> jax.ShapeDtypeStruct:
        if _is_key(leaf):
            leaf = jax.eval_shape(jax.random.key_data, leaf)
        sharding = getattr(leaf, "sharding", None)
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)

    return jax.tree.map(describe, target)


def restored_like(target: Any, restored: Any) -> Any:
    """One restored array as its target: a random key again where that is one."""
    if not _is_key(target):
        return restored
    key = jax.random.wrap_key_data(restored, impl=jax.random.key_impl(target))
    return jax.device_put(key, getattr(target, "sharding", None))


def restore_as_numpy(path: pathlib.Path) -> dict[str, Any]:
    """Reads Orbax arrays as NumPy arrays, whatever devices they were saved from."""
    with ocp.Checkpointer(ocp.PyTreeCheckpointHandler()) as checkpointer:
        saved = checkpointer.metadata(path).item_metadata
        tree = getattr(saved, "tree", saved)
        restore_args = jax.tree.map(
            lambda _: ocp.RestoreArgs(restore_type=np.ndarray), tree
        )
        return checkpointer.restore(
            path, args=ocp.args.PyTreeRestore(restore_args=restore_args)
        )
