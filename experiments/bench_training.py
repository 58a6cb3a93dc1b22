"""Supervised training: the step against PyTorch, and the stream that feeds it.

One step of AlphaGo's supervised policy training (48 planes, 12 layers, 19×19, batch 32,
cross-entropy, SGD with momentum 0.9) in three forms, interleaved in one process:
`alphago_policy` as it comes, the same with `conv="plain"`, and PyTorch (channels last,
eager; `--torch-compile` adds the compiled one and takes the faster as the peer).

    python -m pip install -e '.[bench]'
    python experiments/bench_training.py

Hardware: 2 cores of an AMD EPYC (Zen 3, AVX2) virtual machine, shared with other work.
Time: about 5 minutes, most of it PyTorch and the plain form.
Expected: at least 0.8 of PyTorch's positions a second at 192 filters, aiming beyond 1;
gradients within 1e-5 of the plain ones, relative, for every convolution.
Measured: see docs/performance.md.

Output: one JSON object a line. `training_step` gives positions a second (medians) and
the median ratio of neighbouring runs. `convolution_gradients` compares each kind of
convolution of the network with the plain one. `network_gradients` gives the distance of
the whole network's gradients from float64 for each implementation: there all fp32
implementations differ by more, because units near zero fall on either side of a ReLU.
`stream` gives the positions a second that replay, planes and symmetries deliver from
recorded games (`--games`, by default the bundled ones), and their ratio to the step of
the narrowest width, taken in turns; at least 5 is wanted at 64 filters.
"""

import dataclasses
import json
import pathlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, Literal

import _command
import jax
import jax.numpy as jnp
import numpy as np
import optax

from alphago_jax import features, networks
from alphago_jax.data.games import load_game_set, sample_path
from alphago_jax.data.stream import ExampleStream, StreamConfig
from alphago_jax.networks.convolution import convolve

STREAM_POSITIONS = 2048


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """Options of the benchmark."""

    preset: Literal["smoke", "cpu"] = "cpu"
    """`smoke` runs everything once on a tiny network, `cpu` measures."""
    filters: tuple[int, ...] = (192, 64)
    """Widths to measure."""
    layers: int = 12
    """Convolutions in the tower."""
    board_size: int = 19
    """Side of the board."""
    batch_size: int = 32
    """Positions in a step."""
    rounds: int = 9
    """Interleaved runs of each implementation; medians are reported."""
    gradient_batch: int = 4
    """Positions for the comparison of gradients."""
    threads: int = 2
    """Threads of PyTorch; JAX takes the cores there are."""
    torch_compile: bool = False
    """Measure `torch.compile` too (needs a C++ compiler)."""
    seed: int = 0
    """Seed of weights and positions."""
    games: tuple[pathlib.Path, ...] = ()
    """Games for the stream; the bundled ones of this size by default."""


SMOKE: dict[str, Any] = {
    "filters": (16,),
    "layers": 3,
    "board_size": 9,
    "batch_size": 4,
    "rounds": 2,
}


def main(options: Options) -> None:
    """Measures each width and prints the results."""
    if options.preset == "smoke":
        options = dataclasses.replace(options, **SMOKE)
    for filters in options.filters:
        print_line(convolution_gradients(options, filters))
        print_line(network_gradients(options, filters))
        print_line(training_step(options, filters))
    print_line(stream(options, min(options.filters)))


def print_line(result: dict[str, Any]) -> None:
    """Prints one result; figures to four digits."""

    def rounded(value: Any) -> Any:
        return float(f"{value:.4g}") if isinstance(value, float) else value

    print(json.dumps({key: rounded(value) for key, value in result.items()}))
    sys.stdout.flush()


def make_network(options: Options, filters: int, conv: str) -> networks.Network:
    """The policy network of the benchmark."""
    return networks.create(
        "alphago_policy",
        options.board_size,
        filters=filters,
        layers=options.layers,
        conv=conv,
    )


def make_examples(options: Options, batch_size: int) -> tuple[np.ndarray, np.ndarray]:
    """Random planes [B, N, N, 48], a third of them ones, and actions [B]."""
    rng = np.random.default_rng(options.seed)
    n = options.board_size
    planes = (rng.random((batch_size, n, n, 48)) < 0.3).astype(np.float32)
    return planes, rng.integers(0, n * n + 1, batch_size)


def policy_loss(
    network: networks.Network, params: Any, planes: jax.Array, actions: jax.Array
) -> jax.Array:
    """Mean cross-entropy of the moves played."""
    logits = network.apply_train({"params": params}, planes)[0].prior_logits
    assert logits is not None
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, actions)
    return losses.mean()


