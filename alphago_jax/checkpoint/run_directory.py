"""The directory of one training run: everything it needs to go on after a kill.

```
run.json              configuration, network, format version
checkpoints/STEP/     state (Orbax arrays), position (JSON), metrics (JSON)
metrics.jsonl …       written by `training.metrics`
```

A checkpoint is written under a temporary name in the background and renamed when it is
complete, so a kill at any moment leaves the previous one; what is half-written is
ignored and removed by the next start.
"""

import dataclasses
import fcntl
import os
import pathlib
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Any

import jax
import orbax.checkpoint as ocp
from jax.experimental import multihost_utils

from alphago_jax.checkpoint import arrays
from alphago_jax.checkpoint.configuration import refuse_differences
from alphago_jax.checkpoint.metadata import (
    FORMAT_VERSION,
    CheckpointError,
    NetworkMetadata,
    check_format_version,
    plain_json,
    read_json,
    write_json,
)
from alphago_jax.checkpoint.retention import Retention, best_step, make_manager
from alphago_jax.types import JSON

RUN_FILE = "run.json"
CHECKPOINTS = "checkpoints"


@dataclasses.dataclass(frozen=True)
class Restored:
    """One checkpoint read back.

    Attributes:
        step: its step.
        state: arrays in the structure and with the shardings of the target.
        position: the JSON values saved with it.
        metrics: the figures saved with it.
    """

    step: int
    state: Any
    position: dict[str, Any]
    metrics: dict[str, float]


class RunDirectory:
    """An open run; as a context manager it waits for the last save on leaving.

    Only one program may hold a run: a lock, which the system frees when the program
    dies, keeps a second one out.

    Attributes:
        path: the directory.
        configuration: the run's configuration as plain JSON.
        retention: which checkpoints are kept.
        resumed: whether the directory held this run before.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        configuration: Mapping[str, Any],
        *,
        network: NetworkMetadata | None = None,
        resume: bool = False,
        may_change: Collection[str] = (),
        retention: Retention | None = None,
    ):
        """Makes a run directory, or opens one to go on.

        Args:
            path: the directory; made if it is missing.
            configuration: everything that decides what the run computes, as plain
                values; nested names are joined by dots in messages.
            network: what is trained, so that the run can be loaded as a network.
            resume: go on with the run that is there; a new one starts where there is
                none yet, so one command serves the first start and every restart.
            may_change: dotted names that may differ on resuming, such as the number
                of steps.
            retention: which checkpoints are kept.

        Raises:
            CheckpointError: the directory holds a run and `resume` is False, another
                program holds it, or its configuration differs.
        """
        self.path = pathlib.Path(path).absolute()
        self.configuration = plain_json(dict(configuration))
        self.retention = retention or Retention()
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(self.path)
        try:
            self.resumed = self._claim(network, resume, may_change)
            self._manager = make_manager(self.path / CHECKPOINTS, self.retention)
        except BaseException:
            self._unlock()
            raise

    def _claim(
        self, network: NetworkMetadata | None, resume: bool, may_change: Collection[str]
    ) -> bool:
        """Checks what is there and writes `run.json`; True for a run to go on with."""
        file = self.path / RUN_FILE
        exists = file.is_file()
        if exists or (self.path / CHECKPOINTS).exists():
            if not resume:
                raise CheckpointError(
                    f"{self.path} already holds a run: resume it, or choose another "
                    "directory"
                )
            stored = read_json(file)
            check_format_version(stored)
            refuse_differences(stored["configuration"], self.configuration, may_change)
        _barrier("run directory checked")  # before one process writes what all read
        if jax.process_index() == 0:
            description = {
                "format_version": FORMAT_VERSION,
                "configuration": self.configuration,
                "network": network.to_json() if network else None,
                "retention": dataclasses.asdict(self.retention),
            }
            write_json(file, description)
        _barrier("run directory claimed")
        return exists

    @property
    def latest_step(self) -> int | None:
        """Step of the newest complete checkpoint."""
        return max(self._manager.all_steps(), default=None)

    @property
    def best_step(self) -> int | None:
        """Step of the best complete checkpoint by the run's metric."""
        return best_step(self._manager, self.retention)

    def save(
        self,
        step: int,
        state: Any,
        position: Mapping[str, JSON],
        metrics: Mapping[str, float] | None = None,
    ) -> None:
        """Starts to save a checkpoint in the background; a step is saved only once.

        The arrays are copied before this returns: the caller may donate them.

        Args:
            step: number of updates done.
            state: pytree of arrays.
            position: plain values that go with it: data position, counters.
            metrics: figures of this very state; the best one's checkpoint is kept.

        Raises:
            Exception: whatever stopped the *previous* save from completing.
        """
        if step in self._manager.all_steps():
            self._manager.wait_until_finished()
            return
        self._manager.save(
            step,
            args=ocp.args.Composite(
                state=ocp.args.StandardSave(arrays.copy_to_host(state)),
                position=ocp.args.JsonSave(plain_json(dict(position))),
            ),
            metrics=plain_json(dict(metrics or {})),
            force=True,
        )

    def restore(self, target: Any, step: int | None = None) -> Restored | None:
        """Reads a checkpoint onto the devices of `target`.

        Args:
            target: pytree of arrays (or `jax.ShapeDtypeStruct` with shardings) that
                says the structure, shapes, dtypes and where the result shall lie; the
                number of devices may differ from the one that saved.
            step: which checkpoint; None for the newest complete one.

        Returns:
            The checkpoint, or None where there is none yet.

        Raises:
            CheckpointError: `step` is not there, or the arrays do not fit `target`.
        """
        self.wait()
        step = self.latest_step if step is None else step
        if step is None:
            return None
        if step not in self._manager.all_steps():
            raise CheckpointError(f"{self.path} holds no checkpoint of step {step}")
        try:
            restored: Any = self._manager.restore(
                step,
                args=ocp.args.Composite(
                    state=ocp.args.StandardRestore(arrays.abstract_arrays(target)),
                    position=ocp.args.JsonRestore(),
                ),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"checkpoint {step} of {self.path} does not fit: {error}"
            ) from error
        metrics: Any = self._manager.metrics(step) or {}
        state = jax.tree.map(arrays.restored_like, target, restored.state)
        return Restored(step, state, dict(restored.position), dict(metrics))

    def wait(self) -> None:
        """Waits for the save in progress; raises what stopped it."""
        self._manager.wait_until_finished()

    def close(self) -> None:
        """Waits for the save in progress and lets go; raises what stopped it."""
        try:
            self._manager.close()
        finally:
            self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> "RunDirectory":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del kind, error, trace
        self.close()


def _lock(path: pathlib.Path) -> int | None:
    if jax.process_index() != 0:
        return None
    descriptor = os.open(path / "run.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise CheckpointError(f"{path} is in use by another program") from error
    return descriptor


def _barrier(name: str) -> None:
    if jax.process_count() > 1:
        multihost_utils.sync_global_devices(name)
