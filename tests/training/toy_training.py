"""A network small enough to compile at once, and batches for it."""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from alphago_jax.types import Examples

BOARD = 3
CHANNELS = 4
ACTIONS = BOARD * BOARD + 1


@struct.dataclass
class ToyOutput:
    prior_logits: jax.Array  # [B, A]
    value: jax.Array  # [B]


class _Module(nn.Module):
    """Convolution, batch normalisation, two heads."""

    axis_name: str | None = None
    normalise: bool = True

    @nn.compact
    def __call__(self, planes: jax.Array, *, train: bool) -> ToyOutput:
        x = nn.Conv(8, (3, 3))(planes.astype(jnp.float32))
        if self.normalise:
            x = nn.BatchNorm(
                use_running_average=not train, momentum=0.9, axis_name=self.axis_name
            )(x)
        x = nn.relu(x).reshape(planes.shape[0], -1)
        value = jnp.tanh(nn.Dense(1)(x))[:, 0]
        return ToyOutput(nn.Dense(ACTIONS)(x), value)


class ToyNetwork:
    """The module behind the functions that a training step takes."""

    def __init__(self, normalise: bool = True):
        self.module = _Module(None, normalise)
        self.normalise = normalise

    def variables(self):
        return jax.tree.map(jnp.asarray, _initial_variables(self.normalise))

    def apply_train(self, variables, planes, *, rngs, axis_name):
        mutable = ["batch_stats"] if self.normalise else []
        return _Module(axis_name, self.normalise).apply(
            variables, planes, train=True, rngs=rngs, mutable=mutable
        )

    def apply_eval(self, variables, planes):
        return self.module.apply(variables, planes, train=False)


def _initial_variables(normalise: bool):
    """From NumPy: compiling JAX's random initialisers takes seconds."""
    planes = jnp.zeros((2, BOARD, BOARD, CHANNELS))
    init = functools.partial(_Module(None, normalise).init, train=False)
    shapes = jax.eval_shape(init, jax.random.key(0), planes)
    rng = np.random.default_rng(0)

    def draw(path, leaf):
        constant = {"mean": 0.0, "bias": 0.0, "var": 1.0, "scale": 1.0}
        name = path[-1].key
        if name in constant:
            return np.full(leaf.shape, constant[name], np.float32)
        scale = 1.0 / np.sqrt(np.prod(leaf.shape[:-1]))
        return (rng.normal(size=leaf.shape) * scale).astype(np.float32)

    return jax.tree_util.tree_map_with_path(draw, shapes)


def make_batch(seed: int, size: int = 16, *, uneven: bool = True) -> Examples:
    """Random examples; the weights differ, and some are 0, if `uneven`."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 2.0, size) * (rng.random(size) < 0.8)
    return Examples(
        planes=rng.integers(0, 2, (size, BOARD, BOARD, CHANNELS)).astype(np.float32),
        actions=rng.integers(0, ACTIONS, size).astype(np.int32),
        returns=rng.choice([-1.0, 0.0, 1.0], size).astype(np.float32),
        weights=(weights if uneven else np.ones(size)).astype(np.float32),
    )


class ToyStream:
    """Batches made from their number; its position is that number."""

    def __init__(self, size: int = 16):
        self.number = 0
        self.size = size

    def __next__(self) -> Examples:
        self.number += 1
        return make_batch(self.number, self.size)

    def state(self):
        return {"number": self.number}

    def restore(self, state):
        self.number = state["number"]