def make_jax_run(options: Options, network: networks.Network) -> Callable[[], None]:
    """A function that takes one training step and waits for it."""
    optimizer = optax.sgd(0.003, momentum=0.9)
    params = network.init(jax.random.key(options.seed))["params"]
    planes, actions = map(jnp.asarray, make_examples(options, options.batch_size))

    @jax.jit
    def step(params: Any, opt_state: Any) -> tuple[Any, Any]:
        grads = jax.grad(policy_loss, argnums=1)(network, params, planes, actions)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state

    state = [(params, optimizer.init(params))]

    def run() -> None:
        state[0] = jax.block_until_ready(step(*state[0]))

    return run


def torch_modules() -> Any:
    """The torch package, or None where the extra `[bench]` is not installed."""
    try:
        import torch
    except ImportError:
        return None
    return torch


def make_torch_network(torch: Any, params: Any) -> Any:
    """The policy network in PyTorch with the same weights."""

    class Policy(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convolutions = torch.nn.ModuleList()
            tower = params["tower"]
            for layer in [
                *(tower[f"layer_{i + 1}"] for i in range(len(tower))),
                params["head"],
            ]:
                size, _, inputs, features = layer["kernel"].shape
                module = torch.nn.Conv2d(inputs, features, size, padding="same")
                kernel = np.array(layer["kernel"]).transpose(3, 2, 0, 1)
                module.weight.data = torch.tensor(kernel)
                module.bias.data = torch.tensor(np.array(layer["bias"]))
                self.convolutions.append(module)
            pass_logit = torch.tensor(np.array(params["pass_logit"]))
            self.pass_logit = torch.nn.Parameter(pass_logit)

        def forward(self, x: Any) -> Any:
            *tower, head = self.convolutions
            for convolution in tower:
                x = torch.relu(convolution(x))
            points = head(x).flatten(1)
            return torch.cat([points, self.pass_logit.expand(len(points), 1)], 1)

    return Policy()


def make_torch_run(
    torch: Any, options: Options, network: networks.Network, compiled: bool
) -> Callable[[], None]:
    """The same training step in PyTorch, channels last."""
    torch.set_num_threads(options.threads)
    params = network.init(jax.random.key(options.seed))["params"]
    channels_last = torch.channels_last
    policy = make_torch_network(torch, params).to(memory_format=channels_last)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.003, momentum=0.9)
    planes, actions = map(torch.tensor, make_examples(options, options.batch_size))
    planes = planes.permute(0, 3, 1, 2).contiguous(memory_format=channels_last)
    forward = torch.compile(policy) if compiled else policy

    def run() -> None:
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(forward(planes), actions).backward()
        optimizer.step()

    return run


