"""The type that stands between a network's layers and everything that uses it."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import struct

Variables = dict[str, Any]
"""Collections of arrays: `params`, and `batch_stats` where there is batch norm."""


@struct.dataclass
class NetworkOutput:
    """What a network says about a batch of positions; fields it lacks are None.

    Everything is seen by the player to move, in fp32 whatever the network computes in.
    """

    prior_logits: jax.Array | None = None
    """[B, A] logits of the moves, the last one is the pass; illegal moves included."""
    value: jax.Array | None = None
    """[B] expected outcome in [−1, 1]."""
    score: jax.Array | None = None
    """[B] expected final margin in points, positive = the player to move is ahead."""
    ownership: jax.Array | None = None
    """[B, N, N] in [−1, 1], +1 = the player to move will own the point."""


@dataclasses.dataclass(frozen=True)
class Network:
    """A network as pure functions of its variables; compared and hashed by value.

    `networks.create(network.name, network.board_size, **network.config_dict())` builds
    an equal network, so these three say all there is to store beside the variables.
    """

    name: str
    """Name in the registry, for instance `alphago_policy`."""
    board_size: int
    """Side N of the board."""
    config: Any
    """Frozen dataclass of plain values (JSON can hold it)."""
    module: nn.Module = dataclasses.field(repr=False)
    """The Flax module behind it, for inspection; not part of the interface."""

    @property
    def planes(self) -> str:
        """Name of the feature set in `features` that makes the input."""
        return self.config.planes

    @property
    def num_planes(self) -> int:
        """Number of input planes C."""
        return self.config.num_planes

    @property
    def num_actions(self) -> int:
        """Number of actions A = N² + 1."""
        return self.board_size**2 + 1

    def config_dict(self) -> dict[str, Any]:
        """The configuration as a dictionary that JSON can hold."""
        return dataclasses.asdict(self.config)

    def init(self, rng_key: jax.Array) -> Variables:
        """Draws initial variables: `params` (all fp32), and `batch_stats` if any."""
        return _init(self, rng_key)

    def apply(
        self,
        variables: Variables,
        planes: jax.Array,
        *,
        train: bool = False,
        rngs: dict[str, jax.Array] | None = None,
    ) -> NetworkOutput:
        """Evaluates a batch of positions.

        Args:
          variables: as from `init`.
          planes: [B, N, N, C] of any real dtype (uint8 and bool planes too).
          train: use dropout, and the batch's own statistics in a batch norm. The
            updated running statistics are dropped; `apply_train` returns them.
          rngs: `{"dropout": key}` where dropout is on and `train`.

        Returns:
          The outputs, in fp32.

        Raises:
          ValueError: if the planes have another shape than the network was made for.
        """
        return self._apply(variables, planes, train=train, rngs=rngs, axis_name=None)[0]

    def apply_train(
        self,
        variables: Variables,
        planes: jax.Array,
        *,
        rngs: dict[str, jax.Array] | None = None,
        axis_name: str | None = None,
    ) -> tuple[NetworkOutput, Variables]:
        """Evaluates a batch as `apply(train=True)` does, and updates statistics.

        One training step serves networks with and without batch norm:

            outputs, updates = network.apply_train(variables, planes, rngs=rngs)
            variables = {"params": new_params, **updates}

        Args:
          variables: as from `init`.
          planes: [B, N, N, C].
          rngs: `{"dropout": key}` where dropout is on.
          axis_name: mapped axis over which a batch norm averages its statistics under
            `pmap` or `shard_map`; None under `jit`, sharded or not.

        Returns:
          The outputs, and the collections other than `params` after this batch:
          `{"batch_stats": …}`, or `{}` for a network without running statistics.
        """
        return self._apply(
            variables, planes, train=True, rngs=rngs, axis_name=axis_name
        )

    def _apply(
        self,
        variables: Variables,
        planes: jax.Array,
        *,
        train: bool,
        rngs: dict[str, jax.Array] | None,
        axis_name: str | None,
    ) -> tuple[NetworkOutput, Variables]:
        expected = (self.board_size, self.board_size, self.num_planes)
        if planes.ndim != 4 or planes.shape[1:] != expected:
            raise ValueError(
                f"{self.name} expects planes [B, {', '.join(map(str, expected))}] "
                f"({self.planes}), got {list(planes.shape)}"
            )
        mutable = [name for name in variables if name != "params"] if train else []
        outputs, updates = self.module.apply(
            variables,
            planes,
            train=train,
            axis_name=axis_name,
            rngs=rngs,
            mutable=mutable,
        )
        return outputs, dict(updates)


@functools.partial(jax.jit, static_argnames="network")
def _init(network: Network, rng_key: jax.Array) -> Variables:
    """Compiled so that the forward pass, which only gives shapes, is never run."""
    shape = (1, network.board_size, network.board_size, network.num_planes)
    return dict(network.module.init({"params": rng_key}, jnp.zeros(shape)))
