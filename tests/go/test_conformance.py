"""The conformance test passes on this engine and fails on broken ones."""

import types

import jax
import numpy as np
import pytest

from alphago_jax import go
from alphago_jax.go import conformance, scoring

STEP, LEGAL = jax.jit(go.step), jax.jit(go.legal_actions)
RULES = go.Rules(ko="positional", suicide=True)


def engine(**changes):
    parts = {
        "init": go.init,
        "step": STEP,
        "legal_actions": LEGAL,
        "stones": go.stones,
        "to_play": go.to_play,
        "is_over": go.is_over,
        "score": scoring.score,
    }
    return types.SimpleNamespace(**{**parts, **changes})


def test_this_engine_conforms():
    assert conformance.check(engine(), sizes=(3, 4), games=3, rules=RULES) > 80


def ignore_superko(state):
    simple = state.rules.replace(ko=np.int8(0))
    return LEGAL(state.replace(rules=simple))


def forbid_passing(state):
    return np.asarray(LEGAL(state)) & (np.arange(10) < 9)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"legal_actions": ignore_superko}, "legal_actions is wrong"),
        ({"legal_actions": forbid_passing}, "legal_actions is wrong at"),
        ({"to_play": lambda state: -go.to_play(state)}, "to_play"),
        ({"stones": lambda state: -np.asarray(go.stones(state))}, "stones differ"),
        ({"is_over": lambda state: False}, "is_over is False"),
    ],
)
def test_broken_engines_are_found(changes, problem):
    with pytest.raises(AssertionError, match=problem):
        conformance.check(engine(**changes), sizes=(3,), games=4, rules=RULES)
