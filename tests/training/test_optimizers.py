import math

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from alphago_jax.training.optimizers import (
    OptimizerConfig,
    learning_rate_schedule,
    make_optimizer,
)


def rate_at(config, examples, batch_size=16):
    schedule = learning_rate_schedule(config, batch_size)
    return float(np.asarray(schedule(jnp.int32(examples // batch_size))))


def test_the_papers_rate_halves_every_80_million_positions():
    config = OptimizerConfig.alphago_paper()
    assert config.momentum == 0.0
    million = 1_000_000
    expected = {0: 0.003, 79: 0.003, 80: 0.0015, 159: 0.0015, 160: 0.00075}
    for millions, rate in expected.items():
        assert rate_at(config, millions * million) == pytest.approx(rate)
    # 5.4 thousand million examples do not fit into an int32.
    assert rate_at(config, 5440 * million) == pytest.approx(0.003 * 2.0**-68)


def test_exponential_decay_passes_through_the_same_halvings():
    config = OptimizerConfig(decay_examples=1600.0)
    assert rate_at(config, 1600) == pytest.approx(0.0015)
    assert rate_at(config, 800) == pytest.approx(0.003 / math.sqrt(2))


def test_cosine_with_warmup():
    config = OptimizerConfig(
        schedule="cosine", learning_rate=1.0, decay_examples=1600, warmup_examples=160
    )
    assert rate_at(config, 0) == 0.0
    assert rate_at(config, 80) == pytest.approx(0.5)
    assert rate_at(config, 160) == pytest.approx(1.0)
    assert rate_at(config, 160 + 800) == pytest.approx(0.5)
    assert rate_at(config, 160 + 1600) == pytest.approx(0.0, abs=1e-7)
    assert rate_at(config, 16_000) == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("change", [{"decay_examples": 0.0}, {"warmup_examples": -1.0}])
def test_bad_durations_are_refused(change):
    with pytest.raises(ValueError, match="not a schedule"):
        learning_rate_schedule(OptimizerConfig(**change), 16)


def test_an_unknown_schedule_is_refused():
    config = OptimizerConfig(schedule="linear")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="linear"):
        learning_rate_schedule(config, 16)(jnp.int32(0))


def test_momentum_l2_and_clipping_by_hand():
    """Two updates of v ← 0.9 v + g, θ ← θ − 0.1 v, with g clipped after 2cθ."""
    config = OptimizerConfig(
        schedule="constant", learning_rate=0.1, l2=0.05, clip_norm=1.0
    )
    optimizer = make_optimizer(config, 1)
    kernel, bias = np.array([[2.0, -1.0]]), np.array([3.0])
    params = {"kernel": jnp.asarray(kernel), "bias": jnp.asarray(bias)}
    state = optimizer.init(params)
    velocity = [np.zeros_like(kernel), np.zeros_like(bias)]
    for gradient in (0.3, 4.0):
        raw = {"kernel": jnp.full((1, 2), gradient), "bias": jnp.full(1, gradient)}
        updates, state = optimizer.update(raw, state, params)
        params = optax.apply_updates(params, updates)
        # The bias has no regulariser.
        g = [gradient + 2 * 0.05 * kernel, np.full(1, gradient)]
        norm = math.sqrt(sum((part**2).sum() for part in g))
        g = [part / max(norm, 1.0) for part in g]
        velocity = [0.9 * v + part for v, part in zip(velocity, g, strict=True)]
        kernel, bias = kernel - 0.1 * velocity[0], bias - 0.1 * velocity[1]
    np.testing.assert_allclose(params["kernel"], kernel, rtol=1e-6)
    np.testing.assert_allclose(params["bias"], bias, rtol=1e-6)


def test_momentum_agrees_with_pytorch():
    torch = pytest.importorskip("torch")
    config = OptimizerConfig(schedule="constant", learning_rate=0.05, nesterov=True)
    optimizer = make_optimizer(config, 1)
    start = np.array([[1.0, -2.0, 0.5]], np.float32)
    params = jnp.asarray(start)
    state = optimizer.init(params)
    weight = torch.nn.Parameter(torch.tensor(start))
    peer = torch.optim.SGD([weight], lr=0.05, momentum=0.9, nesterov=True)
    for _ in range(5):
        updates, state = optimizer.update(2 * params, state, params)  # of ‖θ‖²
        params = optax.apply_updates(params, updates)
        peer.zero_grad()
        weight.square().sum().backward()
        peer.step()
    np.testing.assert_allclose(params, weight.detach().numpy(), rtol=1e-5)
