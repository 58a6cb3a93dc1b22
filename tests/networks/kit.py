"""Laws that every network keeps, as functions to call from any network's tests.

    network = networks.create("alphago_policy", 5, filters=8, layers=3)
    kit.check_everything(network)
    kit.check_against_torch(network, torch_forward)

Sizes are the caller's choice; keep them small, each law compiles the network.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from alphago_jax import networks
from alphago_jax.networks import Network, NetworkOutput

TorchForward = Callable[[Any, Any], dict[str, Any]]
"""(params as nested torch tensors, planes [B, C, N, N]) → outputs by field name."""


def check_everything(network: Network) -> None:
    """Runs the laws that need nothing but the network."""
    check_shapes_and_dtypes(network)
    check_rows_are_independent(network)
    check_symmetric_kernels(network)
    check_remat(network)
    check_bfloat16(network)
    check_overfits_one_batch(network)


def variant(network: Network, **overrides: Any) -> Network:
    """The same network with some options changed."""
    options = {**network.config_dict(), **overrides}
    return networks.create(network.name, network.board_size, **options)


def random_planes(network: Network, batch: int = 4, seed: int = 0) -> jax.Array:
    """Zeros and ones, as most planes of a position are."""
    n, channels = network.board_size, network.num_planes
    planes = np.random.default_rng(seed).random((batch, n, n, channels)) < 0.3
    return jnp.asarray(planes, jnp.float32)


def lively_variables(network: Network, seed: int = 0) -> networks.Variables:
    """Initial variables with noise, so that no array is still at a special value."""
    variables = network.init(jax.random.key(seed))
    rng = np.random.default_rng(seed)

    def add_noise(leaf: jax.Array) -> jax.Array:
        return leaf + jnp.asarray(rng.uniform(-0.05, 0.05, leaf.shape), leaf.dtype)

    return jax.tree.map(add_noise, variables)


@functools.cache
def compiled_apply(network: Network) -> Callable[..., NetworkOutput]:
    """`network.apply`, compiled once for all laws."""
    return jax.jit(network.apply)


def outputs_of(output: NetworkOutput) -> dict[str, jax.Array]:
    """The fields that the network has, by name."""
    fields = {f.name: getattr(output, f.name) for f in dataclasses.fields(output)}
    present = {name: array for name, array in fields.items() if array is not None}
    assert present, "a network must have an output"
    return present


def check_shapes_and_dtypes(network: Network) -> None:
    """Parameters and outputs are fp32 and finite, outputs have the documented shape."""
    variables = network.init(jax.random.key(0))
    leaves = jax.tree.leaves(variables)
    assert leaves and all(leaf.dtype == jnp.float32 for leaf in leaves)
    n = network.board_size
    shapes = {"prior_logits": (4, n * n + 1), "value": (4,), "score": (4,)}
    shapes["ownership"] = (4, n, n)
    outputs = outputs_of(compiled_apply(network)(variables, random_planes(network)))
    for name, array in outputs.items():
        assert array.shape == shapes[name] and array.dtype == jnp.float32, name
        assert bool(jnp.isfinite(array).all()), name
    if "value" in outputs:
        assert bool((jnp.abs(outputs["value"]) <= 1).all())


def check_rows_are_independent(network: Network) -> None:
    """Reversing a batch reverses the outputs, and no row sees another."""
    variables, planes = lively_variables(network), random_planes(network)
    apply = compiled_apply(network)
    outputs = outputs_of(apply(variables, planes))
    reverse = outputs_of(apply(variables, planes[::-1]))
    lone = outputs_of(apply(variables, planes.at[1:].set(0.0)))
    for name, array in outputs.items():
        np.testing.assert_allclose(reverse[name][::-1], array, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(lone[name][0], array[0], rtol=1e-5, atol=1e-5)
        assert not np.allclose(lone[name][1], array[1]), f"{name} ignores the planes"


def check_symmetric_kernels(network: Network) -> None:
    """With parameters made symmetric, turning the board turns what is on points.

    It fails for any transposed axis, one-sided padding or wrong flattening.
    """
    n = network.board_size
    variables = jax.tree.map(lambda x: _symmetrised(x, n), lively_variables(network))
    planes = random_planes(network)
    apply = compiled_apply(network)
    outputs = outputs_of(apply(variables, planes))
    for turns, flip in ((1, False), (0, True), (3, True)):
        turned = outputs_of(apply(variables, _turn(planes, turns, flip, axes=(1, 2))))
        for name, array in outputs.items():
            expected = np.asarray(array)
            if name == "prior_logits":
                points = expected[:, :-1].reshape(-1, n, n)
                points = _turn(points, turns, flip, axes=(1, 2)).reshape(-1, n * n)
                expected = np.concatenate([points, expected[:, -1:]], axis=1)
            elif name == "ownership":
                expected = _turn(expected, turns, flip, axes=(1, 2))
            np.testing.assert_allclose(turned[name], expected, rtol=1e-4, atol=1e-4)


def _turn(array: Any, turns: int, flip: bool, axes: tuple[int, int]) -> Any:
    array = np.rot90(np.asarray(array), turns, axes)
    return np.flip(array, axes[0]) if flip else array


def _symmetrised(leaf: jax.Array, n: int) -> jax.Array:
    """Averages kernels [K, K, …] and arrays over points [N·N, …] over 8 symmetries."""
    shape = leaf.shape
    if leaf.ndim and shape[0] == n * n:
        square = leaf.reshape(n, n, *shape[1:])
    elif leaf.ndim == 4:
        square = leaf
    else:
        return leaf
    turned = [_turn(square, k, f, axes=(0, 1)) for k in range(4) for f in (False, True)]
    return jnp.asarray(np.mean(turned, axis=0)).reshape(shape)


def check_remat(network: Network) -> None:
    """Rematerialisation changes neither outputs nor gradients."""
    kept, remade = variant(network, remat=False), variant(network, remat=True)
    variables, planes = lively_variables(kept), random_planes(kept)
    for (path, expected), got in zip(
        jax.tree.leaves_with_path(gradients(kept, variables, planes)),
        jax.tree.leaves(gradients(remade, variables, planes)),
        strict=True,
    ):
        np.testing.assert_allclose(
            got, expected, rtol=1e-4, atol=1e-5, err_msg=jax.tree_util.keystr(path)
        )


def check_bfloat16(network: Network) -> None:
    """In bf16 the outputs are near those in fp32, and the gradients fp32."""
    exact, rough = variant(network, dtype="float32"), variant(network, dtype="bfloat16")
    variables, planes = exact.init(jax.random.key(1)), random_planes(network)
    expected = outputs_of(compiled_apply(exact)(variables, planes))
    got = outputs_of(compiled_apply(rough)(variables, planes))
    for name, array in expected.items():
        # bf16 has 8 bits: a few roundings of 2⁻⁸ of the size of the outputs.
        tolerance = 0.03 * max(1.0, float(jnp.sqrt(jnp.mean(array[..., :-1] ** 2))))
        np.testing.assert_allclose(got[name], array, rtol=0.03, atol=tolerance)
        assert not np.array_equal(got[name], array), f"{name} was not in bf16"
    leaves = jax.tree.leaves(gradients(rough, variables, planes))
    assert leaves and all(leaf.dtype == jnp.float32 for leaf in leaves)


def check_overfits_one_batch(
    network: Network, *, steps: int = 200, learning_rate: float = 3e-3
) -> None:
    """A network that can learn learns four positions by heart."""
    planes = random_planes(network)
    variables = network.init(jax.random.key(0))
    optimizer = optax.adam(learning_rate)

    def step(carry: Any, rng_key: jax.Array) -> Any:
        variables, opt_state = carry

        def loss_fn(params: Any) -> Any:
            outputs, updates = network.apply_train(
                {**variables, "params": params}, planes, rngs={"dropout": rng_key}
            )
            return target_loss(outputs), updates

        (loss, updates), grads = jax.value_and_grad(loss_fn, has_aux=True)(
            variables["params"]
        )
        changes, opt_state = optimizer.update(grads, opt_state)
        params = optax.apply_updates(variables["params"], changes)
        return ({"params": params, **updates}, opt_state), loss

    carry = (variables, optimizer.init(variables["params"]))
    keys = jax.random.split(jax.random.key(2), steps)
    _, losses = jax.jit(lambda carry: jax.lax.scan(step, carry, keys))(carry)
    assert bool(jnp.isfinite(losses).all())
    assert float(losses[-1]) < 0.05 * float(losses[0]), (losses[0], losses[-1])


def target_loss(output: NetworkOutput) -> jax.Array:
    """Cross-entropy and squared errors towards targets that differ from row to row."""
    loss = jnp.zeros(())
    for name, array in outputs_of(output).items():
        rows = jnp.arange(array.shape[0])
        if name == "prior_logits":
            targets = 3 * rows % (array.shape[-1] - 1)
            loss += optax.softmax_cross_entropy_with_integer_labels(
                array, targets
            ).mean()
        else:
            signs = (1.0 - 2.0 * (rows % 2)).reshape(-1, *([1] * (array.ndim - 1)))
            loss += jnp.mean((array - 0.9 * signs) ** 2)
    return loss


def gradients(
    network: Network, variables: networks.Variables, planes: jax.Array
) -> Any:
    """Gradient of `target_loss` of the outputs without training's randomness."""

    def loss(params: Any) -> jax.Array:
        return target_loss(network.apply({**variables, "params": params}, planes))

    return jax.jit(jax.grad(loss))(variables["params"])


