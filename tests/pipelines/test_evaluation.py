"""Figures of a network against NumPy, and its eight symmetries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from alphago_jax import networks
from alphago_jax.data.games import load_game_set, sample_path
from alphago_jax.data.stream import all_examples
from alphago_jax.features import FeatureSet
from alphago_jax.go import stones, symmetry, to_play
from alphago_jax.pipelines import evaluation


def two_planes(state):
    board = stones(state) * to_play(state)
    return jnp.stack([board > 0, board < 0], axis=-1).astype(jnp.float32)


@pytest.fixture(scope="module")
def games():
    return load_game_set([sample_path(9)], 9)[0].take(range(4))


@pytest.fixture(scope="module")
def network():
    return networks.create(
        "alphago_policy", 9, filters=4, layers=2, num_planes=2, pass_move=False
    )


@pytest.fixture(autouse=True)
def cheap_planes(monkeypatch):
    """Stones only: reading ladders is another test's business."""
    feature_set = FeatureSet("two", two_planes, ("own", "other"))
    monkeypatch.setattr(evaluation.features, "get", lambda name: feature_set)


def numpy_figures(network, variables, games, views):
    """Top-k and cross-entropy by sorting, over the mean of some views."""
    top, cross, count = {1: 0, 5: 0, 20: 0}, 0.0, 0
    for examples, _ in all_examples(games, two_planes, 32):
        mean = 0.0
        for k in views:
            planes = np.stack(
                [np.asarray(symmetry.transform_board(p, k)) for p in examples.planes]
            )
            logits = np.asarray(
                network.apply(variables, planes).prior_logits, np.float64
            )[:, :-1]
            probs = np.exp(logits - logits.max(axis=1, keepdims=True))
            probs /= probs.sum(axis=1, keepdims=True)
            places = np.asarray(symmetry.sources(k, 9))  # view[i] = board[places[i]]
            back = np.zeros_like(probs)
            back[:, places] = probs
            mean = mean + back / len(views)
        for row in np.flatnonzero(np.asarray(examples.weights)):
            action = int(examples.actions[row])
            order = np.argsort(-mean[row], kind="stable")
            rank = int(np.flatnonzero(order == action)[0])
            for k in top:
                top[k] += rank < k
            cross -= np.log(mean[row, action])
            count += 1
    return {k: n / count for k, n in top.items()}, cross / count, count


@pytest.mark.parametrize("ensemble", [False, True])
def test_figures_equal_numpy(network, games, ensemble):
    variables = network.init(jax.random.key(0))
    noise = jax.random.key(1)
    variables = jax.tree.map(
        lambda leaf: leaf + 0.3 * jax.random.normal(noise, leaf.shape), variables
    )
    phases = evaluation.evaluate_network(
        network, variables, games, ensemble=ensemble, batch_size=32
    )
    top, cross, count = numpy_figures(
        network, variables, games, range(8) if ensemble else [0]
    )
    total = phases[0]
    assert total.positions == count > 100
    assert sum(phase.positions for phase in phases[1:]) == count
    assert [phase.phase for phase in phases[1:]] == [
        "0–25 %",
        "25–50 %",
        "50–75 %",
        "75–100 %",
    ]
    for k, share in top.items():
        assert total.figures[f"top_{k}"] == pytest.approx(share, abs=1e-9)
    assert total.figures["cross_entropy"] == pytest.approx(cross, abs=1e-4)
    assert total.figures["perplexity"] == pytest.approx(np.exp(cross), rel=1e-4)


def test_another_board_is_refused(network, games):
    other = networks.create("alphago_policy", 7, filters=4, layers=2, num_planes=2)
    with pytest.raises(ValueError, match="plays 7×7"):
        evaluation.evaluate_network(other, {}, games)
