"""What a run writes down: `metrics.jsonl`, `timing.jsonl` and TensorBoard events.

`metrics.jsonl` holds only what the run computes, so two runs of one configuration write
the same bytes however often they were killed; clocks and rates go to `timing.jsonl`.
On resuming, both are cut back to the step of the checkpoint.
"""

import collections
import json
import os
import pathlib
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import tensorboardX

from alphago_jax.training.averages import Mean

METRICS_FILE = "metrics.jsonl"
TIMING_FILE = "timing.jsonl"
_EVENTS = "events"


class MetricsWriter:
    """Appends figures to the files of a run; a context manager."""

    def __init__(self, directory: pathlib.Path, *, resume_step: int | None = None):
        """Opens the files.

        Args:
            directory: the run's directory; must exist.
            resume_step: step of the checkpoint the run goes on from: whatever was
                written after it is removed. None starts the files afresh.
        """
        keep = -1 if resume_step is None else resume_step
        paths = [directory / METRICS_FILE, directory / TIMING_FILE]
        for path in paths:
            cut_back(path, keep)
        self._metrics, self._timing = (path.open("a") for path in paths)
        # TensorBoard cannot cut a file: it skips what the purged steps left behind.
        self._events = tensorboardX.SummaryWriter(
            str(directory / _EVENTS), purge_step=keep + 1
        )

    def write(
        self,
        step: int,
        metrics: Mapping[str, float],
        *,
        timing: Mapping[str, float] | None = None,
    ) -> None:
        """Writes one line per file.

        Args:
            step: number of updates done.
            metrics: figures that the run computes; names may hold a slash.
            timing: figures that depend on clocks, such as examples per second.
        """
        for file, figures in ((self._metrics, metrics), (self._timing, timing or {})):
            if figures:
                file.write(json.dumps({"step": step, **figures}) + "\n")
                file.flush()
            for name, figure in figures.items():
                self._events.add_scalar(name, figure, step)

    def flush(self) -> None:
        """Makes everything written so far survive a power cut."""
        for file in (self._metrics, self._timing):
            os.fsync(file.fileno())
        self._events.flush()

    def close(self) -> None:
        """Closes the files."""
        self._metrics.close()
        self._timing.close()
        self._events.close()

    def __enter__(self) -> "MetricsWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del kind, error, trace
        self.close()


def cut_back(path: pathlib.Path, step: int) -> None:
    """Removes the lines after `step` from a file of JSON lines, and a broken last one.

    The file is replaced in one move, so a kill meanwhile loses nothing.
    """
    if not path.exists():
        return
    kept = [
        line
        for line in path.read_text(encoding="utf-8").splitlines(keepends=True)
        if line.endswith("\n") and json.loads(line)["step"] <= step
    ]
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text("".join(kept), encoding="utf-8")
    os.replace(temporary, path)


def read_metrics(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Reads a run's `metrics.jsonl`, also while the run goes on.

    Args:
        path: the run's directory, or a file of JSON lines.

    Returns:
        One mapping a line, with "step" and figures by name.
    """
    file = pathlib.Path(path)
    if file.is_dir():
        file = file / METRICS_FILE
    text = file.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines(True) if line.endswith("\n")]


class RunningMeans:
    """Means over the steps since the last report, fetched late from the device.

    A step's metrics are read only when some later steps have been started, so the
    device never waits for the host, nor runs more than `lag` steps ahead of it.
    """

    def __init__(self, lag: int = 4):
        self._lag = lag
        self._pending: collections.deque[Mapping[str, Mean]] = collections.deque()
        self._sums: dict[str, list[float]] = {}

    def add(self, metrics: Mapping[str, Mean]) -> None:
        """Adds the metrics of one step or batch, still on the device."""
        self._pending.append(metrics)
        self._fetch(self._lag)

    def _fetch(self, leave: int) -> None:
        while len(self._pending) > leave:
            for name, mean in self._pending.popleft().items():
                total, weight = float(mean.total), float(mean.weight)
                sums = self._sums.setdefault(name, [0.0, 0.0])
                # A weight of 0 may go with a total that is no number.
                sums[0] += total if weight else 0.0
                sums[1] += weight

    def compute(self) -> dict[str, float]:
        """The means so far, without those that nothing had any weight in."""
        self._fetch(0)
        return {
            name: total / weight
            for name, (total, weight) in self._sums.items()
            if weight
        }

    def reset(self) -> None:
        """Forgets everything."""
        self._pending.clear()
        self._sums.clear()

    def state(self) -> dict[str, Any]:
        """The sums as JSON values, which `restore` takes."""
        self._fetch(0)
        return {name: list(sums) for name, sums in sorted(self._sums.items())}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state` returned."""
        self.reset()
        self._sums = {name: list(sums) for name, sums in state.items()}
