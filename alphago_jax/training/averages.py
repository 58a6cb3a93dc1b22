"""Weighted means that stay exact however a batch is cut up.

A `Mean` keeps its two sums apart. Micro-batches, devices and evaluation batches merge
by adding them, so the result does not depend on where the cuts were made.
"""

import jax
import jax.numpy as jnp
from flax import struct


@struct.dataclass
class Mean:
    """A weighted mean as two sums.

    Attributes:
        total: float32 [] Σ weight · value.
        weight: float32 [] Σ weight.
    """

    total: jax.Array  # []
    weight: jax.Array  # []

    def __add__(self, other: "Mean") -> "Mean":
        return Mean(self.total + other.total, self.weight + other.weight)

    def compute(self) -> jax.Array:
        """The mean, float32 []; NaN where nothing had any weight."""
        return self.total / self.weight


def weighted_mean(values: jax.Array, weights: jax.Array) -> Mean:
    """The mean of `values` [B] under `weights` [B].

    A value of weight 0 does not count even if it is not finite.
    """
    values, weights = values.astype(jnp.float32), weights.astype(jnp.float32)
    counted = jnp.where(weights > 0, values, 0.0)
    return Mean(jnp.sum(weights * counted), jnp.sum(weights))
