"""One training step on many devices.

The usual way is `jit` over a `Mesh`: the state is replicated, the batch is split along
its first axis, and XLA inserts the sums between devices. The same step, made with an
`axis_name`, also runs under `pmap`, the way that older programs know.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

DATA_AXIS = "data"


def make_mesh(devices: Sequence[Any] | None = None) -> Mesh:
    """A mesh of one axis, `data`, over the given devices or all there are."""
    devices = jax.devices() if devices is None else devices
    return Mesh(np.asarray(devices), (DATA_AXIS,))


def replicated(mesh: Mesh) -> NamedSharding:
    """Sharding of arrays that every device holds whole."""
    return NamedSharding(mesh, PartitionSpec())


def split_over_data(mesh: Mesh) -> NamedSharding:
    """Sharding of arrays that are cut along their first axis."""
    return NamedSharding(mesh, PartitionSpec(DATA_AXIS))


def replicate(tree: Any, mesh: Mesh) -> Any:
    """Puts a copy of the arrays on every device of the mesh."""
    return jax.device_put(tree, replicated(mesh))


def shard_batch(batch: Any, mesh: Mesh) -> Any:
    """Cuts a batch over the devices of the mesh.

    Args:
        batch: pytree of arrays [B, ...]; with several processes, the rows that this
            process contributes. B is a multiple of its number of devices.
        mesh: the devices.

    Returns:
        The same arrays, split along their first axis.
    """
    sharding = split_over_data(mesh)
    if jax.process_count() == 1:
        return jax.device_put(batch, sharding)
    return jax.tree.map(
        lambda rows: jax.make_array_from_process_local_data(sharding, np.asarray(rows)),
        batch,
    )


def compile_train_step(step: Callable[..., Any], mesh: Mesh) -> jax.stages.Wrapped:
    """Compiles `step(state, examples)` for a mesh; the old state is given up.

    The state's buffers are donated: do not use it after the call.
    """
    whole, split = replicated(mesh), split_over_data(mesh)
    return jax.jit(
        step,
        in_shardings=(whole, split),
        out_shardings=(whole, whole),
        donate_argnums=0,
    )


def compile_eval_step(step: Callable[..., Any], mesh: Mesh) -> jax.stages.Wrapped:
    """Compiles `step(variables, examples)` for a mesh."""
    whole, split = replicated(mesh), split_over_data(mesh)
    return jax.jit(step, in_shardings=(whole, split), out_shardings=whole)


def pmap_train_step(
    step: Callable[..., Any], devices: Sequence[Any] | None = None
) -> Callable[..., Any]:
    """Compiles a step made with `axis_name=DATA_AXIS` under `pmap`.

    It takes and returns arrays with a leading device axis: see `stack_devices` and
    `cut_batch`. Results are equal on every device; `first_device` takes one.
    """
    return jax.pmap(step, axis_name=DATA_AXIS, devices=devices, donate_argnums=0)


def stack_devices(tree: Any, num_devices: int) -> Any:
    """Copies arrays [...] to [num_devices, ...], for `pmap`."""
    return jax.tree.map(
        lambda leaf: jnp.broadcast_to(leaf, (num_devices, *leaf.shape)), tree
    )


def cut_batch(batch: Any, num_devices: int) -> Any:
    """Cuts arrays [B, ...] to [num_devices, B / num_devices, ...], for `pmap`."""
    return jax.tree.map(
        lambda rows: rows.reshape(num_devices, -1, *rows.shape[1:]), batch
    )


def first_device(tree: Any) -> Any:
    """The first device's part of arrays that `pmap` returned."""
    return jax.tree.map(lambda leaf: leaf[0], tree)
