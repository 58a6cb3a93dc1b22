import json
import math

import jax.numpy as jnp
import pytest
from tensorboard_events import read_scalars

from alphago_jax.training.averages import Mean
from alphago_jax.training.early_stopping import EarlyStopping
from alphago_jax.training.metrics import MetricsWriter, RunningMeans, read_metrics


def mean(total, weight=1.0):
    return Mean(jnp.float32(total), jnp.float32(weight))


def test_figures_are_written_line_by_line(tmp_path):
    with MetricsWriter(tmp_path) as writer:
        writer.write(1, {"train/loss": 0.1}, timing={"examples_per_second": 9.0})
        writer.write(2, {"train/loss": 1e-17})
        # Readable while the run goes on.
        assert len(read_metrics(tmp_path / "metrics.jsonl")) == 2
        writer.flush()
    assert read_metrics(tmp_path / "metrics.jsonl") == [
        {"step": 1, "train/loss": 0.1},
        {"step": 2, "train/loss": 1e-17},
    ]
    assert read_metrics(tmp_path / "timing.jsonl") == [
        {"step": 1, "examples_per_second": 9.0}
    ]
    assert read_scalars(tmp_path / "events") == [
        ("train/loss", 1, pytest.approx(0.1)),
        ("examples_per_second", 1, 9.0),
        ("train/loss", 2, pytest.approx(1e-17)),
    ]


def test_resuming_cuts_back_to_the_checkpoint(tmp_path):
    with MetricsWriter(tmp_path) as writer:
        for step in (10, 20, 30):
            writer.write(step, {"loss": 1.0 / step}, timing={"rate": 1.0})
    path = tmp_path / "metrics.jsonl"
    before = path.read_bytes().splitlines(keepends=True)
    with path.open("a") as file:
        file.write('{"step": 20, "lo')  # killed in the middle of a line
    assert [line["step"] for line in read_metrics(tmp_path)] == [10, 20, 30]
    with MetricsWriter(tmp_path, resume_step=20) as writer:
        assert path.read_bytes() == b"".join(before[:2])
        writer.write(30, {"loss": 1.0 / 30})
    assert path.read_bytes() == b"".join(before)
    assert [line["step"] for line in read_metrics(tmp_path / "timing.jsonl")] == [
        10,
        20,
    ]


def test_without_a_checkpoint_the_files_start_afresh(tmp_path):
    with MetricsWriter(tmp_path) as writer:
        writer.write(1, {"loss": 1.0})
    with MetricsWriter(tmp_path):
        pass
    assert (tmp_path / "metrics.jsonl").read_bytes() == b""


def test_running_means_survive_a_checkpoint_at_any_moment():
    values = [0.1, 0.7, 1e-7, 3.0, 0.3]
    undisturbed = RunningMeans(lag=2)
    for value in values:
        undisturbed.add({"loss": mean(value, 0.5), "rare": mean(math.nan, 0.0)})
    first = RunningMeans(lag=2)
    for value in values[:3]:
        first.add({"loss": mean(value, 0.5), "rare": mean(math.nan, 0.0)})
    second = RunningMeans()
    second.restore(json.loads(json.dumps(first.state())))
    for value in values[3:]:
        second.add({"loss": mean(value, 0.5), "rare": mean(math.nan, 0.0)})
    expected = sum(values) / 2.5
    assert undisturbed.compute()["loss"] == pytest.approx(expected, rel=1e-6)
    assert second.compute() == undisturbed.compute()  # to the last bit
    assert "rare" not in second.compute()
    second.reset()
    assert second.compute() == {}


def test_patience_runs_out_after_evaluations_without_improvement():
    watch = EarlyStopping(patience=3, mode="max")
    history = [0.1, 0.3, 0.3, float("nan"), 0.2]
    stops = []
    for step, value in enumerate(history):
        watch = watch.update(step, value)
        stops.append(watch.should_stop)
    assert stops == [False, False, False, False, True]
    assert (watch.best, watch.best_step, watch.num_worse) == (0.3, 1, 3)
    assert watch.update(5, 0.4).num_worse == 0


def test_small_is_good_where_told_and_no_patience_never_stops():
    watch = EarlyStopping(mode="min")
    for step, value in enumerate([2.0, 1.0, 1.5] + [9.0] * 100):
        watch = watch.update(step, value)
    assert (watch.best, watch.best_step, watch.should_stop) == (1.0, 1, False)
