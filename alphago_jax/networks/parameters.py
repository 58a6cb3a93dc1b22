"""How many parameters a network has, and where."""

import dataclasses
import math

import jax

from alphago_jax.networks.network import Network
from alphago_jax.networks.registry import KINDS


@dataclasses.dataclass(frozen=True)
class ParameterRow:
    """One layer of a network."""

    layer: str
    """Path in the tree of parameters, for instance `tower/layer_1`."""
    shapes: dict[str, tuple[int, ...]]
    """Shapes of the arrays of the layer by name."""
    count: int
    """Parameters, counted from the shapes."""
    formula: int
    """Parameters, by the arithmetic of the paper."""


def parameter_table(network: Network) -> list[ParameterRow]:
    """Counts the parameters of each layer, without allocating any.

    Returns:
      The layers in the order of computation. `count` and `formula` come from different
      sources: the network's arrays, and the arithmetic of its paper.

    Raises:
      ValueError: if the two sources do not have the same layers.
    """
    formula = KINDS[network.name].formula(network.config, network.board_size)
    params = jax.eval_shape(network.init, jax.random.key(0))["params"]
    leaves, _ = jax.tree_util.tree_flatten_with_path(params)
    shapes: dict[str, dict[str, tuple[int, ...]]] = {layer: {} for layer in formula}
    for key_path, leaf in leaves:
        path = jax.tree_util.keystr(key_path, simple=True, separator="/")
        layer = next((x for x in formula if f"{path}/".startswith(f"{x}/")), None)
        if layer is None:
            raise ValueError(f"{network.name}: {path} is in no layer of the formula")
        shapes[layer][path[len(layer) + 1 :] or "value"] = leaf.shape
    return [
        ParameterRow(
            layer=layer,
            shapes=arrays,
            count=sum(math.prod(shape) for shape in arrays.values()),
            formula=formula[layer],
        )
        for layer, arrays in shapes.items()
    ]


def format_parameter_table(rows: list[ParameterRow]) -> str:
    """Writes the table as text, with the totals in its last line.

    Args:
      rows: as from `parameter_table`.

    Returns:
      Lines of layer, shapes, count and formula.
    """
    cells = [("layer", "shapes", "parameters", "formula")]
    for row in rows:
        shapes = ", ".join(
            f"{name} {'×'.join(map(str, shape))}" for name, shape in row.shapes.items()
        )
        cells.append((row.layer, shapes, f"{row.count:,}", f"{row.formula:,}"))
    count, formula = sum(r.count for r in rows), sum(r.formula for r in rows)
    cells.append(("total", "", f"{count:,}", f"{formula:,}"))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        f"{layer:<{widths[0]}}  {shapes:<{widths[1]}}  "
        f"{count:>{widths[2]}}  {formula:>{widths[3]}}"
        for layer, shapes, count, formula in cells
    )
