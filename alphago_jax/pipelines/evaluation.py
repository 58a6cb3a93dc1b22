"""How well a network predicts recorded games, by phase of the game.

Top-1, top-5 and top-20 accuracy, cross-entropy and perplexity of a policy over
moves on the board; squared error and sign accuracy of a value. Optionally the
average over the eight symmetries (Silver et al. 2016, Extended Data Table 3).
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax import features
from alphago_jax.data.stream import GameSet, all_examples
from alphago_jax.networks import Network
from alphago_jax.play.evaluator import look
from alphago_jax.training.losses import (
    policy_cross_entropy,
    sign_correct,
    top_k_correct,
    value_squared_error,
)
from alphago_jax.types import Examples

PHASES = (0.0, 0.25, 0.5, 0.75, 1.0)  # quarters of a game's recorded moves


@dataclasses.dataclass(frozen=True)
class PhaseFigures:
    """Means over the positions of one phase.

    Attributes:
      phase: "all" or a range of moves such as "0–25 %".
      positions: how many positions.
      figures: name to mean.
    """

    phase: str
    positions: int
    figures: dict[str, float]


def evaluate_network(
    network: Network,
    variables: dict[str, Any],
    games: GameSet,
    *,
    ensemble: bool = False,
    batch_size: int = 128,
    every: int = 1,
    on_batch: Callable[[int], None] | None = None,
) -> list[PhaseFigures]:
    """Compares a network's outputs with what happened in recorded games.

    Args:
      network: a policy or a value network.
      variables: its variables.
      games: games of the network's board size.
      ensemble: average over the eight symmetries (probabilities, values).
      batch_size: positions a call.
      every: use only every so-manieth position of each game.
      on_batch: told the number of positions after every batch.

    Returns:
      Figures over everything, then by quarter of the game.

    Raises:
      ValueError: if the board sizes differ or no position is left.
    """
    if games.size != network.board_size:
        raise ValueError(
            f"the network plays {network.board_size}×{network.board_size}, "
            f"the games are {games.size}×{games.size}"
        )
    measure = _compiled_measure(network, ensemble)
    columns: dict[str, list[np.ndarray]] = {}
    for examples, positions in all_examples(
        games, features.get(network.planes).planes, batch_size, every=every
    ):
        keep = np.asarray(examples.weights) > 0
        figures = jax.device_get(measure(variables, examples))
        lengths = np.array([len(games.games[g].actions) for g in positions.game])
        figures["phase"] = positions.ply / lengths
        for name, values in figures.items():
            columns.setdefault(name, []).append(np.asarray(values)[keep])
        if on_batch is not None:
            on_batch(int(keep.sum()))
    if not columns:
        raise ValueError("the games hold no position to evaluate")
    table = {name: np.concatenate(parts) for name, parts in columns.items()}
    return list(_by_phase(table))


def _by_phase(table: dict[str, np.ndarray]) -> Iterator[PhaseFigures]:
    phase = table.pop("phase")
    yield _means("all", np.ones(len(phase), bool), table)
    for low, high in itertools.pairwise(PHASES):
        rows = (phase >= low) & ((phase < high) | (high == 1.0))
        if rows.any():
            yield _means(f"{100 * low:.0f}–{100 * high:.0f} %", rows, table)


def _means(phase: str, rows: np.ndarray, table: dict[str, np.ndarray]) -> PhaseFigures:
    figures = {
        name: float(values[rows].astype(np.float64).mean())
        for name, values in table.items()
    }
    if "cross_entropy" in figures:
        figures["perplexity"] = float(np.exp(figures["cross_entropy"]))
    return PhaseFigures(phase, int(rows.sum()), figures)


@functools.cache
def _compiled_measure(network: Network, ensemble: bool):
    symmetries = "all" if ensemble else "none"

    def measure(variables: Any, examples: Examples) -> dict[str, jax.Array]:
        num, size = examples.planes.shape[:2]
        # Passes are no targets here; without them, moves compete with moves.
        points = jnp.ones((num, size * size + 1), bool).at[:, -1].set(False)
        side = jnp.full(num, size, jnp.int32)
        probabilities, value = look(
            network,
            variables,
            jax.random.key(0),  # for "random" only
            examples.planes,
            points,
            side,
            symmetries=symmetries,
        )
        figures = {}
        if value is not None:
            figures["squared_error"] = value_squared_error(value, examples.returns)
            figures["sign_accuracy"] = sign_correct(value, examples.returns)
        shapes = jax.eval_shape(network.apply, variables, examples.planes)
        if shapes.prior_logits is not None:
            logits = jnp.log(jnp.maximum(probabilities, jnp.finfo(jnp.float32).tiny))
            for k in (1, 5, 20):
                figures[f"top_{k}"] = top_k_correct(logits, examples.actions, k)
            figures["cross_entropy"] = policy_cross_entropy(logits, examples.actions)
        return figures

    return jax.jit(measure)
