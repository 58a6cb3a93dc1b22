"""get_move_probabilities against the formula in plain Python, and at its edges."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from alphago_jax.networks import get_move_probabilities


def by_the_formula(logits, legal, temperature):
    """p^(1/T) over legal moves, renormalised, one move at a time."""
    total = sum(math.exp(x) for x in logits)
    powers = [
        (math.exp(x) / total) ** (1 / temperature) if ok else 0.0
        for x, ok in zip(logits, legal, strict=True)
    ]
    return [power / sum(powers) for power in powers]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_is_the_formula(temperature):
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(5, 10)).astype(np.float32)
    legal = rng.random((5, 10)) < 0.6
    got = get_move_probabilities(jnp.asarray(logits), jnp.asarray(legal), temperature)
    expected = [
        by_the_formula(row.tolist(), mask.tolist(), temperature)
        for row, mask in zip(logits, legal, strict=True)
    ]
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_temperature_per_row_and_its_limits():
    logits = jnp.tile(jnp.array([1.0, 3.0, 3.0, 9.0]), (4, 1))
    legal = jnp.tile(jnp.array([True, True, True, False]), (4, 1))
    temperature = jnp.array([0.0, 1e-20, 1.0, jnp.inf])
    got = jax.jit(get_move_probabilities)(logits, legal, temperature)
    np.testing.assert_allclose(got[0], [0, 1, 0, 0])
    np.testing.assert_allclose(got[1], [0, 0.5, 0.5, 0])
    np.testing.assert_allclose(
        got[2], by_the_formula([1, 3, 3, 9], [1, 1, 1, 0], 1.0), rtol=1e-6
    )
    np.testing.assert_allclose(got[3], [1 / 3, 1 / 3, 1 / 3, 0], rtol=1e-6)


def test_tiny_probabilities_do_not_underflow():
    logits = jnp.array([-1000.0, -1001.0, 0.0])
    legal = jnp.array([True, True, False])
    got = get_move_probabilities(logits, legal)
    e = math.exp(-1)
    np.testing.assert_allclose(got, [1 / (1 + e), e / (1 + e), 0], rtol=1e-5)


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("temperature", [0.0, 0.1, 1.0, 10.0])
@pytest.mark.parametrize(
    ("logits", "legal", "support"),
    [
        ([-INF, -INF, 5.0], [1, 1, 0], [0, 1]),  # no mass on legal moves
        ([NAN, NAN, NAN], [1, 1, 0], [0, 1]),
        ([NAN, 2.0, 7.0], [1, 1, 0], [1]),  # NaN is no mass for that move
        ([-INF, 2.0, 7.0], [1, 1, 0], [1]),
        ([INF, 2.0, 7.0], [1, 1, 1], [0]),
        ([1.0, 2.0, 3.0], [0, 0, 0], [2]),  # no legal move: pass
        ([NAN, NAN, NAN], [0, 0, 0], [2]),
    ],
)
def test_edges(logits, legal, support, temperature):
    got = get_move_probabilities(jnp.array(logits), jnp.array(legal, bool), temperature)
    assert np.isfinite(got).all()
    expected = np.zeros(3)
    if temperature == 0.0:
        expected[support[0]] = 1.0
    else:
        expected[support] = 1 / len(support)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_gradient_is_finite_with_illegal_and_massless_moves():
    logits = jnp.array([0.5, -jnp.inf, 2.0, 1.0])
    legal = jnp.array([True, True, False, True])

    def first(logits):
        return get_move_probabilities(logits, legal, 0.5)[0]

    assert np.isfinite(jax.grad(first)(logits)).all()
