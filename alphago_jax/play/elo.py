"""Strength from results: win rates, Elo differences, and ratings of many players.

A difference of d Elo means an expected score of 1 / (1 + 10^(−d/400)), a draw counting
half (Elo 1978). Intervals are for 95 % unless told otherwise.
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import choix
import numpy as np
from scipy import stats
from scipy.sparse import csgraph

ELO_PER_UNIT = 400.0 / math.log(10.0)
"""Elo points in one unit of the Bradley–Terry model's natural logarithm."""


class Interval(NamedTuple):
    """An estimate with its confidence interval. Attributes: estimate, low, high."""

    estimate: float
    low: float
    high: float


class Tally(NamedTuple):
    """Games between two players. Attributes: wins, draws, losses of the first."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Wins and half the draws."""
        return self.wins + self.draws / 2


def win_rate(tally: Tally, *, confidence: float = 0.95) -> Interval:
    """Win rate with Wilson's score interval (Wilson 1927).

    Draws count half, for which the interval is too wide rather than too narrow.

    Args:
      tally: games of one pair of players.
      confidence: of the interval.

    Raises:
      ValueError: if there is no game.
    """
    n = tally.games
    if n == 0:
        raise ValueError("no games, so no win rate")
    z = float(stats.norm.ppf((1 + confidence) / 2))
    p = tally.points / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # At the ends a bound is exactly 0 or 1, but for rounding.
    low = 0.0 if p == 0 else centre - half
    high = 1.0 if p == 1 else centre + half
    return Interval(p, low, high)


def elo_from_rate(rate: float) -> float:
    """Elo difference of an expected score; ±∞ at 1 and 0."""
    if rate <= 0.0:
        return -math.inf
    if rate >= 1.0:
        return math.inf
    return ELO_PER_UNIT * math.log(rate / (1 - rate))


def elo_difference(tally: Tally, *, confidence: float = 0.95) -> Interval:
    """Elo difference of two players, from the win rate and its Wilson interval.

    The estimate is ±∞ after a whitewash; the nearer bound is finite.

    Raises:
      ValueError: if there is no game.
    """
    return Interval(*(elo_from_rate(x) for x in win_rate(tally, confidence=confidence)))


class Rating(NamedTuple):
    """A player's place on the scale.

    Attributes:
      name: the player.
      elo: rating with its interval, relative to the anchor.
      games: games played.
      points: wins and half the draws.
    """

    name: str
    elo: Interval
    games: int
    points: float


def fit_ratings(
    tallies: Mapping[tuple[str, str], Tally],
    *,
    anchor: str | None = None,
    anchor_elo: float = 0.0,
    prior_draws: float = 1.0,
    confidence: float = 0.95,
) -> list[Rating]:
    """Ratings of all players on one scale, by the Bradley–Terry model.

    The maximum-likelihood fit is choix's (iterative Luce spectral ranking, Maystre and
    Grossglauser 2015), intervals come from the curvature of the likelihood there
    (Fisher information).

    Args:
      tallies: games of every pair (first, second); a pair may occur both ways round.
      anchor: player whose rating is fixed; its interval is a point, the others' are
        differences from it. Without one, the mean of all ratings is fixed.
      anchor_elo: rating of the anchor, or the mean.
      prior_draws: imaginary draws added to every pair that has met. They keep a
        player without a loss at a finite rating; 0 is the plain likelihood.
      confidence: of the intervals.

    Returns:
      The players, the strongest first.

    Raises:
      ValueError: no games, an unknown anchor, players that no chain of games connects,
        or no finite fit without `prior_draws`.
    """
    names = sorted({name for pair in tallies for name in pair})
    played, points = _tables(tallies, names)
    if not played.any():
        raise ValueError("no games, so no ratings")
    if anchor is not None and anchor not in names:
        raise ValueError(f"anchor {anchor!r} has no games; players: {', '.join(names)}")
    _check_connected(played, names)
    draws = prior_draws * (played > 0)
    _check_finite(points + draws / 2, names)
    logits = np.asarray(choix.ilsr_pairwise_dense(points + draws / 2, max_iter=1000))
    index = None if anchor is None else names.index(anchor)
    shift = logits.mean() if index is None else logits[index]
    errors = _standard_errors(played + draws, logits, index)
    z = float(stats.norm.ppf((1 + confidence) / 2))
    ratings = []
    for k, name in enumerate(names):
        elo = anchor_elo + ELO_PER_UNIT * float(logits[k] - shift)
        half = ELO_PER_UNIT * z * float(errors[k])
        interval = Interval(elo, elo - half, elo + half)
        games, scored = int(played[k].sum()), float(points[k].sum())
        ratings.append(Rating(name, interval, games, scored))
    return sorted(ratings, key=lambda rating: -rating.elo.estimate)


