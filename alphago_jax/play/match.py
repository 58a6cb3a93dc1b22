"""Matches between two players, ours or external.

The protocol: rules are area scoring with positional superko and without suicide, komi
7.5; every pair of games has its own opening of random sensible plies and is played with
both colours; a seed for each game; the result is this project's area count of the board
as it stands when the game is over, so that players must take dead stones off before
they pass. Games where an external program counts otherwise are reported.
"""

import concurrent.futures
import dataclasses
import threading
from collections.abc import Iterator, Sequence

import jax
import jax.numpy as jnp

from alphago_jax import go
from alphago_jax.go.state import MOVE_LIMIT
from alphago_jax.play import counting
from alphago_jax.play.agents import Agent
from alphago_jax.play.lockstep import PlayedOut, play_both_ways
from alphago_jax.play.openings import make_openings, new_game
from alphago_jax.play.players import Contestant, Forfeit, Player
from alphago_jax.play.results import GameResult


@dataclasses.dataclass(frozen=True)
class MatchSettings:
    """What all games of a match have in common.

    Attributes:
      size: board side.
      games: number of games, even.
      komi: points for White.
      seed: of openings and players.
      shortest_opening: random plies at least.
      longest_opening: random plies at most.
      batch_pairs: pairs of games played at once when both players are agents. Another
        number gives other games.
    """

    size: int = 9
    games: int = 100
    komi: float = 7.5
    seed: int = 0
    shortest_opening: int = 2
    longest_opening: int = 6
    batch_pairs: int = 16

    def __post_init__(self) -> None:
        if self.games < 2 or self.games % 2:
            raise ValueError(
                f"the number of games must be even (colours are swapped), "
                f"got {self.games}"
            )
        if self.batch_pairs < 1:
            raise ValueError(f"batch_pairs must be at least 1, got {self.batch_pairs}")

    @property
    def rules(self) -> go.Rules:
        """Area scoring, positional superko, no suicide."""
        return go.Rules.cgos(komi=self.komi)


@dataclasses.dataclass(frozen=True)
class FinishedGame:
    """A result with its game.

    Attributes:
      result: how it ended.
      game: all its moves.
      num_random: plies of the opening, which nobody chose.
    """

    result: GameResult
    game: go.Game
    num_random: int


