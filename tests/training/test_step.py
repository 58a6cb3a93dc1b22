import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import toy_training as toy

from alphago_jax.training import (
    init_train_state,
    make_eval_step,
    make_train_step,
    policy_value_loss,
)

OPTIMIZER = optax.sgd(0.1, momentum=0.9)
PLAIN = toy.ToyNetwork(normalise=False)
KEY = jax.random.key(0)


def fresh(network=PLAIN, **kwargs):
    return init_train_state(network.variables(), OPTIMIZER, KEY, **kwargs)


@pytest.fixture(scope="module")
def plain_step():
    return jax.jit(make_train_step(PLAIN.apply_train, policy_value_loss, OPTIMIZER))


def assert_close(tree, other, atol=1e-6):
    assert jax.tree.leaves(tree)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=atol), tree, other)


def test_the_update_is_sgd_on_the_weighted_mean_loss(plain_step):
    batch = toy.make_batch(0)
    state = fresh()

    def loss(params):
        outputs = PLAIN.apply_eval({"params": params}, batch.planes)
        per_example = policy_value_loss(outputs, batch).per_example
        return jnp.sum(per_example * batch.weights) / jnp.sum(batch.weights)

    value, gradient = jax.jit(jax.value_and_grad(loss))(state.params)
    expected = jax.tree.map(lambda p, g: p - 0.1 * g, state.params, gradient)
    state, metrics = plain_step(state, batch)
    assert_close(state.params, expected)
    assert metrics["loss"].compute() == pytest.approx(float(value), rel=1e-5)
    norm = np.sqrt(sum(float((g**2).sum()) for g in jax.tree.leaves(gradient)))
    assert metrics["gradient_norm"].compute() == pytest.approx(norm, rel=1e-5)
    assert int(state.step) == 1 and int(state.num_skipped) == 0


def test_padding_changes_nothing(plain_step):
    batch = toy.make_batch(0, 8)
    garbage = toy.make_batch(1, 8)
    garbage = garbage.replace(weights=np.zeros(8, np.float32))
    padded = jax.tree.map(lambda a, b: np.concatenate([a, b]), batch, garbage)
    short, _ = plain_step(fresh(), batch)
    long, _ = plain_step(fresh(), padded)
    assert_close(short.params, long.params)


def test_a_batch_of_padding_only_is_no_update(plain_step):
    batch = toy.make_batch(0).replace(weights=np.zeros(16, np.float32))
    state, _ = plain_step(fresh(), batch)
    assert_close(state.params, fresh().params, atol=0)
    assert int(state.num_skipped) == 0


def test_micro_batches_give_the_same_update(plain_step):
    step = jax.jit(
        make_train_step(PLAIN.apply_train, policy_value_loss, OPTIMIZER, accumulate=4)
    )
    batch = toy.make_batch(0)
    whole, metrics = plain_step(fresh(), batch)
    pieces, piece_metrics = step(fresh(), batch)
    assert_close(whole.params, pieces.params)
    for name, mean in metrics.items():
        assert piece_metrics[name].compute() == pytest.approx(
            float(mean.compute()), rel=1e-5
        ), name


def test_batch_statistics_pass_through_micro_batches():
    network = toy.ToyNetwork()
    frozen = optax.set_to_zero()
    step = jax.jit(
        make_train_step(network.apply_train, policy_value_loss, frozen, accumulate=2)
    )
    batch = toy.make_batch(0)
    state = init_train_state(network.variables(), frozen, KEY)
    after, _ = step(state, batch)
    variables = network.variables()
    apply_train = jax.jit(
        functools.partial(network.apply_train, rngs={}, axis_name=None)
    )
    for start in (0, 1):  # rows 0, 2, ... and then 1, 3, ...
        _, updates = apply_train(variables, batch.planes[start::2])
        variables = {**variables, **updates}
    assert_close(after.batch_stats, variables["batch_stats"])


def test_a_step_that_is_not_finite_changes_only_the_counters():
    network = toy.ToyNetwork()
    step = jax.jit(make_train_step(network.apply_train, policy_value_loss, OPTIMIZER))
    state = init_train_state(network.variables(), OPTIMIZER, KEY, keep_average=True)
    good = toy.make_batch(0)
    state, _ = step(state, good)
    bad = good.replace(planes=np.full_like(good.planes, np.nan))
    after, metrics = step(state, bad)
    for name in ("params", "batch_stats", "opt_state", "ema_params"):
        assert_close(getattr(after, name), getattr(state, name), atol=0)
    assert (int(after.step), int(after.num_skipped)) == (2, 1)
    assert metrics["skipped"].compute() == 1.0
    assert float(metrics["loss"].total) == 0.0  # running means stay usable
    after, metrics = step(after, good)
    assert metrics["skipped"].compute() == 0.0
    assert not np.array_equal(
        after.params["Conv_0"]["kernel"], state.params["Conv_0"]["kernel"]
    )


def test_the_average_follows_the_parameters():
    step = jax.jit(
        make_train_step(
            PLAIN.apply_train,
            policy_value_loss,
            OPTIMIZER,
            ema_decay=0.75,
            schedule=optax.constant_schedule(0.1),
        )
    )
    state = fresh(keep_average=True)
    expected = state.params
    for seed in range(3):
        state, metrics = step(state, toy.make_batch(seed))
        expected = jax.tree.map(
            lambda a, p: a * 0.75 + p * 0.25, expected, state.params
        )
    assert_close(state.ema_params, expected)
    assert_close(state.averaged_variables["params"], expected)
    assert metrics["learning_rate"].compute() == pytest.approx(0.1)
    assert fresh().averaged_variables["params"] is not None


def test_dropout_differs_from_step_to_step_and_repeats_with_the_key():
    seen = []

    def apply(variables, planes, *, rngs, axis_name):
        del axis_name

        outputs = PLAIN.apply_eval(variables, planes)
        noise = jax.random.uniform(rngs["dropout"])
        return outputs.replace(value=outputs.value * 0 + noise), {}

    def loss(outputs, examples):
        result = policy_value_loss(outputs, examples)
        return result.replace(per_example=outputs.value)

    step = jax.jit(make_train_step(apply, loss, optax.set_to_zero(), accumulate=2))
    state = init_train_state(PLAIN.variables(), optax.set_to_zero(), KEY)
    for _ in range(2):
        run = state
        for seed in range(3):
            run, metrics = step(run, toy.make_batch(seed, uneven=False))
            seen.append(float(metrics["loss"].compute()))
    assert seen[:3] == seen[3:]
    assert len(set(seen)) == 3


def test_it_overfits_one_batch(plain_step):
    batch = toy.make_batch(3, 8, uneven=False)
    state = fresh()
    for _ in range(150):
        state, metrics = plain_step(state, batch)
    assert metrics["top_1_with_passes"].compute() == 1.0
    assert metrics["policy_loss"].compute() < 0.05


def test_evaluation_batches_merge():
    network = toy.ToyNetwork()
    step = jax.jit(make_eval_step(network.apply_eval, policy_value_loss))
    variables = network.variables()
    batches = [toy.make_batch(seed) for seed in range(2)]
    first, second = (step(variables, batch) for batch in batches)
    whole = step(variables, jax.tree.map(lambda *x: np.concatenate(x), *batches))
    assert set(whole) >= {"loss", "top_1", "sign_accuracy"}
    for name, mean in whole.items():
        merged = (first[name] + second[name]).compute()
        assert merged == pytest.approx(float(mean.compute()), rel=1e-5), name
