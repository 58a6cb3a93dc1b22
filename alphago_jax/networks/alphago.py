"""AlphaGo's policy and value networks (Silver et al. 2016, Methods).

Both are a `Tower`: a 5×5 convolution and 3×3 convolutions of k filters with ReLU, all
'same'. The defaults are the match network's, k = 192 and 12 layers.

* Policy: 48 planes → tower → 1×1 convolution to one plane. By default one learned
  scalar is the logit of the pass: 3,882,434 parameters. With `pass_move=False` it is
  the paper's: no pass, and a bias for every point instead of one: 3,882,793.
* Value: 49 planes (the last says who is to move) → tower → 1×1 convolution to one
  plane → fully connected 256, ReLU → fully connected 1, tanh: 3,980,162 parameters.

Not in the paper, and off by default: `residual`, `batch_norm`, `dropout`.
"""

import dataclasses

import jax
import jax.numpy as jnp
from flax import linen as nn

from alphago_jax.networks.blocks import Dense, PointHead, Tower
from alphago_jax.networks.convolution import ConvolutionMethod
from alphago_jax.networks.network import NetworkOutput

NO_PASS_LOGIT = -1e9
"""Logit of the pass in a network without one: finite, and exactly 0 after a softmax."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TowerConfig:
    """What the two networks share."""

    filters: int = 192
    """Width k of the tower (the paper tried 128, 192, 256 and 384)."""
    layers: int = 12
    """Convolutions in the tower, the 5×5 one included."""
    residual: bool = False
    """Skip connections around every two 3×3 convolutions (not in the paper)."""
    batch_norm: bool = False
    """Batch norm after every convolution of the tower (not in the paper)."""
    dtype: str = "float32"
    """Dtype of the computation, `float32` or `bfloat16`; parameters stay fp32."""
    remat: bool = False
    """Recompute layers in the backward pass to save memory."""
    conv: ConvolutionMethod = "auto"
    """How to convolve: `auto`, `plain` or `winograd`; see `convolution.convolve`."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PolicyConfig(TowerConfig):
    """Configuration of `alphago_policy`."""

    planes: str = "alphago"
    """Name of the feature set."""
    num_planes: int = 48
    """Input planes."""
    pass_move: bool = True
    """Whether the pass has a logit; without, points have a bias each (the paper)."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ValueConfig(TowerConfig):
    """Configuration of `alphago_value`."""

    planes: str = "alphago_value"
    """Name of the feature set."""
    num_planes: int = 49
    """Input planes."""
    hidden: int = 256
    """Width of the fully connected layer."""
    dropout: float = 0.0
    """Probability that an input of a fully connected layer is dropped in training."""


class PolicyModule(nn.Module):
    """Planes to `prior_logits`."""

    config: PolicyConfig

    @nn.compact
    def __call__(
        self, planes: jax.Array, train: bool = False, axis_name: str | None = None
    ) -> NetworkOutput:
        """Maps [B, N, N, C] to logits [B, N² + 1]."""
        x = _tower(self.config)(_board_first(planes), train, axis_name)
        points = PointHead(
            bias="shared" if self.config.pass_move else "per_point", name="head"
        )(x)  # [B, N²]
        if self.config.pass_move:
            pass_logit = self.param("pass_logit", nn.initializers.zeros, (1,))
        else:
            pass_logit = jnp.full((1,), NO_PASS_LOGIT)
        pass_logit = jnp.broadcast_to(pass_logit, (planes.shape[0], 1))
        return NetworkOutput(prior_logits=jnp.concatenate([points, pass_logit], axis=1))


class ValueModule(nn.Module):
    """Planes to `value`."""

    config: ValueConfig

    @nn.compact
    def __call__(
        self, planes: jax.Array, train: bool = False, axis_name: str | None = None
    ) -> NetworkOutput:
        """Maps [B, N, N, C] to values [B]."""
        config = self.config
        x = _tower(config)(_board_first(planes), train, axis_name)
        x = PointHead(name="head")(x)  # [B, N²]
        x = nn.Dropout(config.dropout, deterministic=not train)(x)
        x = nn.relu(Dense(config.hidden, dtype=config.dtype, name="hidden")(x))
        x = nn.Dropout(config.dropout, deterministic=not train)(x)
        x = Dense(1, dtype=config.dtype, name="output")(x)
        return NetworkOutput(value=jnp.tanh(x[:, 0]))


def _tower(config: TowerConfig) -> Tower:
    return Tower(
        filters=config.filters,
        layers=config.layers,
        residual=config.residual,
        batch_norm=config.batch_norm,
        remat=config.remat,
        dtype=config.dtype,
        conv=config.conv,
        name="tower",
    )


def _board_first(planes: jax.Array) -> jax.Array:
    """[B, N, N, C] planes of any dtype to floating [N, N, B, C]."""
    if not jnp.issubdtype(planes.dtype, jnp.floating):
        planes = planes.astype(jnp.float32)
    return planes.transpose(1, 2, 0, 3)


def tower_formula(config: TowerConfig, num_planes: int) -> dict[str, int]:
    """Parameters per layer of the tower, by the arithmetic of the paper."""
    # With batch norm, its scale and bias stand in place of the convolution's bias.
    per_filter = 2 if config.batch_norm else 1
    counts = {}
    inputs, size = num_planes, 5
    for index in range(1, config.layers + 1):
        weights = size * size * inputs * config.filters
        counts[f"tower/layer_{index}"] = weights + per_filter * config.filters
        inputs, size = config.filters, 3
    return counts


def policy_formula(config: PolicyConfig, board_size: int) -> dict[str, int]:
    """Parameters per layer of the policy network, by the arithmetic of the paper."""
    counts = tower_formula(config, config.num_planes)
    counts["head"] = config.filters + (1 if config.pass_move else board_size**2)
    if config.pass_move:
        counts["pass_logit"] = 1
    return counts


def value_formula(config: ValueConfig, board_size: int) -> dict[str, int]:
    """Parameters per layer of the value network, by the arithmetic of the paper."""
    return {
        **tower_formula(config, config.num_planes),
        "head": config.filters + 1,
        "hidden": board_size**2 * config.hidden + config.hidden,
        "output": config.hidden + 1,
    }