def play_match(
    first: Contestant,
    second: Contestant,
    settings: MatchSettings,
    *,
    skip: Sequence[int] = (),
    parallel: int = 1,
    timeout: float = 600.0,
) -> Iterator[FinishedGame]:
    """Plays a match.

    `first` is Black in even games, `second` in odd ones.

    Args:
      first: a player.
      second: the other; another name.
      settings: the match.
      skip: numbers of games that are played already.
      parallel: games at a time where a program takes part.
      timeout: seconds a program may take for a reply.

    Yields:
      Games as they end, not always in order.

    Raises:
      ValueError: if both have the same name.
      GtpProcessError: a program cannot be started.
    """
    if first.name == second.name:
        raise ValueError(f"both players are called {first.name!r}: give one a name=")
    openings = make_openings(
        settings.size,
        settings.rules,
        settings.games // 2,
        seed=settings.seed,
        shortest=settings.shortest_opening,
        longest=settings.longest_opening,
    )
    missing = sorted(set(range(settings.games)) - set(skip))
    if first.agent is not None and second.agent is not None:
        yield from _play_batches(
            (first, second), (first.agent, second.agent), settings, openings, missing
        )
        return
    stop = threading.Event()

    def play(number: int) -> FinishedGame:
        colours = (first, second) if number % 2 == 0 else (second, first)
        game = new_game(settings.size, settings.rules, openings[number // 2])
        # GNU Go takes seed 0 for "by the clock".
        seed = settings.seed + number + 1
        with (
            colours[0].sit_down(seed, timeout) as black,
            colours[1].sit_down(seed, timeout) as white,
        ):
            names = (colours[0].name, colours[1].name)
            return _play_game(number, names, (black, white), game, stop)

    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        futures = [pool.submit(play, number) for number in missing]
        try:
            for future in concurrent.futures.as_completed(futures):
                yield future.result()
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)


def _play_batches(
    pair: tuple[Contestant, Contestant],
    agents: tuple[Agent, Agent],
    settings: MatchSettings,
    openings: list[tuple[int, ...]],
    missing: list[int],
) -> Iterator[FinishedGame]:
    """Games between agents, some pairs at a time; a batch is played whole."""
    rng_key = jax.random.key(settings.seed)
    wanted = set(missing)
    for start in range(0, len(openings), settings.batch_pairs):
        numbers = range(start, min(start + settings.batch_pairs, len(openings)))
        if not any(2 * k in wanted or 2 * k + 1 in wanted for k in numbers):
            continue
        games = [new_game(settings.size, settings.rules, openings[k]) for k in numbers]
        # A short last batch is filled up, so that nothing is compiled for it alone.
        rows = [games[k % len(games)] for k in range(settings.batch_pairs)]
        states = jax.tree.map(
            lambda *leaves: jnp.stack(leaves), *(game.state for game in rows)
        )
        batch_key = jax.random.fold_in(rng_key, start)
        halves = play_both_ways(*agents, states, batch_key)
        for row, k in enumerate(numbers):
            for half in range(2):
                # `agents[half]` moved first after the opening, so it is Black if the
                # opening was even.
                black = half if len(openings[k]) % 2 == 0 else 1 - half
                number = 2 * k + black
                if number in wanted:
                    opening = openings[k]
                    names = (pair[black].name, pair[1 - black].name)
                    yield _finished(number, names, settings, opening, halves[half], row)


def _finished(
    number: int,
    names: tuple[str, str],
    settings: MatchSettings,
    opening: tuple[int, ...],
    played: PlayedOut,
    row: int,
) -> FinishedGame:
    """One game of a batch, as a record."""
    game = new_game(settings.size, settings.rules, opening)
    for action in played.actions[row]:
        game.play(action)
    margin = float(played.margins[row])
    reason = "score" if played.over_by_passes[row] else "move limit"
    winner = (margin > 0) - (margin < 0)
    if played.no_result[row]:
        winner, reason = 0, "no result"
    result = GameResult(
        number, names[0], names[1], winner, margin, reason, len(game.moves)
    )
    return FinishedGame(result, game, len(opening))


class MatchStopped(Exception):
    """The match was given up while this game went on."""


def _play_game(
    number: int,
    names: tuple[str, str],
    players: tuple[Player, Player],
    game: go.Game,
    stop: threading.Event,
) -> FinishedGame:
    """One game with external programs. `players` and `names` are (Black, White)."""
    num_random = len(game.moves)
    ending = _play_moves(players, game, stop)
    if ending is not None:
        winner, reason = ending
        result = GameResult(
            number, names[0], names[1], winner, None, reason, len(game.moves)
        )
        return FinishedGame(result, game, num_random)
    margin = counting.margin(game.state)
    limit = int(game.state.position.status) == MOVE_LIMIT
    opinions = zip(names, (player.own_score() for player in players), strict=True)
    own_scores = {name: text for name, text in opinions if text is not None}
    no_result = go.is_no_result(game.state)
    result = GameResult(
        number,
        names[0],
        names[1],
        0 if no_result else (margin > 0) - (margin < 0),
        margin,
        "no result" if no_result else "move limit" if limit else "score",
        len(game.moves),
        own_scores,
        any(parse_score(text) != margin for text in own_scores.values()),
    )
    return FinishedGame(result, game, num_random)


def _play_moves(
    players: tuple[Player, Player], game: go.Game, stop: threading.Event
) -> tuple[int, str] | None:
    """Plays until the game is over.

    Returns:
      None, or winner and reason if somebody resigned or forfeited.
    """
    by_colour = {1: players[0], -1: players[1]}
    for colour, player in by_colour.items():
        try:
            player.begin(game)
        except Forfeit as fault:
            return -colour, f"forfeit at the start: {fault}"
    while not game.is_over:
        if stop.is_set():
            raise MatchStopped
        colour = game.to_play
        try:
            action = by_colour[colour].choose(game, colour)
            if action is None:
                return -colour, "resignation"
            game.play(action)
        except (Forfeit, go.IllegalMoveError) as fault:
            return -colour, f"forfeit: {fault}"
        try:
            by_colour[-colour].observe(game, game.moves[-1])
        except Forfeit as fault:
            return colour, f"forfeit: {fault}"
    return None


def parse_score(text: str) -> float | None:
    """Black − White of a score such as "W+7.5" or "0"; None if it is none.

    >>> parse_score("W+7.5"), parse_score("0"), parse_score("B+R")
    (-7.5, 0.0, None)
    """
    side, plus, points = text.strip().partition("+")
    try:
        if not plus:
            return 0.0 if float(side) == 0 else None
        return {"B": 1.0, "W": -1.0}[side.upper()] * float(points)
    except (KeyError, ValueError):
        return None
