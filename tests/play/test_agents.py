"""Agents and their evaluator, with a toy network whose answers are known."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from alphago_jax import go
from alphago_jax.go import symmetry
from alphago_jax.networks import NetworkOutput
from alphago_jax.play.agents import policy_agent, random_agent
from alphago_jax.play.evaluator import (
    final_value,
    make_evaluator,
    value_for_black,
)

SIZE = 5
RULES = go.Rules.chinese(komi=0.5)
PASS = SIZE * SIZE


@dataclasses.dataclass(frozen=True)
class Toy:
    """Logits and value are the variables, whatever the planes; or the planes."""

    def apply(self, variables: Any, planes: jax.Array) -> NetworkOutput:
        rows = planes.shape[0]
        points = variables["weight"] * planes[..., 0].reshape(rows, -1)
        logits = jnp.concatenate([points, jnp.zeros((rows, 1))], axis=1)
        logits = logits + variables["logits"]
        value = jnp.broadcast_to(variables["value"], (rows,))
        return NetworkOutput(prior_logits=logits, value=value)


def own_stones(state: go.GoState) -> jax.Array:
    return (go.stones(state) * go.to_play(state))[..., None].astype(jnp.float32)


def variables(logits=0.0, value=0.0, weight=0.0):
    return {
        "logits": jnp.broadcast_to(jnp.float32(logits), (PASS + 1,)),
        "value": jnp.float32(value),
        "weight": jnp.float32(weight),
    }


def evaluator(symmetries="none"):
    return make_evaluator(Toy(), own_stones, symmetries=symmetries)  # type: ignore[arg-type]


@functools.cache
def compiled_evaluator(symmetries="none"):
    return jax.jit(evaluator(symmetries))


@functools.cache
def compiled_policy(temperature):
    agent = policy_agent("toy", evaluator(), None, temperature=temperature)
    return jax.jit(agent.act)


def board(text: str, to_play: int = 1) -> go.GoState:
    return go.from_diagram(text, rules=RULES, to_play=to_play)


def stack(*states: go.GoState) -> go.GoState:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *states)


EMPTY = "\n".join([". . . . ."] * 5)
EYES = """
. X . X X
X X X X .
. X X . X
X X X X X
. X O O .
"""
# Black has eyes at the corner top left, E4 and so on; see the test.


@pytest.fixture(scope="module")
def play_random():
    agent = random_agent()
    return jax.jit(lambda key, states: agent.act(None, (), key, states)[0])


def test_random_moves_are_uniform_over_sensible_moves(play_random):
    states = stack(board(EYES), board(EMPTY))
    weights = np.asarray(play_random(jax.random.key(0), states).action_weights)
    assert weights[1, :PASS] == pytest.approx(1 / 25)
    assert weights[1, PASS] == 0
    allowed = np.flatnonzero(weights[0])
    # Empty points: A5 C5 E4 A3 D3 A1 E1. All but E1 have black neighbours only; at
    # E1, where White stands beside, Black takes two stones.
    assert allowed.tolist() == [24]
    assert weights[0].sum() == pytest.approx(1)


def test_a_false_eye_is_no_eye(play_random):
    false_eye = """
    . X O . .
    X X . X .
    O . X . .
    X X O . .
    . . . . .
    """
    # B3 has black neighbours B4, B2, C3 but White's A3 beside it: no eye. C4 is
    # surrounded but for White's C5. A5, in the corner, is an eye.
    states = stack(board(false_eye), board(EMPTY))
    weights = np.asarray(play_random(jax.random.key(0), states).action_weights)[0]
    assert weights[0] == 0
    assert weights[2 * 5 + 1] > 0
    assert weights[1 * 5 + 2] > 0


def test_agents_pass_when_nothing_is_left_or_all_is_over(play_random):
    full = """
    . X X X X
    X X X X X
    X X X X X
    X X X X X
    X X X X .
    """
    over = board(EMPTY)
    for _ in range(2):
        over = go.play(over, PASS)
    output = play_random(jax.random.key(0), stack(board(full), over))
    assert output.action.tolist() == [PASS, PASS]
    assert output.value is None


def policy_action(params, *states, temperature=0.0):
    """What a policy agent does; always three rows, so that it compiles once."""
    batch = stack(*states, *[states[-1]] * (3 - len(states)))
    return compiled_policy(temperature)(params, (), jax.random.key(0), batch)[0]


def test_policy_takes_the_best_legal_move():
    logits = np.zeros(PASS + 1, np.float32)
    logits[[12, 7, 3]] = [9, 8, 7]
    occupied = go.play(go.play(board(EMPTY), 12), 7)
    output = policy_action(variables(logits, 0.25), board(EMPTY), occupied)
    assert output.action.tolist() == [12, 3, 3]
    assert output.value.tolist() == [0.25] * 3


def test_temperature():
    logits = np.full(PASS + 1, -1e9, np.float32)
    logits[[3, 4]] = [np.log(0.8), np.log(0.2)]
    output = policy_action(variables(logits), board(EMPTY), temperature=0.5)
    # 0.8² : 0.2² = 16 : 1.
    assert output.action_weights[0, 3] == pytest.approx(16 / 17, rel=1e-5)
    assert output.action_weights[0, 4] == pytest.approx(1 / 17, rel=1e-5)
    with pytest.raises(ValueError, match="temperature"):
        policy_agent("toy", evaluator(), {}, temperature=-1)


def test_passing():
    logits = np.zeros(PASS + 1, np.float32)
    logits[PASS] = 9.0
    won = """
    . X . . .
    X X . . .
    . . . . .
    . . . . .
    . . . . .
    """
    black_to_play = board(won)
    opponent_passed = go.play(board(won, to_play=-1), PASS)
    lost = go.play(board(won), PASS)  # White to play, Black has passed
    passing = policy_action(variables(logits), black_to_play, opponent_passed, lost)
    # The network wants to pass: alone it may; a pass that wins is played; one that
    # loses is not.
    assert passing.action.tolist()[:2] == [PASS, PASS]
    assert passing.action[2] != PASS
    no_pass = np.zeros(PASS + 1, np.float32)
    no_pass[PASS] = -1e9
    playing = policy_action(variables(no_pass), black_to_play, opponent_passed, lost)
    assert playing.action[0] != PASS
    assert playing.action[1] == PASS
    assert playing.action[2] != PASS


@pytest.mark.parametrize("logit", [np.nan, -np.inf, np.inf])
def test_a_broken_network_is_uniform_over_legal_moves(logit):
    state = go.play(board(EMPTY), 12)
    states = stack(state, state)
    evaluation = compiled_evaluator()(
        variables(logit, np.nan), jax.random.key(0), states
    )
    probabilities = np.asarray(jax.nn.softmax(evaluation.prior_logits))[0]
    legal = np.asarray(go.legal_actions(state))
    assert probabilities[legal] == pytest.approx(1 / 25)
    assert (probabilities[~legal] == 0).all()
    assert evaluation.value.tolist() == [0.0, 0.0]


def test_symmetries_of_an_equivariant_network_change_nothing():
    text = "X . . . .\n. X O . .\n" + "\n".join([". . . . ."] * 3)
    states = stack(board(text), board(text, to_play=-1))
    params = variables(weight=1.0)
    plain = compiled_evaluator()(params, jax.random.key(0), states)
    for symmetries in ("random", "all"):
        other = compiled_evaluator(symmetries)(params, jax.random.key(3), states)
        for a, b in zip(jax.tree.leaves(plain), jax.tree.leaves(other), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_the_ensemble_is_the_mean_over_turned_boards():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=PASS + 1).astype(np.float32)
    states = stack(board(EMPTY), board(EMPTY))
    ensemble = compiled_evaluator("all")(
        variables(logits, 0.5), jax.random.key(0), states
    )
    expected = np.zeros(PASS + 1)
    points = logits[:PASS].reshape(SIZE, SIZE)
    turned = [np.rot90(g, k) for g in (points, points.T) for k in range(4)]
    for grid in turned:
        weights = np.exp(np.append(grid.reshape(-1), logits[PASS]))
        expected += weights / weights.sum() / symmetry.NUM_SYMMETRIES
    np.testing.assert_allclose(
        jax.nn.softmax(ensemble.prior_logits)[0], expected, rtol=1e-5
    )
    assert ensemble.value.tolist() == [0.5, 0.5]


def test_perspective():
    won = board("X . . . .\n" + "\n".join([". . . . ."] * 4))
    for _ in range(2):
        won = go.play(won, PASS)  # Black won, Black to play
    states = stack(
        won, won.replace(position=won.position.replace(to_play=jnp.int8(-1)))
    )
    value = jax.jit(final_value)(states)
    assert value.tolist() == [1.0, -1.0]
    assert value_for_black(value, states).tolist() == [1.0, 1.0]
