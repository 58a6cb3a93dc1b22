"""Comparing the configuration of a run with the one that it is resumed with."""

from collections.abc import Collection, Mapping
from typing import Any

from alphago_jax.checkpoint.metadata import CheckpointError

_MISSING = "(absent)"


def refuse_differences(
    stored: Mapping[str, Any], given: Mapping[str, Any], may_change: Collection[str]
) -> None:
    """Raises `CheckpointError` with every name that differs and both its values.

    Args:
        stored: configuration of the run on disk, plain JSON.
        given: configuration of the program that wants to go on with it.
        may_change: dotted names that may differ.
    """
    before, now = _dotted(stored), _dotted(given)
    lines = [
        f"  {key}: {before.get(key, _MISSING)!r} in the run, "
        f"{now.get(key, _MISSING)!r} now"
        for key in sorted(before.keys() | now.keys())
        if before.get(key, _MISSING) != now.get(key, _MISSING) and key not in may_change
    ]
    if lines:
        raise CheckpointError("the configuration has changed:\n" + "\n".join(lines))


def _dotted(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping):
            leaves |= _dotted(value, f"{prefix}{key}.")
        else:
            leaves[prefix + key] = value
    return leaves
