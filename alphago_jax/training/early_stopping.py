"""Stopping when validation no longer improves."""

import dataclasses
import math
from typing import Literal


@dataclasses.dataclass(frozen=True)
class EarlyStopping:
    """How long ago the watched metric was at its best.

    A value, not an object: `update` returns the next one, and its fields are plain
    JSON for the checkpoint.

    Attributes:
        patience: evaluations without improvement before stopping; None never stops.
        mode: whether a large or a small metric is good.
        best: best value so far.
        best_step: step of the best value.
        num_worse: evaluations since then.
    """

    patience: int | None = None
    mode: Literal["max", "min"] = "max"
    best: float | None = None
    best_step: int | None = None
    num_worse: int = 0

    def update(self, step: int, value: float) -> "EarlyStopping":
        """After an evaluation; equal or NaN is no improvement."""
        if self._is_better(value):
            return dataclasses.replace(
                self, best=float(value), best_step=step, num_worse=0
            )
        return dataclasses.replace(self, num_worse=self.num_worse + 1)

    @property
    def should_stop(self) -> bool:
        """Whether patience has run out."""
        return self.patience is not None and self.num_worse >= self.patience

    def _is_better(self, value: float) -> bool:
        if math.isnan(value):
            return False
        if self.best is None:
            return True
        return value > self.best if self.mode == "max" else value < self.best
