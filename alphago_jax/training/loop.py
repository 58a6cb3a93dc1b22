"""The loop of a training run: steps, reports, evaluations, checkpoints, resuming.

Resumed after a kill, a run on the same machine and device count computes the very bits
that it would have computed undisturbed: the checkpoint holds the state, the stream's
position, the half-filled running means and the patience already spent.
"""

import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

import jax

from alphago_jax.checkpoint import RunDirectory
from alphago_jax.training.averages import Mean
from alphago_jax.training.early_stopping import EarlyStopping
from alphago_jax.training.interrupt import stop_requested
from alphago_jax.training.metrics import MetricsWriter, RunningMeans
from alphago_jax.training.progress import TrainingProgress
from alphago_jax.training.step import TrainState
from alphago_jax.types import JSON, Examples

StepFn = Callable[[TrainState, Examples], tuple[TrainState, Mapping[str, Mean]]]
EvaluateFn = Callable[[TrainState], Mapping[str, float]]


class ExampleStream(Protocol):
    """An endless supply of batches that knows where it is."""

    def __next__(self) -> Examples:
        """The next batch, placed where the step wants it."""
        ...

    def state(self) -> Mapping[str, JSON]:
        """The position after the last batch *handed out*, whatever is prefetched."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from a position that `state` returned."""
        ...


@dataclasses.dataclass(frozen=True)
class LoopConfig:
    """When to do what; counted in steps unless it says otherwise.

    Attributes:
        num_steps: step at which the run ends.
        log_every: steps between reports.
        eval_every: steps between evaluations.
        save_every: steps between checkpoints, beside those at evaluations.
        save_minutes: minutes between checkpoints, beside those; None for none. The
            clock decides only where a resume starts, never what is computed. With
            several processes it must be None, as their clocks differ.
        watch: metric of the evaluation that decides about stopping.
        watch_mode: whether a large or a small one is good.
        patience: evaluations without improvement before stopping; None never stops.
    """

    num_steps: int
    log_every: int = 100
    eval_every: int = 1000
    save_every: int = 1000
    save_minutes: float | None = 10.0
    watch: str = "loss"
    watch_mode: Literal["max", "min"] = "min"
    patience: int | None = None


@dataclasses.dataclass(frozen=True)
class TrainingResult:
    """How a run ended.

    Attributes:
        state: the last state.
        step: its step.
        reason: `finished`, `patience` or `interrupted`.
        best: the watched metric's best value, or None without evaluations.
        best_step: its step.
    """

    state: TrainState
    step: int
    reason: Literal["finished", "patience", "interrupted"]
    best: float | None
    best_step: int | None


class TrainingDivergedError(RuntimeError):
    """No step between two reports had a finite loss and gradient."""


def train(
    run: RunDirectory,
    state: TrainState,
    step_fn: StepFn,
    stream: ExampleStream,
    config: LoopConfig,
    *,
    evaluate: EvaluateFn | None = None,
    unit: str = "examples",
) -> TrainingResult:
    """Trains until the last step, until patience runs out, or until told to stop.

    Goes on from the newest checkpoint of the run where there is one. SIGINT and
    SIGTERM save and end the run between two steps.

    Args:
        run: the open run directory.
        state: the initial state, on the devices where it shall be trained; it says
            where a restored one is put. Do not use it afterwards: steps may donate it.
        step_fn: compiled step.
        stream: batches.
        config: when to do what.
        evaluate: figures of a state on data that is not trained on; must not keep it.
        unit: what one example is called in the progress display.

    Returns:
        How it ended, with the last state.

    Raises:
        TrainingDivergedError: nothing was finite any more.
        Exception: whatever stopped a checkpoint from being written.
    """
    if config.save_minutes is not None and jax.process_count() > 1:
        raise ValueError("save_minutes needs one clock; count save_every in steps")
    session = _Session(run, state, stream, config, evaluate)
    first_step = session.step
    with (
        MetricsWriter(run.path, resume_step=session.resume_step) as writer,
        TrainingProgress(config.num_steps, first_step, unit=unit) as progress,
        stop_requested() as interrupted,
    ):
        clock = _Clock()
        while session.step < config.num_steps and not session.stopping.should_stop:
            if interrupted():
                session.save(writer)
                break
            clock.count(session.advance(step_fn))
            progress.advance(session.step)
            if session.step % config.log_every == 0:
                rate = clock.rate()
                progress.report(session.step, session.report(writer, rate), rate)
            session.evaluate_and_save(writer)
        run.wait()
    return session.result()


