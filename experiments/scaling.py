"""Do the training step and the planes fit a TPU, and do they export for a GPU?

Compiles two programs ahead of time for a TPU topology that need not be there,
data-parallel over its chips, and exports both for CUDA, which shows that nothing
CPU-only crept in: the step of the 2016 policy network (12 layers of 192 filters,
19×19), and the 48 planes, ladders included, of as many positions.

Command:  pip install 'alphago_jax[tpu]' && python experiments/scaling.py
Hardware: any CPU; libtpu compiles without a TPU. Without libtpu it says so and goes on.
Time:     about five minutes for the defaults on 2 cores.
Expected: one JSON object a line. `memory_mb` per chip stays far below its 16 GB (v5e)
          at batch 2048; collectives of the step are all-reduces of one gradient,
          15.5 MB, and the planes have none.
"""

import collections
import dataclasses
import importlib.util
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.export
import tyro
from jax.sharding import Mesh, PartitionSpec

from alphago_jax import features, go, networks
from alphago_jax.training import (
    OptimizerConfig,
    compile_train_step,
    init_train_state,
    make_mesh,
    make_optimizer,
    make_train_step,
    policy_loss,
)
from alphago_jax.training.parallel import DATA_AXIS
from alphago_jax.types import Examples

# bfloat16 operations and bytes of memory traffic per second and chip, as published.
CHIPS = {"v5e": (197e12, 819e9), "v5p": (459e12, 2765e9), "v4": (275e12, 1200e9)}
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")


@dataclasses.dataclass(frozen=True)
class Config:
    """What to compile.

    Attributes:
        topology: TPU topology to compile for.
        batch_sizes: examples per update, over all chips.
        filters: width of the tower.
        layers: convolutions in the tower.
        board_size: side of the board.
        dtype: dtype of the computation.
        cuda: whether to export for CUDA too.
    """

    topology: str = "v5e:2x2"
    batch_sizes: tuple[int, ...] = (16, 2048)
    filters: int = 192
    layers: int = 12
    board_size: int = 19
    dtype: str = "bfloat16"
    cuda: bool = True


class Program(NamedTuple):
    """A function, the shapes of its arguments, and how it is compiled for chips."""

    description: dict[str, Any]
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    jit: Callable[[Mesh], jax.stages.Wrapped]


def policy_step(config: Config, batch_size: int) -> Program:
    """One step of supervised learning."""
    network = networks.create(
        "alphago_policy",
        config.board_size,
        filters=config.filters,
        layers=config.layers,
        dtype=config.dtype,
    )
    optimizer = make_optimizer(OptimizerConfig(), batch_size)
    step = make_train_step(network.apply_train, policy_loss, optimizer)
    state = jax.eval_shape(
        lambda key: init_train_state(network.init(key), optimizer, key),
        jax.random.key(0),
    )
    side = config.board_size

    def shape(*rest: int, dtype: str) -> Any:
        return jax.ShapeDtypeStruct((batch_size, *rest), dtype)

    examples = Examples(
        planes=shape(side, side, network.num_planes, dtype="uint8"),
        actions=shape(dtype="int32"),
        returns=shape(dtype="float32"),
        weights=shape(dtype="float32"),
    )
    description = {
        "program": "policy_step",
        "batch_size": batch_size,
        "filters": config.filters,
        "layers": config.layers,
        "dtype": config.dtype,
    }
    return Program(
        description,
        step,
        (state, examples),
        lambda mesh: compile_train_step(step, mesh),
    )


def planes(config: Config, batch_size: int) -> Program:
    """The planes of a batch of positions."""
    function = jax.vmap(features.get("alphago").planes)
    states = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct((batch_size, *leaf.shape), leaf.dtype),
        go.init(config.board_size),
    )

    def jit(mesh: Mesh) -> jax.stages.Wrapped:
        # Left to jit, the chips would ask each other after every step of a ladder
        # whether any of them still reads.
        split = PartitionSpec(DATA_AXIS)
        return jax.jit(
            jax.shard_map(
                function, mesh=mesh, in_specs=split, out_specs=split, check_vma=False
            )
        )

    description = {"program": "planes", "batch_size": batch_size}
    return Program(description, function, (states,), jit)


