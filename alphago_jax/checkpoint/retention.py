"""Which checkpoints of a run are kept, and which of them is the best."""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import orbax.checkpoint as ocp

Mode = Literal["max", "min"]


@dataclasses.dataclass(frozen=True)
class Retention:
    """Which checkpoints of a run are kept.

    Attributes:
        keep_last: how many of the newest.
        metric: name of the metric whose best checkpoint is kept beside them.
        mode: whether a large or a small metric is good.
    """

    keep_last: int = 3
    metric: str | None = None
    mode: Mode = "max"

    def score(self, metrics: Mapping[str, float] | None) -> float:
        """A number that is larger for better metrics; -inf where there is none."""
        value = (metrics or {}).get(self.metric or "")
        if value is None or np.isnan(value):
            return -np.inf
        return float(value if self.mode == "max" else -value)

    def best(self, metrics: Sequence[Mapping[str, float] | None]) -> int | None:
        """Index of the best entry, the first of equals; None where none has one."""
        scores = [self.score(entry) for entry in metrics]
        if not scores or max(scores) == -np.inf:
            return None
        return int(np.argmax(scores))

    def should_preserve(
        self, checkpoints: Sequence[Any], *, context: Any = None
    ) -> list[bool]:
        """Orbax's `PreservationPolicy`: the last few and the best."""
        del context
        keep = [i >= len(checkpoints) - self.keep_last for i in range(len(checkpoints))]
        best = self.best([checkpoint.metrics for checkpoint in checkpoints])
        if best is not None:
            keep[best] = True
        return keep


def make_manager(
    path: pathlib.Path, retention: Retention, *, read_only: bool = False
) -> ocp.CheckpointManager:
    """Orbax's manager of the checkpoints in the folder `path`.

    A writing one removes what a killed program left half-written; a reading one
    touches nothing, so the run may go on meanwhile.
    """
    options = ocp.CheckpointManagerOptions(
        create=not read_only,
        read_only=read_only,
        cleanup_tmp_directories=not read_only,
        best_fn=retention.score,  # makes Orbax keep the metrics
        preservation_policy=None if read_only else retention,
    )
    return ocp.CheckpointManager(path, options=options)


def best_step(manager: ocp.CheckpointManager, retention: Retention) -> int | None:
    """Step of the best complete checkpoint; None where none has the metric."""
    steps = sorted(manager.all_steps())
    metrics: list[Any] = [manager.metrics(step) for step in steps]
    best = retention.best(metrics)
    return None if best is None else steps[best]
