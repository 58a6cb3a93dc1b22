"""Compares one device with eight, in a process of its own; prints one JSON object.

The number of host devices is fixed when JAX starts, so a test cannot change it.
"""

import json
import pathlib
import sys

import jax
import numpy as np
import optax
import toy_training as toy

from alphago_jax.checkpoint import RunDirectory
from alphago_jax.training import (
    init_train_state,
    make_mesh,
    make_train_step,
    parallel,
    policy_value_loss,
)

NUM_STEPS = 3
OPTIMIZER = optax.sgd(0.1, momentum=0.9)


def make_step(axis_name: str | None):
    return make_train_step(
        toy.ToyNetwork().apply_train,
        policy_value_loss,
        OPTIMIZER,
        axis_name=axis_name,
        accumulate=2,
    )


def fresh():
    return init_train_state(toy.ToyNetwork().variables(), OPTIMIZER, jax.random.key(0))


def run_mesh(num_devices: int):
    mesh = make_mesh(jax.devices()[:num_devices])
    step = parallel.compile_train_step(make_step(None), mesh)
    state = parallel.replicate(fresh(), mesh)
    for seed in range(NUM_STEPS):
        batch = parallel.shard_batch(toy.make_batch(seed, 32), mesh)
        state, metrics = step(state, batch)
    return state, metrics, step, mesh


def run_pmap(axis_name: str | None):
    """Under pmap; without the axis name no device knows of the others."""
    step = parallel.pmap_train_step(make_step(axis_name))
    state = parallel.stack_devices(fresh(), 8)
    for seed in range(NUM_STEPS):
        state, metrics = step(state, parallel.cut_batch(toy.make_batch(seed, 32), 8))
    return state, metrics


def learned(state):
    return {"params": state.params, "batch_stats": state.batch_stats}


def distance(tree, other) -> float:
    differences = jax.tree.map(
        lambda a, b: np.abs(np.asarray(a) - np.asarray(b)).max(), tree, other
    )
    return float(max(jax.tree.leaves(differences)))


def figures(metrics) -> dict[str, float]:
    return {name: float(mean.compute()) for name, mean in metrics.items()}


def check_checkpoint(state, step, mesh, folder: pathlib.Path) -> dict[str, object]:
    """Saves from eight devices, goes on at once, and restores on fewer."""
    before = jax.tree.map(np.array, learned(state))
    with RunDirectory(folder, {}) as run:
        run.save(NUM_STEPS, state, {})
        batch = parallel.shard_batch(toy.make_batch(99, 32), mesh)
        state, _ = step(state, batch)  # the saved buffers are gone
        moved = distance(learned(state), before)
        result: dict[str, object] = {"moved": moved}
        for num_devices in (1, 2, 8):
            target = parallel.replicate(fresh(), make_mesh(jax.devices()[:num_devices]))
            restored = run.restore(target)
            assert restored is not None
            kernel = restored.state.params["Conv_0"]["kernel"]
            result[str(num_devices)] = {
                "distance": distance(learned(restored.state), before),
                "devices": len(kernel.sharding.device_set),
                "key": jax.random.key_data(restored.state.rng_key).tolist(),
            }
    return result


def main() -> None:
    single, single_metrics, *_ = run_mesh(1)
    mesh_state, mesh_metrics, step, mesh = run_mesh(8)
    pmapped, pmap_metrics = run_pmap(parallel.DATA_AXIS)
    apart, _ = run_pmap(None)
    first, last = (jax.tree.map(lambda x, i=i: x[i], apart.params) for i in (0, -1))
    print(
        json.dumps(
            {
                "devices": jax.device_count(),
                "mesh": distance(learned(single), learned(mesh_state)),
                "pmap": distance(
                    learned(single), learned(parallel.first_device(pmapped))
                ),
                "without_mean": distance(single.params, first),
                "devices_apart": distance(first, last),
                "metrics": [
                    figures(single_metrics),
                    figures(mesh_metrics),
                    figures(parallel.first_device(pmap_metrics)),
                ],
                "checkpoint": check_checkpoint(
                    mesh_state, step, mesh, pathlib.Path(sys.argv[1])
                ),
            }
        )
    )


if __name__ == "__main__":
    main()
