"""What a saved network says about itself, and the JSON files that say it."""

import dataclasses
import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from alphago_jax.types import JSON

FORMAT_VERSION = 1


class CheckpointError(ValueError):
    """A checkpoint that cannot be read, or that must not be overwritten."""


@dataclasses.dataclass(frozen=True)
class NetworkMetadata:
    """Everything needed to build a network again and to feed it.

    Attributes:
        name: name for `networks.create`.
        board_size: N, the side of the board it was trained on.
        config: keyword arguments for `networks.create` beside name and board size.
        planes: name of its feature planes in `alphago_jax.features`.
        rules: the rules of its training games, by name or field by field.
        step: training steps behind the weights.
        metrics: figures measured at that step, such as validation accuracy.
        notes: anything else worth keeping: data, command, licence.
        format_version: version of the file layout.
    """

    name: str
    board_size: int
    config: Mapping[str, JSON] = dataclasses.field(default_factory=dict)
    planes: str = ""
    rules: str | Mapping[str, JSON] = ""
    step: int = 0
    metrics: Mapping[str, float] = dataclasses.field(default_factory=dict)
    notes: Mapping[str, JSON] = dataclasses.field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    def to_json(self) -> dict[str, Any]:
        """The metadata as plain JSON values (NumPy scalars and tuples converted)."""
        return plain_json(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "NetworkMetadata":
        """Reads `to_json`'s result back.

        Raises:
            CheckpointError: written by a newer version, or fields are missing or
                unknown.
        """
        check_format_version(values)
        try:
            return cls(**values)
        except TypeError as error:
            raise CheckpointError(f"not a network description: {error}") from error


def check_format_version(values: Mapping[str, Any]) -> None:
    """Raises `CheckpointError` for a layout that this version does not know."""
    version = values.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise CheckpointError(
            f"checkpoint format {version!r}; this version reads up to {FORMAT_VERSION}"
        )


def plain_json(value: Any) -> Any:
    """A deep copy of `value` in JSON types: what reading it back will give.

    Raises:
        TypeError: something in it has no JSON form.
    """

    def convert(thing: Any) -> Any:
        if isinstance(thing, jax.Array | np.ndarray | np.generic):
            return np.asarray(thing).tolist()
        raise TypeError(f"{type(thing).__name__} cannot be written as JSON: {thing!r}")

    return json.loads(json.dumps(value, default=convert))


def write_json(path: pathlib.Path, value: Any) -> None:
    """Writes a JSON file that is either wholly there or not there at all."""
    temporary = path.with_name(path.name + ".tmp")
    text = json.dumps(plain_json(value), indent=2, sort_keys=True)
    temporary.write_text(text + "\n", encoding="utf-8")
    os.replace(temporary, path)


def read_json(path: pathlib.Path) -> dict[str, Any]:
    """Reads a JSON object.

    Raises:
        CheckpointError: the file is missing or is not a JSON object.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{path} is not a JSON object")
    return value