def training_step(options: Options, filters: int) -> dict[str, Any]:
    """Positions a second of every implementation, interleaved."""
    fast = make_network(options, filters, "auto")
    runs = {
        "alphago_jax": make_jax_run(options, fast),
        "plain": make_jax_run(options, make_network(options, filters, "plain")),
    }
    torch = torch_modules()
    if torch is not None:
        runs["torch"] = make_torch_run(torch, options, fast, compiled=False)
        if options.torch_compile:
            runs["torch_compiled"] = make_torch_run(torch, options, fast, True)
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()  # compile, and fault memory in
    for _ in range(options.rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    peer = min(
        set(runs) - {"alphago_jax", "plain"}, key=medians.__getitem__, default=""
    )
    result: dict[str, Any] = {
        "benchmark": "training_step",
        "filters": filters,
        "layers": options.layers,
        "batch_size": options.batch_size,
        "unit": "positions/s",
    }
    for name, median in medians.items():
        result[name] = options.batch_size / median
    result["peer"] = peer or None
    for other, key in ((peer, "ratio"), ("plain", "ratio_to_plain")):
        result[key] = other and statistics.median(
            theirs / ours
            for theirs, ours in zip(seconds[other], seconds["alphago_jax"], strict=True)
        )
    return result


def stream(options: Options, filters: int) -> dict[str, Any]:
    """Positions a second of the data stream, and of the step that consumes them."""
    network = make_network(options, filters, "auto")
    step = make_jax_run(options, network)
    paths = options.games or (sample_path(options.board_size),)
    games, report = load_game_set(paths, options.board_size)
    print(report, file=sys.stderr)
    config = StreamConfig(batch_size=options.batch_size, seed=options.seed)
    examples = ExampleStream(games, features.get(network.planes).planes, config)
    # Batches come in groups that one call makes; a round is a few whole groups.
    num_batches = max(STREAM_POSITIONS // options.batch_size, 1)

    def deliver() -> None:
        for _ in range(num_batches):
            jax.block_until_ready(next(examples))

    for run in (deliver, step):
        run()  # compile, and replay the first chunk
    seconds: dict[str, list[float]] = {"stream": [], "step": []}
    for _ in range(options.rounds):
        for name, run in (("stream", deliver), ("step", step)):
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    total = {name: sum(times) for name, times in seconds.items()}
    delivered = options.rounds * num_batches * options.batch_size / total["stream"]
    consumed = options.rounds * options.batch_size / total["step"]
    return {
        "benchmark": "stream",
        "filters": filters,
        "games": len(games),
        "unit": "positions/s",
        "stream": delivered,
        "step": consumed,
        "ratio": delivered / consumed,
    }


def convolution_gradients(options: Options, filters: int) -> dict[str, Any]:
    """Largest relative difference from the plain convolution, over kinds of layer."""
    n, batch_size = options.board_size, options.gradient_batch
    rng = np.random.default_rng(options.seed)
    names = ("value", "input_gradient", "weight_gradient")
    worst = dict.fromkeys(names, 0.0)
    for size, inputs in ((5, 48), (3, filters)):
        x = np.maximum(rng.normal(size=(n, n, batch_size, inputs)), 0)
        kernel = rng.normal(size=(size, size, inputs, filters))
        kernel *= np.sqrt(2 / (size * size * inputs))
        cotangent = rng.normal(size=(n, n, batch_size, filters))
        arrays = [jnp.asarray(a, jnp.float32) for a in (x, kernel, cotangent)]
        ours, plain = (value_and_gradients(m, *arrays) for m in ("winograd", "plain"))
        for name, a, b in zip(names, ours, plain, strict=True):
            worst[name] = max(worst[name], distance(a, b))
    return {
        "benchmark": "convolution_gradients",
        "filters": filters,
        "unit": "relative difference from plain, in norm",
        **worst,
        "limit": 1e-5,
        "ok": max(worst.values()) < 1e-5,
    }


def value_and_gradients(
    method: Any, x: jax.Array, kernel: jax.Array, cotangent: jax.Array
) -> tuple[jax.Array, ...]:
    """A convolution and its two gradients."""

    @jax.jit
    def compute(x: jax.Array, kernel: jax.Array, cotangent: jax.Array) -> Any:
        y, vjp = jax.vjp(lambda x, k: convolve(x, k, method=method), x, kernel)
        return y, *vjp(cotangent)

    return compute(x, kernel, cotangent)


def network_gradients(options: Options, filters: int) -> dict[str, Any]:
    """Distance of the network's gradients from PyTorch's in float64."""
    result: dict[str, Any] = {
        "benchmark": "network_gradients",
        "filters": filters,
        "unit": "relative distance from float64, in norm over all parameters",
    }
    torch = torch_modules()
    if torch is None:
        return {**result, "skipped": "torch is not installed"}
    planes, actions = make_examples(options, options.gradient_batch)
    params = make_network(options, filters, "plain").init(jax.random.key(options.seed))
    params = params["params"]

    def torch_gradients(dtype: Any) -> np.ndarray:
        policy = make_torch_network(torch, params).to(dtype)
        x = torch.tensor(planes, dtype=dtype).permute(0, 3, 1, 2)
        loss = torch.nn.functional.cross_entropy(policy(x), torch.tensor(actions))
        loss.backward()
        named = [(c.weight.grad, c.bias.grad) for c in policy.convolutions]
        arrays = [array.numpy().ravel() for pair in named for array in pair]
        return np.concatenate(arrays)

    def jax_gradients(conv: str) -> np.ndarray:
        network = make_network(options, filters, conv)
        grads = jax.jit(jax.grad(policy_loss, argnums=1), static_argnums=0)(
            network, params, planes, actions
        )
        tower = grads["tower"]
        layers = [*(tower[f"layer_{i + 1}"] for i in range(len(tower))), grads["head"]]
        named = [(x["kernel"].transpose(3, 2, 0, 1), x["bias"]) for x in layers]
        arrays = [np.asarray(array).ravel() for pair in named for array in pair]
        return np.concatenate(arrays)

    exact = torch_gradients(torch.float64)
    result["alphago_jax"] = distance(jax_gradients("auto"), exact)
    result["plain"] = distance(jax_gradients("plain"), exact)
    result["torch"] = distance(torch_gradients(torch.float32), exact)
    return result


def distance(got: Any, expected: Any) -> float:
    """‖got − expected‖ / ‖expected‖."""
    expected = np.asarray(expected, np.float64)
    difference = np.asarray(got, np.float64) - expected
    return float(np.linalg.norm(difference) / np.linalg.norm(expected))


if __name__ == "__main__":
    _command.run(main, Options, __doc__ or "")
