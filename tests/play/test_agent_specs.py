"""Players by name, and a saved network that plays."""

import jax
import numpy as np
import pytest

from alphago_jax import go, networks
from alphago_jax.checkpoint import NetworkMetadata, save_network_file
from alphago_jax.play import agent_specs
from alphago_jax.play.agent_specs import AgentSpec, parse_agent
from alphago_jax.play.seat import Seat

SIZE = 5


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("random", AgentSpec("random", "random")),
        ("old=random", AgentSpec("old", "random")),
        ("gnugo:10", AgentSpec("gnugo:10", "gnugo", "10")),
        ("policy:a/b.npz", AgentSpec("policy:a/b.npz", "policy", "a/b.npz")),
        (
            "new=policy:a,temperature=0.5,symmetries=all",
            AgentSpec(
                "new", "policy", "a", {"temperature": "0.5", "symmetries": "all"}
            ),
        ),
        (
            "kata=gtp:katago gtp -model a,b=c.gz",
            AgentSpec("kata", "gtp", "katago gtp -model a,b=c.gz"),
        ),
        ("gtp:x=y", AgentSpec("gtp:x=y", "gtp", "x=y")),
    ],
)
def test_parse(text, spec):
    assert parse_agent(text) == spec


@pytest.mark.parametrize(
    "text",
    ["", "rand", "random:1", "policy:", "gtp:", "gnugo:0", "gnugo:x", "a=b=random"],
)
def test_refused(text):
    with pytest.raises(ValueError, match=r"there are|argument|give|level"):
        parse_agent(text)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Paths of two small policy networks, for any board and for one of 5×5."""
    folder = tmp_path_factory.mktemp("networks")
    paths = {}
    for name, pass_move in (("any", True), ("one", False)):
        overrides = {"filters": 4, "layers": 2, "pass_move": pass_move}
        network = networks.create("alphago_policy", SIZE, **overrides)
        metadata = NetworkMetadata(
            network.name, SIZE, network.config_dict(), network.planes
        )
        paths[name] = folder / f"{name}.npz"
        variables = jax.jit(network.init)(jax.random.key(1))
        save_network_file(paths[name], variables, metadata)
    return paths


def test_a_saved_network_plays_its_best_move(saved):
    spec = parse_agent(f"policy:{saved['any']},temperature=0")
    assert agent_specs.trained_size(spec) == SIZE
    agent = agent_specs.agent_factory(spec)(SIZE)
    state = go.init(SIZE, rules=go.Rules.chinese())
    choice = Seat(agent).choose(state)

    # The planes of an empty board, by hand: empty, ones, "captures none", liberties
    # after a move (2 in the corner to 4 inside), sensible.
    planes = np.zeros((1, SIZE, SIZE, 48), np.float32)
    planes[..., [2, 3, 20, 46]] = 1
    edge = np.isin(np.arange(SIZE), (0, SIZE - 1)).astype(int)
    liberties = 4 - edge[:, None] - edge[None, :]
    for count in (2, 3, 4):
        planes[0, ..., 36 + count - 1] = liberties == count
    network = networks.create("alphago_policy", SIZE, filters=4, layers=2)
    logits = jax.jit(network.apply)(agent.params, planes).prior_logits
    assert choice.action == int(np.argmax(logits[0]))
    assert choice.value is None


def test_boards_that_a_network_was_not_made_for(saved):
    # A shared bias goes with any board, a bias for every point with one only.
    agent_specs.agent_factory(parse_agent(f"policy:{saved['any']}"))(7)
    make = agent_specs.agent_factory(parse_agent(f"policy:{saved['one']}"))
    make(SIZE)
    with pytest.raises(ValueError, match="made for 5×5 and cannot play on 7×7"):
        make(7)


@pytest.mark.parametrize(
    ("options", "message"),
    [("temperature=hot", "a number"), ("symmetries=two", "one of none, random, all")],
)
def test_options_out_of_range(saved, options, message):
    with pytest.raises(ValueError, match=message):
        agent_specs.agent_factory(parse_agent(f"policy:{saved['any']},{options}"))