def check_against_torch(
    network: Network, torch_forward: TorchForward, *, relative: float = 1e-5
) -> None:
    """Outputs and gradients equal those of PyTorch with the same weights.

    Args:
      network: without dropout.
      torch_forward: the network written with `torch.nn.functional`, in float64; kernels
        come as [O, I, K, K] and [O, I], everything else as it is.
      relative: allowed difference of each array, relative in norm.
    """
    torch = pytest.importorskip("torch")
    variables, planes = lively_variables(network), random_planes(network)

    def to_torch(leaf: jax.Array) -> Any:
        array = torch.tensor(np.asarray(leaf), dtype=torch.float64)
        axes = {4: (3, 2, 0, 1), 2: (1, 0)}.get(array.ndim)
        array = array.permute(axes).contiguous() if axes else array
        return array.requires_grad_()

    tensors = jax.tree.map(to_torch, variables["params"])
    boards = torch.tensor(np.asarray(planes), dtype=torch.float64).permute(0, 3, 1, 2)
    expected = torch_forward(tensors, boards)
    outputs = outputs_of(compiled_apply(network)(variables, planes))
    assert outputs.keys() == expected.keys()
    # A random weighting of the outputs makes one scalar whose gradient sees them all.
    rng = np.random.default_rng(5)
    weights = {name: rng.normal(size=array.shape) for name, array in outputs.items()}
    for name, array in outputs.items():
        assert _distance(array, expected[name].detach().numpy()) < relative, name

    scalar = sum(
        (expected[name] * torch.tensor(weight)).sum()
        for name, weight in weights.items()
    )
    scalar.backward()

    def weighted(params: Any) -> jax.Array:
        outputs = outputs_of(network.apply({**variables, "params": params}, planes))
        return sum(
            (jnp.vdot(array, jnp.asarray(weights[name], jnp.float32)))
            for name, array in outputs.items()
        )

    grads = jax.jit(jax.grad(weighted))(variables["params"])

    def compare(path: Any, grad: jax.Array, tensor: Any) -> None:
        exact = tensor.grad.numpy()
        axes = {4: (2, 3, 1, 0), 2: (1, 0)}.get(exact.ndim)
        exact = exact.transpose(axes) if axes else exact
        where = jax.tree_util.keystr(path)
        assert np.linalg.norm(exact) > 0, where
        assert _distance(grad, exact) < relative, (where, _distance(grad, exact))

    jax.tree_util.tree_map_with_path(compare, grads, tensors)


def _distance(got: Any, expected: np.ndarray) -> float:
    """‖got − expected‖ / ‖expected‖, leaving out constants such as a missing pass."""
    keep = np.abs(expected) < 1e8
    difference = (np.asarray(got, np.float64) - expected)[keep]
    return float(np.linalg.norm(difference) / np.linalg.norm(expected[keep]))
