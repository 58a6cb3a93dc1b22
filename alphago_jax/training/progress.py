"""Progress on the standard error: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)


class TrainingProgress:
    """Shows the step, the rate in examples per second, and the time left."""

    def __init__(self, num_steps: int, first_step: int = 0, *, unit: str = "examples"):
        """Starts the display.

        Args:
            num_steps: step at which the run ends.
            first_step: step from which it goes on.
            unit: what one example is called.
        """
        self._num_steps, self._first_step, self._unit = num_steps, first_step, unit
        self._start = time.monotonic()
        console = Console(stderr=True)
        self._bar: Progress | None = None
        if console.is_terminal:
            self._bar = Progress(
                TextColumn("training"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[text]}"),
                console=console,
            )
            self._task = self._bar.add_task(
                "", total=num_steps, completed=first_step, text=""
            )
            self._bar.start()

    def advance(self, step: int) -> None:
        """Moves the bar; plain output shows nothing for it."""
        if self._bar is not None:
            self._bar.update(self._task, completed=step)

    def report(self, step: int, metrics: Mapping[str, float], rate: float) -> None:
        """Shows figures at `step` and the rate in examples per second."""
        text = f"{rate:,.0f} {self._unit}/s  {self._time_left(step)} left  "
        text += "  ".join(f"{name} {value:.4g}" for name, value in metrics.items())
        if self._bar is not None:
            self._bar.update(self._task, completed=step, text=text)
        else:
            print(f"step {step}/{self._num_steps}  {text}", file=sys.stderr, flush=True)

    def _time_left(self, step: int) -> str:
        done = step - self._first_step
        if done <= 0:
            return "?"
        each = (time.monotonic() - self._start) / done
        minutes, seconds = divmod(int(each * (self._num_steps - step)), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{seconds:02}"

    def __enter__(self) -> "TrainingProgress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del kind, error, trace
        if self._bar is not None:
            self._bar.stop()
