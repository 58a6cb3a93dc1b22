import os
import shutil
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from alphago_jax import checkpoint
from alphago_jax.checkpoint import (
    CheckpointError,
    NetworkMetadata,
    Retention,
    RunDirectory,
)

CONFIGURATION = {"seed": 1, "optimizer": {"rate": 0.1, "shape": (1, 2)}}


def make_state(number: float):
    return {
        "params": {"kernel": jnp.full((4, 3), number)},
        "rng_key": jax.random.key(int(number)),
        "none": None,
    }


def kernel_of(restored):
    assert restored is not None
    return float(restored.state["params"]["kernel"][0, 0])


def test_what_is_saved_comes_back(tmp_path):
    state = make_state(3.0)
    position = {"epoch": np.int64(2), "order": np.arange(3), "sums": [0.1, 1e-17]}
    with RunDirectory(tmp_path / "run", CONFIGURATION) as run:
        assert not run.resumed
        assert run.restore(state) is None
        run.save(5, state, position, {"loss": jnp.float32(0.5)})
    with RunDirectory(tmp_path / "run", CONFIGURATION, resume=True) as run:
        assert run.resumed
        restored = run.restore(make_state(0.0))
    assert restored is not None and restored.step == 5
    assert restored.position == {"epoch": 2, "order": [0, 1, 2], "sums": [0.1, 1e-17]}
    assert restored.metrics == {"loss": 0.5}
    assert kernel_of(restored) == 3.0
    assert isinstance(restored.state["params"]["kernel"], jax.Array)
    key = restored.state["rng_key"]
    assert key.dtype == state["rng_key"].dtype
    assert jax.random.uniform(key) == jax.random.uniform(state["rng_key"])


def test_the_last_few_and_the_best_are_kept(tmp_path):
    retention = Retention(keep_last=2, metric="accuracy")
    accuracies = {1: 0.1, 2: 0.8, 3: float("nan"), 4: 0.8, 5: None, 6: 0.3}
    with RunDirectory(tmp_path, CONFIGURATION, retention=retention) as run:
        for step, accuracy in accuracies.items():
            metrics = {} if accuracy is None else {"accuracy": accuracy}
            run.save(step, make_state(step), {}, metrics)
        run.wait()
        assert run.latest_step == 6
        assert run.best_step == 2  # the first of equals
    kept = {entry.name for entry in (tmp_path / "checkpoints").iterdir()}
    assert kept == {"2", "5", "6"}
    with RunDirectory(tmp_path, CONFIGURATION, resume=True, retention=retention) as run:
        assert run.best_step == 2
        assert kernel_of(run.restore(make_state(0), step=2)) == 2.0
        with pytest.raises(CheckpointError, match="no checkpoint of step 3"):
            run.restore(make_state(0), step=3)


def test_small_can_be_best(tmp_path):
    retention = Retention(keep_last=1, metric="loss", mode="min")
    with RunDirectory(tmp_path, CONFIGURATION, retention=retention) as run:
        for step, loss in enumerate([3.0, 1.0, 2.0, 2.5]):
            run.save(step, make_state(step), {}, {"loss": loss})
        run.wait()
        assert run.best_step == 1


def test_starting_again_never_overwrites(tmp_path):
    with RunDirectory(tmp_path, CONFIGURATION) as run:
        run.save(1, make_state(1), {})
    with pytest.raises(CheckpointError, match="already holds a run"):
        RunDirectory(tmp_path, CONFIGURATION)
    # Even where its description was lost.
    (tmp_path / "run.json").rename(tmp_path / "lost.json")
    with pytest.raises(CheckpointError, match="already holds a run"):
        RunDirectory(tmp_path, CONFIGURATION)
    (tmp_path / "lost.json").rename(tmp_path / "run.json")
    with RunDirectory(tmp_path, CONFIGURATION, resume=True) as run:
        assert kernel_of(run.restore(make_state(0))) == 1.0


def test_a_changed_configuration_is_named_with_both_values(tmp_path):
    RunDirectory(tmp_path, CONFIGURATION).close()
    changed = {"seed": 2, "optimizer": {"rate": 0.2, "shape": (1, 2)}, "extra": None}
    with pytest.raises(CheckpointError) as caught:
        RunDirectory(tmp_path, changed, resume=True)
    message = str(caught.value)
    assert "seed: 1 in the run, 2 now" in message
    assert "optimizer.rate: 0.1 in the run, 0.2 now" in message
    assert "extra: '(absent)' in the run, None now" in message
    assert "shape" not in message
    may_change = ("seed", "optimizer.rate", "extra")
    RunDirectory(tmp_path, changed, resume=True, may_change=may_change).close()
    # What was allowed to change is what counts from now on.
    RunDirectory(tmp_path, changed, resume=True).close()


