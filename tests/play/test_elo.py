"""Ratings against hand-computed values, SciPy and plain maximum likelihood."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from alphago_jax.play import elo
from alphago_jax.play.elo import Tally


@pytest.mark.parametrize("tally", [Tally(7, 0, 3), Tally(0, 0, 5), Tally(64, 0, 36)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_wilson_interval_is_scipys(tally, confidence):
    rate = elo.win_rate(tally, confidence=confidence)
    test = stats.binomtest(tally.wins, tally.games)
    expected = test.proportion_ci(confidence, method="wilson")
    assert rate.estimate == tally.wins / tally.games
    assert (rate.low, rate.high) == pytest.approx((expected.low, expected.high))


def test_draws_count_half():
    assert elo.win_rate(Tally(1, 2, 1)) == elo.win_rate(Tally(2, 0, 2))


def test_elo_of_known_rates():
    # By definition 10^(400/400) = 10: ten wins for a loss are 400 Elo.
    assert elo.elo_from_rate(10 / 11) == pytest.approx(400)
    assert elo.elo_from_rate(0.5) == 0
    assert elo.elo_from_rate(0.75) == pytest.approx(400 * math.log10(3))
    assert elo.elo_difference(Tally(10, 0, 1)).estimate == pytest.approx(400)


def test_a_whitewash_has_one_finite_bound():
    value = elo.elo_difference(Tally(10, 0, 0))
    assert value.estimate == value.high == math.inf
    # Wilson's lower bound of 10 of 10 is n / (n + z²).
    bound = 10 / (10 + 1.959964**2)
    assert value.low == pytest.approx(400 * math.log10(bound / (1 - bound)), rel=1e-5)
    assert elo.elo_difference(Tally(0, 0, 10)).high == pytest.approx(-value.low)


def test_no_games_no_rate():
    with pytest.raises(ValueError, match="no games"):
        elo.win_rate(Tally(0, 0, 0))
    with pytest.raises(ValueError, match="no games"):
        elo.fit_ratings({})


def test_two_players_have_their_elo_difference():
    ratings = elo.fit_ratings({("a", "b"): Tally(10, 0, 1)}, anchor="b", prior_draws=0)
    assert [r.name for r in ratings] == ["a", "b"]
    assert ratings[0].elo.estimate == pytest.approx(400, abs=1e-3)
    assert ratings[1].elo == (0, 0, 0)
    # The binomial's standard error of a log-odds: 1 / √(n p q).
    error = 1 / math.sqrt(11 * (10 / 11) * (1 / 11))
    half = 1.959964 * error * 400 / math.log(10)
    assert ratings[0].elo.high - 400 == pytest.approx(half, abs=0.01)
    assert (ratings[0].games, ratings[0].points) == (11, 10)


TALLIES = {
    ("a", "b"): Tally(12, 2, 6),
    ("c", "b"): Tally(9, 0, 11),
    ("c", "a"): Tally(5, 1, 14),
    ("d", "c"): Tally(3, 4, 1),
}


def likelihood(values: np.ndarray) -> float:
    """Negative log-likelihood of TALLIES, with one draw more a pair; a is 0."""
    rating = dict(zip("abcd", [0.0, *values], strict=True))
    total = 0.0
    for (first, second), tally in TALLIES.items():
        difference = rating[first] - rating[second]
        points, games = tally.points + 0.5, tally.games + 1
        total += points * math.log1p(math.exp(-difference))
        total += (games - points) * math.log1p(math.exp(difference))
    return total


def test_many_players_against_a_general_optimiser():
    best = optimize.minimize(likelihood, np.zeros(3), method="BFGS", tol=1e-10)
    unit = 400 / math.log(10)
    expected = dict(zip("abcd", [0.0, *(best.x * unit)], strict=True))
    step = 1e-4
    hessian = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            di, dj = np.eye(3)[i] * step, np.eye(3)[j] * step
            hessian[i, j] = (
                likelihood(best.x + di + dj)
                - likelihood(best.x + di - dj)
                - likelihood(best.x - di + dj)
                + likelihood(best.x - di - dj)
            ) / (4 * step * step)
    errors = dict(zip("bcd", np.sqrt(np.diag(np.linalg.inv(hessian))), strict=True))

    ratings = elo.fit_ratings(TALLIES, anchor="a", anchor_elo=1000)
    assert len(ratings) == 4
    for rating in ratings:
        value = rating.elo.estimate
        assert value == pytest.approx(1000 + expected[rating.name], abs=0.05)
        half = 1.959964 * errors.get(rating.name, 0.0) * unit
        assert rating.elo.high - value == pytest.approx(half, abs=0.05)
        assert value - rating.elo.low == pytest.approx(half, abs=0.05)
    order = [rating.elo.estimate for rating in ratings]
    assert order == sorted(order, reverse=True)


def test_without_an_anchor_the_mean_is_fixed():
    ratings = elo.fit_ratings(TALLIES, anchor_elo=50)
    assert np.mean([r.elo.estimate for r in ratings]) == pytest.approx(50)
    assert all(r.elo.low < r.elo.estimate < r.elo.high for r in ratings)


def test_the_prior_keeps_a_winner_finite():
    tallies = {("a", "b"): Tally(20, 0, 0)}
    with pytest.raises(ValueError, match="infinite without prior_draws"):
        elo.fit_ratings(tallies, prior_draws=0)
    ratings = elo.fit_ratings(tallies, anchor="b")
    # 20.5 points of 21.
    assert ratings[0].elo.estimate == pytest.approx(
        400 * math.log10(20.5 / 0.5), abs=0.1
    )


def test_players_that_no_game_connects():
    tallies = {("a", "b"): Tally(1, 0, 1), ("c", "d"): Tally(1, 0, 1)}
    with pytest.raises(ValueError, match="no games connect a, b with c, d"):
        elo.fit_ratings(tallies)
    with pytest.raises(ValueError, match="anchor 'z' has no games"):
        elo.fit_ratings(TALLIES, anchor="z")


def test_counting_games():
    games = [
        ("a", "b", 1),
        ("b", "a", 1),
        ("b", "a", -1),
        ("a", "b", 0),
        ("c", "a", -1),
    ]
    assert elo.tally_games(games) == {("a", "b"): (2, 1, 1), ("a", "c"): (1, 0, 0)}
    assert elo.tally_between(games, "b", "a") == (1, 1, 2)
    assert elo.tally_between(games, "b", "c").games == 0
