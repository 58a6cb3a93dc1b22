"""The engine beside the oracle, ply by ply, in batches that mix rule sets."""

import random

import pytest
from engine_vs_oracle import FULL_SCOPE, Comparison
from oracle import lockstep

from alphago_jax import go

PLAIN = [lockstep.Rules("simple", False), lockstep.Rules("simple", False, komi=0.0)]
TROMP_TAYLOR = [
    lockstep.Rules(ko, suicide)
    for ko in ("positional", "situational")
    for suicide in (False, True)
]


def specs_of(sizes, count, rules, seed):
    specs = []
    for size in sizes:
        shuffled = random.Random(f"{seed} {size}").sample(rules, len(rules))
        specs += lockstep.random_specs(count, size=size, rules=shuffled, seed=seed)
    return specs


def check(comparison, *, plies, captured):
    assert not comparison.mismatches, "\n\n".join(comparison.mismatches[:3])
    assert comparison.plies >= plies
    assert comparison.captured >= captured


def test_all_rules_and_sizes_in_one_batch():
    """Boards of 2×2 to 9×9 inside 9×9 arrays, all rule sets in one program."""
    specs = specs_of(range(2, 10), 16, lockstep.all_rules(), seed=5)
    comparison = Comparison(specs, 9, FULL_SCOPE).play(max_plies=40, score_every=20)
    check(comparison, plies=3000, captured=1200)
    assert comparison.no_results >= 2
    assert len(comparison.plies_by_rules) >= 40


@pytest.mark.parametrize(
    ("rules", "scope"),
    [(PLAIN, go.Scope()), (TROMP_TAYLOR, go.Scope(superko=True, suicide=True))],
    ids=["simple ko", "superko"],
)
def test_narrow_programs(rules, scope):
    """Programs compiled for less than everything, on boards that fill the arrays."""
    comparison = Comparison(specs_of([4], 24, rules, seed=6), 4, scope)
    check(comparison.play(max_plies=60, score_every=0), plies=700, captured=500)


def test_big_boards():
    specs = specs_of([13, 19], 4, lockstep.all_rules(), seed=7)
    comparison = Comparison(specs, 19, FULL_SCOPE).play(max_plies=30, score_every=0)
    check(comparison, plies=200, captured=10)
