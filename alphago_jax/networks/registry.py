"""The networks by name."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

from flax import linen as nn

from alphago_jax.networks import alphago
from alphago_jax.networks.convolution import CONVOLUTION_METHODS
from alphago_jax.networks.network import Network

_DTYPES = ("float32", "bfloat16")


class NetworkKind(NamedTuple):
    """How to build the networks of one name."""

    config: type
    """Frozen dataclass of the configuration, with its defaults."""
    module: Callable[[Any], nn.Module]
    """Makes the Flax module from a configuration."""
    formula: Callable[[Any, int], dict[str, int]]
    """(config, board_size) → parameters per layer, by the arithmetic of the paper."""


KINDS: dict[str, NetworkKind] = {
    "alphago_policy": NetworkKind(
        alphago.PolicyConfig, alphago.PolicyModule, alphago.policy_formula
    ),
    "alphago_value": NetworkKind(
        alphago.ValueConfig, alphago.ValueModule, alphago.value_formula
    ),
}


def create(name: str, board_size: int, **overrides: Any) -> Network:
    """Makes a network; nothing is computed until `init` or `apply`.

    >>> network = create("alphago_policy", 9, filters=32, layers=4)
    >>> network.num_planes, network.num_actions
    (48, 82)

    Args:
      name: a key of `KINDS`: `alphago_policy` or `alphago_value`.
      board_size: side N of the board.
      **overrides: values for the configuration instead of its defaults; the fields
        of `alphago.PolicyConfig` or `alphago.ValueConfig`.

    Returns:
      The network.

    Raises:
      ValueError: for an unknown name, an unknown key or a value out of range; the
        message lists what there is.
    """
    if name not in KINDS:
        raise ValueError(f"no network {name!r}; there are: {', '.join(sorted(KINDS))}")
    kind = KINDS[name]
    known = [field.name for field in dataclasses.fields(kind.config)]
    unknown = sorted(set(overrides) - set(known))
    if unknown:
        raise ValueError(
            f"{name} has no option {', '.join(unknown)}; it has: {', '.join(known)}"
        )
    config = kind.config(**overrides)
    _check(name, board_size, config)
    return Network(
        name=name, board_size=board_size, config=config, module=kind.module(config)
    )


def _check(name: str, board_size: int, config: Any) -> None:
    """Refuses values that would only fail deep inside the network."""
    values = {"board_size": board_size, **dataclasses.asdict(config)}
    for key in ("board_size", "filters", "layers", "num_planes", "hidden"):
        value = values.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}: {key} must be a whole number ≥ 1, got {value!r}")
    if not 0.0 <= values.get("dropout", 0.0) < 1.0:
        raise ValueError(f"{name}: dropout must be in [0, 1), got {values['dropout']}")
    for key, choices in (("dtype", _DTYPES), ("conv", CONVOLUTION_METHODS)):
        if values[key] not in choices:
            raise ValueError(
                f"{name}: {key} must be one of {', '.join(choices)}, "
                f"got {values[key]!r}"
            )