def compile_for_tpu(program: Program, topology: str, devices: Any) -> dict[str, Any]:
    """Figures of a program compiled for the chips, per chip."""
    compiled = program.jit(make_mesh(devices)).lower(*program.arguments).compile()
    memory, cost = compiled.memory_analysis(), compiled.cost_analysis() or {}
    text = compiled.as_text()
    assert memory is not None and text is not None  # as they are for TPUs
    megabyte = 1e6
    return {
        "chips": len(devices),
        "memory_mb": round(
            (
                memory.argument_size_in_bytes
                + memory.output_size_in_bytes
                - memory.alias_size_in_bytes
                + memory.temp_size_in_bytes
            )
            / megabyte,
            1,
        ),
        "temporary_mb": round(memory.temp_size_in_bytes / megabyte, 1),
        "gigaflops": round(cost.get("flops", 0.0) / 1e9, 2),
        "accessed_mb": round(cost.get("bytes accessed", 0.0) / megabyte, 1),
        "estimated_seconds": positive(cost.get("optimal_seconds")),
        "roofline_seconds": roofline_seconds(topology, cost),
        "collectives": count_collectives(text),
    }


def positive(seconds: float | None) -> float | None:
    """XLA's own estimate, or None: it is negative where an operation has none."""
    return seconds if seconds is not None and seconds > 0 else None


def roofline_seconds(topology: str, cost: Mapping[str, float]) -> float | None:
    """Time that arithmetic and memory traffic need at least; None for unknown chips."""
    if topology.partition(":")[0] not in CHIPS:
        return None
    flops, bandwidth = CHIPS[topology.partition(":")[0]]
    arithmetic = cost.get("flops", 0.0) / flops
    traffic = cost.get("bytes accessed", 0.0) / bandwidth
    return round(max(arithmetic, traffic), 6)


def count_collectives(program: str) -> dict[str, int]:
    """How often a compiled program sends data between chips, by kind."""
    found = re.findall(rf"\s({'|'.join(COLLECTIVES)})(?:-start)?\(", program)
    return dict(collections.Counter(found))


def export_for_cuda(program: Program) -> dict[str, Any]:
    """Platforms of the exported program, and custom calls that CUDA must have."""
    # An exported program takes plain arrays only.
    leaves, structure = jax.tree.flatten(program.arguments)
    exported = jax.export.export(
        jax.jit(
            lambda *leaves: jax.tree.leaves(
                program.function(*structure.unflatten(leaves))
            )
        ),
        platforms=["cuda"],
    )(*leaves)
    module = exported.mlir_module()
    calls = sorted(set(re.findall(r"custom_call @(\w+)", module)))
    return {"platforms": exported.platforms, "custom_calls": calls}


def tpu_devices(topology: str) -> Any:
    """Chips of a topology that need not be there; None where libtpu is missing."""
    if importlib.util.find_spec("libtpu") is None:
        return None
    # libtpu asks a cloud machine's metadata server otherwise, and waits.
    os.environ["TPU_SKIP_MDS_QUERY"] = "1"
    from jax.experimental import topologies

    return topologies.get_topology_desc(topology, "tpu").devices


def main(config: Config) -> None:
    """Prints one JSON object per program."""
    jax.config.update("jax_platforms", "cpu")
    devices = tpu_devices(config.topology)
    if devices is None:
        print("libtpu is not installed: no TPU figures", file=sys.stderr)
    for make in (policy_step, planes):
        for batch_size in config.batch_sizes:
            program = make(config, batch_size)
            if devices is not None:
                figures = compile_for_tpu(program, config.topology, devices)
                print_line(program.description | {"target": config.topology} | figures)
            if config.cuda:
                print_line(
                    program.description | {"target": "cuda"} | export_for_cuda(program)
                )


def print_line(result: Mapping[str, Any]) -> None:
    """Prints one result."""
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
