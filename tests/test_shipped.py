"""The networks that ship: small, described, and as strong as their cards say."""

import itertools
import re

import jax.numpy as jnp
import pytest

from alphago_jax import checkpoint, features, go, networks
from alphago_jax.data.games import load_game_set
from alphago_jax.pipelines.evaluation import evaluate_network

SHIPPED = sorted(checkpoint.shipped_networks().items())


def card_of(path):
    return path.with_suffix(".md").read_text(encoding="utf-8")


def test_what_ships():
    assert [name for name, _ in SHIPPED] == ["alphago_policy_19x19"]


@pytest.mark.parametrize(("name", "path"), SHIPPED)
def test_small_and_described(name, path):
    assert path.stat().st_size < 4_000_000
    metadata, _ = checkpoint.load_network(name)
    card, config = card_of(path), metadata.config
    assert f"{metadata.board_size}×{metadata.board_size}" in card
    assert f"{config['filters']} filters, {config['layers']} layers" in card
    assert f"`{config['planes']}`, {config['num_planes']}" in card


def test_policy_opens_in_a_corner():
    network, variables, metadata = networks.from_checkpoint("alphago_policy_19x19")
    state = go.init(19, rules=go.Rules.chinese(komi=7.5))
    planes = features.get(metadata.planes).planes(state)[None]
    logits = network.apply(variables, planes).prior_logits
    probabilities = networks.get_move_probabilities(
        logits, jnp.ones_like(logits, bool)
    )[0, :-1].reshape(19, 19)
    # The 4-4 and 3-4 points are how professionals begin.
    lines = [2, 3, 15, 16]
    corners = sum(
        float(probabilities[y, x])
        for y, x in itertools.product(lines, lines)
        if {y, x} & {3, 15}
    )
    assert corners > 0.95


@pytest.mark.shared
def test_policy_predicts_professionals(shared_dir):
    network, variables, _ = networks.from_checkpoint("alphago_policy_19x19")
    path = shared_dir / "data" / "cwi_pro_19x19" / "2023.sgfs.xz"
    games, _ = load_game_set([path], 19)
    games = games.take(range(0, len(games), 24))
    everything = evaluate_network(network, variables, games, every=20)[0]
    assert everything.positions > 900
    claimed = float(
        re.search(
            r"top-1 on 2023 \| ([\d.]+) %",
            card_of(dict(SHIPPED)[network.name + "_19x19"]),
        )[1]
    )
    # Three standard deviations of a sample of this size.
    tolerance = 3 * (0.25 / everything.positions) ** 0.5
    assert everything.figures["top_1"] == pytest.approx(claimed / 100, abs=tolerance)
