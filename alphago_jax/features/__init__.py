"""States to input planes: one module for each set, all with the same two functions.

`planes(state) -> float [N, N, C]` and `channel_names() -> C names`. Networks and
checkpoints call a set by its name; `get` finds it.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax

from alphago_jax.features import alphago, alphago_value


class FeatureSet(NamedTuple):
    """A set of input planes.

    Attributes:
      name: how checkpoints call it.
      planes: state to planes, [N, N, C], for one state.
      channel_names: the C names, in order.
    """

    name: str
    planes: Callable[..., jax.Array]
    channel_names: tuple[str, ...]

    @property
    def num_channels(self) -> int:
        """Number of planes C."""
        return len(self.channel_names)


def get(name: str) -> FeatureSet:
    """Finds a set of planes by its name.

    Raises:
      ValueError: for a name that does not exist.
    """
    modules = {"alphago": alphago, "alphago_value": alphago_value}
    if name not in modules:
        raise ValueError(f"unknown planes {name!r}; there are {', '.join(modules)}")
    module = modules[name]
    return FeatureSet(name, module.planes, module.channel_names())


__all__ = ["FeatureSet", "alphago", "alphago_value", "get"]
