"""Pictures: boards with stones and heat maps, and learning curves.

Matplotlib is imported when a picture is made, not before, and its figures are
made without its global state, so that a server or a thread can draw too. The
colours are told apart by colour-blind eyes and in grey.
"""

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from alphago_jax.go import coords

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WOOD = "#e8c58a"
_LINE = "#5a4020"
_SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def _star_points(size: int) -> list[tuple[int, int]]:
    if size < 7:
        return []
    edge = 3 if size >= 13 else 2
    ends = [edge, size - 1 - edge]
    points = [(r, c) for r in ends for c in ends]
    if size % 2:
        middle = size // 2
        points.append((middle, middle))
        if size >= 15:
            points += [(middle, c) for c in ends] + [(r, middle) for r in ends]
    return points


def draw_board(
    axes: "Axes",
    stones: np.ndarray,
    *,
    heat: np.ndarray | None = None,
    last_move: int | None = None,
    title: str = "",
) -> None:
    """Draws a board on axes.

    Args:
      axes: where to draw.
      stones: int [N, N], +1 Black, −1 White, 0 empty; row 0 is the top.
      heat: float [N, N] or [N²] in [0, 1], probabilities to shade points with;
        points of at least 1 % carry their percentage.
      last_move: action to mark, if any.
      title: text above the board.
    """
    from matplotlib.patches import Circle

    size = stones.shape[0]
    axes.set_facecolor(_WOOD)
    for k in range(size):
        axes.plot([k, k], [0, size - 1], color=_LINE, linewidth=0.7, zorder=1)
        axes.plot([0, size - 1], [k, k], color=_LINE, linewidth=0.7, zorder=1)
    for row, column in _star_points(size):
        axes.add_patch(Circle((column, row), 0.08, color=_LINE, zorder=1.5))
    if heat is not None:
        _draw_heat(axes, np.asarray(heat, np.float64).reshape(-1)[: size * size], size)
    for row, column in np.argwhere(stones):
        black = stones[row, column] > 0
        axes.add_patch(
            Circle(
                (column, row),
                0.47,
                facecolor="#111111" if black else "#fafafa",
                edgecolor="#111111",
                linewidth=0.8,
                zorder=3,
            )
        )
    if last_move is not None and last_move < size * size:
        row, column = divmod(int(last_move), size)
        colour = "#fafafa" if stones[row, column] > 0 else "#111111"
        ring = Circle((column, row), 0.22, fill=False, edgecolor=colour, zorder=4)
        axes.add_patch(ring)
    axes.set_xlim(-0.75, size - 0.25)
    axes.set_ylim(size - 0.25, -0.75)
    axes.set_aspect("equal")
    axes.set_xticks(range(size), list(coords.COLUMNS[:size]))
    axes.set_yticks(range(size), [str(size - row) for row in range(size)])
    axes.tick_params(length=0, labelsize=8)
    for side in axes.spines.values():
        side.set_visible(False)
    if title:
        axes.set_title(title, fontsize=10)


def _draw_heat(axes: "Axes", heat: np.ndarray, size: int) -> None:
    from matplotlib.patches import Rectangle

    highest = max(float(heat.max()), 1e-9)
    for point in np.flatnonzero(heat >= 0.002):
        row, column = divmod(int(point), size)
        strength = float(heat[point]) / highest
        axes.add_patch(
            Rectangle(
                (column - 0.46, row - 0.46),
                0.92,
                0.92,
                facecolor=_SERIES[0],
                alpha=0.15 + 0.75 * strength,
                linewidth=0,
                zorder=2,
            )
        )
        if heat[point] >= 0.01:
            axes.text(
                column,
                row,
                f"{100 * heat[point]:.0f}",
                ha="center",
                va="center",
                fontsize=7,
                color="white" if strength > 0.45 else "black",
                zorder=5,
            )


def board_figure(stones: np.ndarray, **options: Any) -> "Figure":
    """A figure with one board; `options` as for `draw_board`."""
    side = 2.0 + 0.22 * stones.shape[0]
    figure = _figure(side, side)
    draw_board(figure.add_subplot(), stones, **options)
    return figure


def board_row(
    boards: Sequence[tuple[np.ndarray, Mapping[str, Any]]], title: str = ""
) -> "Figure":
    """A figure with boards side by side, each with options for `draw_board`."""
    side = 2.0 + 0.2 * boards[0][0].shape[0]
    figure = _figure(side * len(boards), side + 0.8)
    for k, (stones, options) in enumerate(boards):
        draw_board(figure.add_subplot(1, len(boards), k + 1), stones, **options)
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


def learning_curve(
    metrics: Sequence[Mapping[str, Any]],
    names: Sequence[str],
    *,
    examples_per_step: int = 1,
    levels: Mapping[str, float] | None = None,
    title: str = "",
    ylabel: str = "",
) -> "Figure":
    """Figures of a run against the examples it has seen.

    Args:
      metrics: lines of `metrics.jsonl`, from `training.read_metrics`.
      names: which figures, such as "train/top_1" and "validation/top_1".
      examples_per_step: batch size.
      levels: horizontal lines to compare with, by name.
      title: text above.
      ylabel: what is shown.
    """
    figure = _figure(6.4, 4.0)
    axes = figure.add_subplot()
    for k, name in enumerate(names):
        points = [(m["step"], m[name]) for m in metrics if name in m]
        if not points:
            continue
        step, value = np.array(points, np.float64).T
        marker = "o" if name.startswith("validation") else None
        axes.plot(
            step * examples_per_step,
            value,
            color=_SERIES[k % len(_SERIES)],
            label=name,
            marker=marker,
            markersize=3,
            linewidth=1.4,
        )
    for name, level in (levels or {}).items():
        axes.axhline(level, color="#666666", linestyle="--", linewidth=1)
        axes.annotate(
            name,
            (1.0, level),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize=8,
            color="#444444",
        )
    axes.set_xlabel("positions seen" if examples_per_step > 1 else "steps")
    axes.set_ylabel(ylabel)
    axes.set_title(title, fontsize=11)
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8)
    return figure


def save(figure: "Figure", path: str | os.PathLike[str]) -> pathlib.Path:
    """Writes a figure as PNG or SVG, by the ending; returns the path."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, bbox_inches="tight")
    return path