def _tables(
    tallies: Mapping[tuple[str, str], Tally], names: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Games of every pair and points of the row's player. float64 [n, n] twice."""
    played = np.zeros((len(names), len(names)))
    points = np.zeros_like(played)
    for (first, second), tally in tallies.items():
        if first == second:
            continue
        i, j = names.index(first), names.index(second)
        played[i, j] += tally.games
        played[j, i] += tally.games
        points[i, j] += tally.points
        points[j, i] += tally.games - tally.points
    return played, points


def _check_connected(played: np.ndarray, names: list[str]) -> None:
    count, labels = csgraph.connected_components(played, directed=False)
    if count > 1:
        groups = [
            ", ".join(n for n, g in zip(names, labels, strict=True) if g == k)
            for k in range(count)
        ]
        raise ValueError(f"no games connect {' with '.join(groups)}")


def _check_finite(points: np.ndarray, names: list[str]) -> None:
    """A finite fit needs a chain of wins from every player to every other."""
    count, _ = csgraph.connected_components(points, connection="strong")
    if count > 1:
        raise ValueError(
            f"some of {', '.join(names)} won or lost every game against the others: "
            "their ratings are infinite without prior_draws"
        )


def _standard_errors(
    played: np.ndarray, logits: np.ndarray, anchor: int | None
) -> np.ndarray:
    """Standard errors of the logits, relative to the anchor or the mean. [n]."""
    p = 1 / (1 + np.exp(logits[None, :] - logits[:, None]))
    weights = played * p * (1 - p)
    information = np.diag(weights.sum(axis=1)) - weights
    if anchor is None:
        covariance = np.linalg.pinv(information)
    else:
        rest = [k for k in range(len(logits)) if k != anchor]
        covariance = np.zeros_like(information)
        covariance[np.ix_(rest, rest)] = np.linalg.inv(information[np.ix_(rest, rest)])
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))


def tally_games(
    games: Iterable[tuple[str, str, float]],
) -> dict[tuple[str, str], Tally]:
    """Counts games by pair of players.

    Args:
      games: (black, white, winner): +1 Black won, −1 White won, 0 a draw.

    Returns:
      Tallies by (first, second) in alphabetical order.
    """
    counts: dict[tuple[str, str], list[int]] = {}
    for black, white, winner in games:
        first, second = sorted((black, white))
        result = winner if first == black else -winner
        place = 1 if result == 0 else (0 if result > 0 else 2)
        counts.setdefault((first, second), [0, 0, 0])[place] += 1
    return {pair: Tally(*count) for pair, count in counts.items()}


def tally_between(
    games: Iterable[tuple[str, str, float]], first: str, second: str
) -> Tally:
    """Counts the games of two players, seen by the first.

    Args:
      games: as for `tally_games`.
      first: a player.
      second: the other.
    """
    tallies = tally_games(games)
    pair = (min(first, second), max(first, second))
    tally = tallies.get(pair, Tally(0, 0, 0))
    return tally if pair[0] == first else Tally(*reversed(tally))