def test_what_is_half_written_is_ignored_and_removed(tmp_path):
    with RunDirectory(tmp_path, CONFIGURATION) as run:
        run.save(1, make_state(1), {})
        run.save(2, make_state(2), {})
    complete = tmp_path / "checkpoints" / "2"
    half = tmp_path / "checkpoints" / "3.orbax-checkpoint-tmp"
    shutil.copytree(complete, half)
    with RunDirectory(tmp_path, CONFIGURATION, resume=True) as run:
        assert run.latest_step == 2
        assert kernel_of(run.restore(make_state(0))) == 2.0
        run.save(3, make_state(3), {})
    assert not half.exists()
    assert (tmp_path / "checkpoints" / "3").is_dir()


def test_a_second_program_is_kept_out_while_the_first_lives(tmp_path):
    program = (
        "import sys; from alphago_jax.checkpoint import RunDirectory; "
        f"RunDirectory({str(tmp_path)!r}, {{'a': 1}}); print('held', flush=True); "
        "sys.stdin.read()"
    )
    root = os.path.dirname(os.path.dirname(checkpoint.__path__[0]))
    environment = os.environ | {"PYTHONPATH": root, "JAX_PLATFORMS": "cpu"}
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        with pytest.raises(CheckpointError, match="in use"):
            RunDirectory(tmp_path, {"a": 1}, resume=True)
        first.kill()
    RunDirectory(tmp_path, {"a": 1}, resume=True).close()


def test_arrays_may_be_overwritten_once_save_returns(tmp_path):
    array = np.ones((64, 64), np.float32)
    with RunDirectory(tmp_path, CONFIGURATION) as run:
        run.save(1, {"a": array}, {})
        array[:] = 7.0  # what donation does to a buffer on the CPU
        run.wait()
        restored = run.restore({"a": jnp.zeros((64, 64))})
    assert restored is not None
    np.testing.assert_array_equal(restored.state["a"], np.ones((64, 64)))


def test_a_step_is_saved_once(tmp_path):
    with RunDirectory(tmp_path, CONFIGURATION) as run:
        run.save(1, make_state(1), {})
        run.save(1, make_state(2), {})
        assert kernel_of(run.restore(make_state(0))) == 1.0


def test_an_error_of_a_background_save_surfaces(tmp_path, monkeypatch):
    run = RunDirectory(tmp_path, CONFIGURATION)
    run.save(1, make_state(1), {})
    run.wait()

    def fail(*_, **__):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "rename", fail)
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space left"):
        run.save(2, make_state(2), {})
        run.save(3, make_state(3), {})
        run.wait()
    monkeypatch.undo()
    try:
        run.close()
    except OSError:
        pass  # told once more
    with RunDirectory(tmp_path, CONFIGURATION, resume=True) as run:
        assert kernel_of(run.restore(make_state(0))) == 1.0


def test_arrays_that_do_not_fit_are_refused(tmp_path):
    with RunDirectory(tmp_path, CONFIGURATION) as run:
        run.save(1, make_state(1), {})
        wrong = make_state(0) | {"params": {"kernel": jnp.zeros((4, 4))}}
        with pytest.raises(CheckpointError, match="does not fit"):
            run.restore(wrong)
        with pytest.raises(CheckpointError, match="does not fit"):
            run.restore({"other": jnp.zeros(1)})


@pytest.mark.parametrize("keep_average", [True, False])
def test_a_run_loads_as_a_network(tmp_path, keep_average):
    metadata = NetworkMetadata("alphago_policy", 9, planes="alphago")
    retention = Retention(metric="loss", mode="min")
    with RunDirectory(
        tmp_path, CONFIGURATION, network=metadata, retention=retention
    ) as run:
        with pytest.raises(CheckpointError, match="no complete checkpoint"):
            checkpoint.load_network(tmp_path)
        for step, loss in [(1, 2.0), (2, 1.0), (3, 1.5)]:
            average = {"w": jnp.full(2, 10.0 * step)} if keep_average else None
            state = {
                "params": {"w": jnp.full(2, float(step))},
                "batch_stats": {},
                "ema_params": average,
                "opt_state": (jnp.zeros(2), {}),
            }
            run.save(step, state, {}, {"loss": loss})
        run.wait()
        found, variables = checkpoint.load_network(tmp_path)  # while it goes on
    assert (found.name, found.step, found.metrics) == (
        "alphago_policy",
        2,
        {"loss": 1.0},
    )
    assert list(variables) == ["params"]
    expected = 20.0 if keep_average else 2.0
    np.testing.assert_array_equal(variables["params"]["w"], [expected] * 2)


def test_a_run_without_a_network_says_so(tmp_path):
    RunDirectory(tmp_path, CONFIGURATION).close()
    with pytest.raises(CheckpointError, match="does not say what network"):
        checkpoint.load_network(tmp_path)
