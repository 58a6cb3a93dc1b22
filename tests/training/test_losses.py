import jax
import jax.numpy as jnp
import numpy as np
import pytest
import toy_training as toy

from alphago_jax.training import averages, losses


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(7)


def softmax64(logits):
    logits = np.asarray(logits, np.float64)
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def test_cross_entropies_are_their_definitions(rng):
    logits = rng.normal(size=(6, 10)).astype(np.float32) * 3
    actions = rng.integers(0, 10, 6)
    target = rng.dirichlet(np.ones(10), 6).astype(np.float32)
    probs = softmax64(logits)
    chosen = probs[np.arange(6), actions]
    np.testing.assert_allclose(
        losses.policy_cross_entropy(logits, actions), -np.log(chosen), rtol=1e-5
    )
    np.testing.assert_allclose(
        losses.guarded_policy_cross_entropy(logits, actions, epsilon=0.1),
        -np.log(chosen + 0.1),
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        losses.policy_target_cross_entropy(logits, target),
        -(target * np.log(probs)).sum(-1),
        rtol=1e-5,
    )


def test_cross_entropy_stays_finite_where_probabilities_underflow():
    logits = jnp.array([[0.0, 200.0]])
    actions = jnp.array([0])
    assert losses.policy_cross_entropy(logits, actions)[0] == pytest.approx(200.0)
    slope = jax.grad(lambda x: losses.policy_cross_entropy(x, actions).sum())(logits)
    assert slope[0, 0] == pytest.approx(-1.0)  # p - 1
    # The guarded form stops at -log(1e-8) and has lost its gradient.
    guarded = jax.grad(lambda x: losses.guarded_policy_cross_entropy(x, actions).sum())
    assert guarded(logits)[0, 0] == pytest.approx(0.0, abs=1e-6)


def test_a_masked_move_without_target_mass_is_allowed():
    logits = jnp.array([[0.0, -jnp.inf, 0.0]])
    target = jnp.array([[0.5, 0.0, 0.5]])
    loss = losses.policy_target_cross_entropy(logits, target)
    assert loss[0] == pytest.approx(np.log(2))
    slope = jax.grad(lambda x: losses.policy_target_cross_entropy(x, target).sum())
    np.testing.assert_allclose(slope(logits), [[0.0, 0.0, 0.0]], atol=1e-7)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_top_k_is_a_stable_sort(rng, k):
    # Few distinct values, so that ties are everywhere.
    logits = rng.integers(0, 4, (200, 7)).astype(np.float32)
    actions = rng.integers(0, 7, 200)
    order = np.argsort(-logits, axis=-1, kind="stable")
    expected = [action in row[:k] for action, row in zip(actions, order, strict=True)]
    assert 0 < sum(expected) < 200
    np.testing.assert_array_equal(
        losses.top_k_correct(jnp.asarray(logits), actions, k), expected
    )


def test_nan_logits_are_never_correct():
    logits = jnp.full((1, 5), jnp.nan)
    assert losses.top_k_correct(logits, jnp.array([0]), 5)[0] == 0.0


def test_value_loss_skips_draws_in_the_sign_accuracy():
    batch = toy.make_batch(0, 4)
    batch = batch.replace(
        returns=jnp.array([1.0, -1.0, 0.0, 1.0]), weights=jnp.array([1.0, 2.0, 5.0, 1])
    )
    value = jnp.array([0.5, 0.5, 0.5, 0.0])
    result = losses.value_loss(toy.ToyOutput(jnp.zeros((4, 10)), value), batch)
    np.testing.assert_allclose(result.per_example, [0.25, 2.25, 0.25, 1.0])
    # Weight 1 of 1 + 2 + 1: the wrong one, the undecided value and the draw fail.
    assert result.metrics["sign_accuracy"].compute() == pytest.approx(0.25)


def test_policy_loss_counts_passes_only_where_asked():
    batch = toy.make_batch(0, 3, uneven=False)
    batch = batch.replace(actions=jnp.array([0, 9, 4]))  # the second is the pass
    logits = jax.nn.one_hot(jnp.array([0, 9, 5]), 10)
    output = toy.ToyOutput(logits, jnp.zeros(3))
    with_pass = losses.policy_loss(output, batch)
    assert with_pass.metrics["top_1"].compute() == pytest.approx(1 / 2)
    assert with_pass.metrics["top_1_with_passes"].compute() == pytest.approx(2 / 3)
    np.testing.assert_array_equal(with_pass.weights, [1, 1, 1])
    without = losses.policy_loss(output, batch, pass_move=False)
    np.testing.assert_array_equal(without.weights, [1, 0, 1])
    assert "top_1_with_passes" not in without.metrics


def test_policy_value_loss_is_the_sum():
    batch = toy.make_batch(1, 8)
    network = toy.ToyNetwork()
    outputs = jax.jit(network.apply_eval)(network.variables(), batch.planes)
    both = jax.jit(losses.policy_value_loss)(outputs, batch)
    policy = losses.policy_cross_entropy(outputs.prior_logits, batch.actions)
    value = np.square(np.asarray(outputs.value) - batch.returns)
    np.testing.assert_allclose(both.per_example, policy + value, rtol=1e-6)
    np.testing.assert_allclose(
        both.metrics["value_loss"].compute(),
        np.average(value, weights=batch.weights),
        rtol=1e-6,
    )


def test_means_merge_exactly(rng):
    values, weights = rng.normal(size=12), rng.uniform(size=12)
    whole = averages.weighted_mean(jnp.asarray(values), jnp.asarray(weights))
    parts = [
        averages.weighted_mean(jnp.asarray(values[i:j]), jnp.asarray(weights[i:j]))
        for i, j in [(0, 5), (5, 6), (6, 12)]
    ]
    merged = parts[0] + parts[1] + parts[2]
    expected = np.average(values, weights=weights)
    assert whole.compute() == pytest.approx(expected, rel=1e-5)
    assert merged.compute() == pytest.approx(expected, rel=1e-5)


def test_values_without_weight_may_be_nan():
    mean = averages.weighted_mean(jnp.array([1.0, jnp.nan]), jnp.array([2.0, 0.0]))
    assert mean.compute() == 1.0
