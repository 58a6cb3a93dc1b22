"""A supervised run: what it starts from, what it keeps, what it refuses."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from alphago_jax import networks
from alphago_jax.checkpoint import load_network
from alphago_jax.data.games import load_game_set, sample_path
from alphago_jax.data.stream import StreamConfig
from alphago_jax.features import FeatureSet
from alphago_jax.go import stones, to_play
from alphago_jax.pipelines import supervised
from alphago_jax.training import LoopConfig, OptimizerConfig

NETWORK = {"filters": 4, "layers": 2, "num_planes": 2}


def two_planes(state):
    board = stones(state) * to_play(state)
    return jnp.stack([board > 0, board < 0], axis=-1).astype(jnp.float32)


@pytest.fixture(autouse=True)
def cheap_planes(monkeypatch):
    """Stones only: reading ladders is another test's business."""
    feature_set = FeatureSet("two", two_planes, ("own", "other"))
    monkeypatch.setattr(supervised.features, "get", lambda name: feature_set)


@pytest.fixture(scope="module")
def games():
    return load_game_set([sample_path(9)], 9)[0].take(range(6))


def config(learning_rate):
    return supervised.SupervisedConfig(
        network=NETWORK,
        stream=StreamConfig(batch_size=8, games_per_chunk=4),
        optimizer=OptimizerConfig(learning_rate=learning_rate),
        loop=LoopConfig(num_steps=2, log_every=1, eval_every=2, save_minutes=None),
    )


def test_starts_from_given_variables(games, tmp_path):
    network = networks.create("alphago_policy", 9, **NETWORK)
    given = network.init(jax.random.key(7))
    half = jax.tree.map(lambda x: np.asarray(x, np.float16), given)
    # With a rate of zero the run ends where it started.
    trained, result = supervised.train_supervised(
        config(0.0), games, games, tmp_path / "run", variables=half
    )
    assert trained == network
    assert result.step == 2
    leaves = jax.tree.leaves(result.state.params)
    assert len(leaves) == len(jax.tree.leaves(half["params"])) > 0
    for got, expected in zip(leaves, jax.tree.leaves(half["params"]), strict=True):
        assert got.dtype == jnp.float32
        np.testing.assert_array_equal(got, expected.astype(np.float32))
    metadata, variables = load_network(tmp_path / "run")
    assert metadata.step == 2
    np.testing.assert_array_equal(
        variables["params"]["pass_logit"], given["params"]["pass_logit"]
    )


def test_refuses_variables_of_another_network(games, tmp_path):
    other = networks.create("alphago_policy", 9, **{**NETWORK, "filters": 5})
    with pytest.raises(ValueError, match="another network"):
        supervised.train_supervised(
            config(0.1),
            games,
            games,
            tmp_path / "run",
            variables=other.init(jax.random.key(0)),
        )


def test_refuses_sets_of_different_sizes(games, tmp_path):
    other = dataclasses.replace(games, size=13)
    with pytest.raises(ValueError, match="9×9, validation games 13×13"):
        supervised.train_supervised(config(0.1), games, other, tmp_path / "run")
