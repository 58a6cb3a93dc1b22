"""The layers that the networks of this package are built from.

Inside a network the batch stands *behind* the board: activations are `[N, N, B, C]`,
which is what makes the convolution fast on a CPU (see `convolution.py`) and costs
nothing elsewhere, because compilers for GPUs and TPUs choose the memory layout
themselves. Networks transpose their planes once on entry.
"""

import math

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax.nn import initializers

from alphago_jax.networks.convolution import ConvolutionMethod, convolve

BATCH_NORM_EPSILON = 1e-5
BATCH_NORM_MOMENTUM = 0.99


class ConvolutionLayer(nn.Module):
    """'Same' convolution, optional batch norm, optional skip connection, ReLU.

    The parameters are fp32 `kernel [K, K, C, features]` and either `bias [features]`
    or, with batch norm, `norm` with scale and bias (the bias before a batch norm would
    have no effect).

    Attributes:
      features: number of filters.
      kernel_size: side K of the kernel, odd.
      batch_norm: normalise each channel over the batch and the board.
      zero_start: start as zero, so that a layer with a skip connection starts as the
        identity: zero scale with batch norm, zero kernel without.
      dtype: dtype of the computation; parameters and statistics stay fp32.
      conv: how to convolve, see `convolution.convolve`.
    """

    features: int
    kernel_size: int = 3
    batch_norm: bool = False
    zero_start: bool = False
    dtype: str = "float32"
    conv: ConvolutionMethod = "auto"

    @nn.compact
    def __call__(
        self,
        x: jax.Array,
        skip: jax.Array | None = None,
        train: bool = False,
        axis_name: str | None = None,
    ) -> jax.Array:
        """Applies the layer.

        Args:
          x: [N, N, B, C] activations.
          skip: [N, N, B, features] added before the ReLU, or None.
          train: normalise by this batch and update the running statistics, instead
            of normalising by the running statistics.
          axis_name: mapped axis (`pmap`, `shard_map`) over which the statistics of the
            batch are averaged; None under plain `jit`, sharded or not.

        Returns:
          [N, N, B, features] activations in `dtype`.
        """
        dtype = jnp.dtype(self.dtype)
        zero_kernel = self.zero_start and not self.batch_norm
        kernel = self.param(
            "kernel",
            initializers.zeros if zero_kernel else initializers.he_normal(),
            (self.kernel_size, self.kernel_size, x.shape[-1], self.features),
        )
        x = convolve(x.astype(dtype), kernel.astype(dtype), method=self.conv)
        if self.batch_norm:
            x = nn.BatchNorm(
                use_running_average=not train,
                momentum=BATCH_NORM_MOMENTUM,
                epsilon=BATCH_NORM_EPSILON,
                dtype=dtype,
                axis_name=axis_name if train else None,
                scale_init=initializers.constant(0.0 if self.zero_start else 1.0),
                name="norm",
            )(x)
        else:
            bias = self.param("bias", initializers.zeros, (self.features,))
            x = x + bias.astype(dtype)
        if skip is not None:
            x = x + skip
        return nn.relu(x)


class Tower(nn.Module):
    """A 5×5 convolution and then 3×3 convolutions of the same width.

    This is the body of AlphaGo's policy and value networks (Silver et al. 2016,
    Methods, "Neural network architecture"). Layers are named `layer_1`, … as there.

    Attributes:
      filters: width k.
      layers: number of convolutions, the 5×5 one included.
      residual: add the input of every pair of 3×3 convolutions to its output, before
        the ReLU (not in the paper); with an even `layers` the last one is left over
        and has no skip connection.
      batch_norm: batch norm after every convolution (not in the paper).
      remat: recompute the inside of a layer in the backward pass instead of keeping
        it, which keeps one activation a layer.
      dtype: dtype of the computation.
      conv: how to convolve.
    """

    filters: int
    layers: int
    residual: bool = False
    batch_norm: bool = False
    remat: bool = False
    dtype: str = "float32"
    conv: ConvolutionMethod = "auto"

    @nn.compact
    def __call__(
        self, x: jax.Array, train: bool = False, axis_name: str | None = None
    ) -> jax.Array:
        """Maps [N, N, B, C] planes to [N, N, B, filters] activations."""
        layer = ConvolutionLayer
        if self.remat:
            # Indices count self: train and axis_name are not arrays.
            layer = nn.remat(ConvolutionLayer, static_argnums=(3, 4))
        pair_input = x
        for index in range(1, self.layers + 1):
            closes_pair = self.residual and index > 1 and index % 2 == 1
            output = layer(
                features=self.filters,
                kernel_size=5 if index == 1 else 3,
                batch_norm=self.batch_norm,
                zero_start=closes_pair,
                dtype=self.dtype,
                conv=self.conv,
                name=f"layer_{index}",
            )(x, pair_input if closes_pair else None, train, axis_name)
            if index == 1 or closes_pair:
                pair_input = output
            x = output
        return x


class PointHead(nn.Module):
    """1×1 convolution to one plane: a number for each point of the board.

    Attributes:
      bias: `shared` is the bias of a convolution, `per_point` a bias for every point,
        as in AlphaGo's policy network.
      dtype: dtype of the computation.
    """

    bias: str = "shared"
    dtype: str = "float32"

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Maps [N, N, B, C] activations to fp32 [B, N·N]."""
        n, _, batch, channels = x.shape
        kernel = self.param("kernel", initializers.lecun_normal(), (1, 1, channels, 1))
        num_biases = 1 if self.bias == "shared" else n * n
        bias = self.param("bias", initializers.zeros, (num_biases,))
        y = jnp.einsum(
            "pbc,c->bp",
            x.reshape(n * n, batch, channels),
            kernel.reshape(channels).astype(x.dtype),
            preferred_element_type=jnp.float32,
        )
        return y.astype(jnp.float32) + bias


class Dense(nn.Module):
    """A fully connected layer with fp32 parameters `kernel [I, O]` and `bias [O]`."""

    features: int
    dtype: str = "float32"

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        """Maps [B, I] to fp32 [B, features]."""
        shape = (math.prod(x.shape[1:]), self.features)
        kernel = self.param("kernel", initializers.lecun_normal(), shape)
        bias = self.param("bias", initializers.zeros, (self.features,))
        dtype = jnp.dtype(self.dtype)
        y = jnp.dot(
            x.astype(dtype), kernel.astype(dtype), preferred_element_type=jnp.float32
        )
        return y.astype(jnp.float32) + bias