class _Clock:
    """Examples per second since the last question."""

    def __init__(self) -> None:
        self._start, self._examples = time.monotonic(), 0

    def count(self, examples: int) -> None:
        self._examples += examples

    def rate(self) -> float:
        now = time.monotonic()
        rate = self._examples / max(now - self._start, 1e-9)
        self._start, self._examples = now, 0
        return rate


class _Session:
    """The parts of a run that change, restored together and saved together."""

    def __init__(
        self,
        run: RunDirectory,
        state: TrainState,
        stream: ExampleStream,
        config: LoopConfig,
        evaluate: EvaluateFn | None,
    ):
        self.run, self.stream, self.config = run, stream, config
        self.evaluate = evaluate
        self.means = RunningMeans()
        self.stopping = EarlyStopping(config.patience, config.watch_mode)
        self.state, self.step = state, 0
        self.resume_step: int | None = None
        self.last_save = time.monotonic()
        restored = run.restore(state)
        if restored is not None:
            self.state, self.step = restored.state, restored.step
            self.resume_step = restored.step
            position = restored.position
            stream.restore(position["stream"])
            self.means.restore(position["means"])
            # Patience may be changed on resuming; what was seen may not.
            self.stopping = dataclasses.replace(
                self.stopping, **position["early_stopping"]
            )

    def advance(self, step_fn: StepFn) -> int:
        """One step; returns the number of its examples."""
        examples = next(self.stream)
        self.state, metrics = step_fn(self.state, examples)
        self.means.add(metrics)
        self.step += 1
        return examples.actions.size

    def report(self, writer: MetricsWriter, rate: float) -> dict[str, float]:
        """Writes the means since the last report."""
        means = self.means.compute()
        if means.get("skipped") == 1.0:
            raise TrainingDivergedError(
                f"no loss and gradient was finite in the {self.config.log_every} steps "
                f"up to {self.step}; the last checkpoint is {self.run.latest_step}"
            )
        self.means.reset()
        named = {f"train/{name}": value for name, value in sorted(means.items())}
        writer.write(self.step, named, timing={"examples_per_second": rate})
        return means

    def evaluate_and_save(self, writer: MetricsWriter) -> None:
        """What is due after a step."""
        config, step = self.config, self.step
        last = step == config.num_steps
        figures: dict[str, float] = {}
        if self.evaluate is not None and (step % config.eval_every == 0 or last):
            figures = {k: float(v) for k, v in self.evaluate(self.state).items()}
            self.stopping = self.stopping.update(step, figures[config.watch])
            named = {f"validation/{name}": value for name, value in figures.items()}
            writer.write(step, dict(sorted(named.items())))
        minutes = (time.monotonic() - self.last_save) / 60
        late = config.save_minutes is not None and minutes >= config.save_minutes
        if figures or last or late or step % config.save_every == 0:
            self.save(writer, figures)

    def save(
        self, writer: MetricsWriter, figures: Mapping[str, float] | None = None
    ) -> None:
        """Starts a checkpoint of this very moment."""
        writer.flush()  # the log up to here must outlive the checkpoint
        seen = dataclasses.asdict(self.stopping)
        position = {
            "stream": dict(self.stream.state()),
            "means": self.means.state(),
            "early_stopping": {
                name: seen[name] for name in ("best", "best_step", "num_worse")
            },
        }
        self.run.save(self.step, self.state, position, figures)
        self.last_save = time.monotonic()

    def result(self) -> TrainingResult:
        reason: Literal["finished", "patience", "interrupted"] = "interrupted"
        if self.step >= self.config.num_steps:
            reason = "finished"
        elif self.stopping.should_stop:
            reason = "patience"
        best, best_step = self.stopping.best, self.stopping.best_step
        return TrainingResult(self.state, self.step, reason, best, best_step)
