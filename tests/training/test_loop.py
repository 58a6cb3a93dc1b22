import os
import signal

import jax
import numpy as np
import optax
import pytest
import toy_training as toy

from alphago_jax.checkpoint import Retention, RunDirectory
from alphago_jax.training import (
    LoopConfig,
    TrainingDivergedError,
    init_train_state,
    make_train_step,
    policy_value_loss,
    train,
)
from alphago_jax.training.interrupt import stop_requested
from alphago_jax.training.metrics import read_metrics

NETWORK = toy.ToyNetwork(normalise=False)
OPTIMIZER = optax.sgd(0.05)


@pytest.fixture(scope="module")
def step():
    return jax.jit(
        make_train_step(NETWORK.apply_train, policy_value_loss, OPTIMIZER),
        donate_argnums=0,
    )


def fresh():
    return init_train_state(NETWORK.variables(), OPTIMIZER, jax.random.key(0))


def steps_of(path):
    return sorted(int(entry.name) for entry in (path / "checkpoints").iterdir())


def test_reports_evaluations_and_checkpoints_come_when_due(tmp_path, step, capsys):
    losses = iter([3.0, 1.0, 2.0, 5.0])
    config = LoopConfig(10, log_every=4, eval_every=3, save_every=5, save_minutes=None)
    retention = Retention(keep_last=99, metric="loss", mode="min")
    with RunDirectory(tmp_path, {}, retention=retention) as run:
        result = train(
            run,
            fresh(),
            step,
            toy.ToyStream(),
            config,
            evaluate=lambda state: {"loss": next(losses), "step": int(state.step)},
            unit="positions",
        )
        assert run.best_step == 6
    assert (result.step, result.reason) == (10, "finished")
    assert (result.best, result.best_step) == (1.0, 6)
    assert int(result.state.step) == 10
    assert steps_of(tmp_path) == [3, 5, 6, 9, 10]
    lines = read_metrics(tmp_path / "metrics.jsonl")
    assert [line["step"] for line in lines] == [3, 4, 6, 8, 9, 10]
    assert lines[0]["validation/step"] == 3
    assert lines[1]["train/loss"] > 0 and "validation/loss" not in lines[1]
    captured = capsys.readouterr()
    assert captured.out == ""  # standard output is not for progress
    assert "step 8/10" in captured.err and "positions/s" in captured.err


def test_reported_means_are_those_of_the_steps(tmp_path, step):
    state, expected = fresh(), []
    for number in range(1, 5):
        state, metrics = step(state, toy.make_batch(number))
        expected.append(metrics["loss"])
    total = sum(float(mean.total) for mean in expected)
    weight = sum(float(mean.weight) for mean in expected)
    with RunDirectory(tmp_path, {}) as run:
        train(run, fresh(), step, toy.ToyStream(), LoopConfig(4, log_every=4))
    (line,) = read_metrics(tmp_path / "metrics.jsonl")
    assert line["train/loss"] == pytest.approx(total / weight, rel=1e-9)


def test_patience_ends_the_run_and_stays_spent(tmp_path, step):
    config = LoopConfig(100, eval_every=1, patience=3, watch="top_1", watch_mode="max")
    values = [0.1, 0.5, 0.4, 0.5, 0.3]

    def evaluate(state):
        return {"top_1": values[int(state.step) - 1]}

    with RunDirectory(tmp_path, {}) as run:
        result = train(run, fresh(), step, toy.ToyStream(), config, evaluate=evaluate)
    assert (result.step, result.reason, result.best_step) == (5, "patience", 2)
    with RunDirectory(tmp_path, {}, resume=True) as run:
        again = train(run, fresh(), step, toy.ToyStream(), config, evaluate=evaluate)
    assert (again.step, again.reason, again.best) == (5, "patience", 0.5)


def test_a_signal_saves_and_resuming_finishes_the_same_run(tmp_path, step):
    config = LoopConfig(9, log_every=4, save_every=100)
    with RunDirectory(tmp_path / "whole", {}) as run:
        whole = train(run, fresh(), step, toy.ToyStream(), config)

    def interrupted_step(state, examples):
        if int(state.step) == 5:
            os.kill(os.getpid(), signal.SIGTERM)
        return step(state, examples)

    with RunDirectory(tmp_path / "cut", {}) as run:
        result = train(run, fresh(), interrupted_step, toy.ToyStream(), config)
    assert (result.reason, result.step) == ("interrupted", 6)
    assert steps_of(tmp_path / "cut") == [6]
    with RunDirectory(tmp_path / "cut", {}, resume=True) as run:
        result = train(run, fresh(), step, toy.ToyStream(), config)
    assert (result.reason, result.step) == ("finished", 9)
    for a, b in zip(
        jax.tree.leaves(whole.state.params),
        jax.tree.leaves(result.state.params),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    logs = [
        (tmp_path / name / "metrics.jsonl").read_text() for name in ("whole", "cut")
    ]
    assert logs[0] == logs[1] != ""


def test_a_second_signal_acts_as_usual():
    with stop_requested() as asked:
        assert not asked()
        os.kill(os.getpid(), signal.SIGINT)
        assert asked()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_clock_saves_too(tmp_path, step):
    config = LoopConfig(3, save_every=100, save_minutes=0.0)
    with RunDirectory(tmp_path, {}) as run:
        train(run, fresh(), step, toy.ToyStream(), config)
    assert steps_of(tmp_path) == [1, 2, 3]


def test_a_run_that_has_lost_all_numbers_stops(tmp_path, step):
    stream = toy.ToyStream()
    bad = toy.make_batch(0)
    bad = bad.replace(planes=np.full_like(bad.planes, np.nan))

    class BadStream(toy.ToyStream):
        def __next__(self):
            good = super().__next__()
            return bad if self.number > 4 else good

    config = LoopConfig(20, log_every=4, save_every=4)
    with (
        RunDirectory(tmp_path, {}) as run,
        pytest.raises(TrainingDivergedError, match=r"up to 8"),
    ):
        train(run, fresh(), step, BadStream(), config)
    with RunDirectory(tmp_path, {}, resume=True) as run:
        result = train(
            run, fresh(), step, stream, LoopConfig(8, log_every=4, save_every=4)
        )
    assert int(result.state.num_skipped) == 0
