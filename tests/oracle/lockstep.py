"""Random games with every fact at every ply, to compare another engine with.

`play_games` plays a batch of games side by side and yields one list of `Facts` a
ply, so that an engine that steps a batch at once can follow:

    for facts in play_games(specs, max_plies=200):
        actions = [f.action for f in facts]  # None at the first ply
        ...  # step the other engine, compare with the rest of the facts

A game that is over stays in the batch with a pass as its action and unchanged facts.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable, Iterator, Sequence

from .engine import Oracle, Rules
from .grid import parse
from .scoring import Score

Chooser = Callable[[Oracle, Sequence[bool], random.Random], int]


@dataclasses.dataclass(frozen=True)
class Facts:
    """Everything the rules say after one action; points are row-major."""

    action: int | None  # the action that led here; None for the set-up
    stones: tuple[int, ...]  # [N*N], +1 Black, -1 White, 0 empty
    to_play: int
    legal_actions: tuple[bool, ...]  # [N*N + 1], all False when over
    ko_point: int | None  # under simple ko only
    liberties: tuple[int, ...]  # [N*N], of the chain on the point, 0 where empty
    prisoners: tuple[int, int]  # taken by Black, taken by White
    is_over: bool
    no_result: bool
    score: Score | None  # when the game is over; dead stones by rule


@dataclasses.dataclass(frozen=True)
class GameSpec:
    """One game to be played: its board, rules, way of choosing, and seed."""

    size: int
    rules: Rules
    chooser: str = "uniform"  # a key of CHOOSERS
    seed: int = 0
    black: tuple[int, ...] = ()
    white: tuple[int, ...] = ()
    to_play: int = 1
    pass_rate: float = 0.02  # a pass is chosen this often before any other move

    def start(self) -> Oracle:
        """The game before its first move."""
        return Oracle(
            self.size,
            self.rules,
            black=self.black,
            white=self.white,
            to_play=self.to_play,
        )


def facts_of(game: Oracle, action: int | None = None) -> Facts:
    """The facts of a game after `action`."""
    return Facts(
        action=action,
        stones=tuple(game.stones),
        to_play=game.to_play,
        legal_actions=tuple(game.legal_actions()),
        ko_point=game.ko_point,
        liberties=tuple(game.liberties()),
        prisoners=(game.captures[1], game.captures[-1]),
        is_over=game.is_over,
        no_result=game.no_result,
        score=game.score() if game.is_over else None,
    )


def _board_moves(game: Oracle, legal: Sequence[bool]) -> list[int]:
    return [p for p in range(game.pass_action) if legal[p]]


def _pick(rng: random.Random, moves: Sequence[int], otherwise: int) -> int:
    return rng.choice(moves) if moves else otherwise


def is_own_eye(game: Oracle, point: int) -> bool:
    """Whether every point next to an empty point has a stone of the mover."""
    return all(game.stones[q] == game.to_play for q in game.neighbours[point])


def uniform(game: Oracle, legal: Sequence[bool], rng: random.Random) -> int:
    """Any legal board move; a pass if there is none."""
    return _pick(rng, _board_moves(game, legal), game.pass_action)


def sensible(game: Oracle, legal: Sequence[bool], rng: random.Random) -> int:
    """Any legal board move that does not fill a single-point eye of the mover."""
    moves = [p for p in _board_moves(game, legal) if not is_own_eye(game, p)]
    return _pick(rng, moves, game.pass_action)


def capturing(game: Oracle, legal: Sequence[bool], rng: random.Random) -> int:
    """Mostly captures and moves beside chains with few liberties."""
    moves = _board_moves(game, legal)
    if rng.random() < 0.85:
        captures = [p for p in moves if game.effect(p).captured]
        if captures:
            return rng.choice(captures)
        short = {
            p
            for chain in game.chain_at
            if chain and len(chain.liberties) <= 2
            for p in chain.liberties
        }
        moves = [p for p in moves if p in short] or moves
    return _pick(rng, moves, game.pass_action)


def ko_fighting(game: Oracle, legal: Sequence[bool], rng: random.Random) -> int:
    """Mostly captures of one or two stones, then throw-ins, so that boards recur."""
    moves = _board_moves(game, legal)
    if rng.random() < 0.9:
        takes = [p for p in moves if 1 <= len(game.effect(p).captured) <= 2]
        if takes:
            return rng.choice(takes)
        # A stone that stands on its own with at most one liberty left.
        throw_ins = [
            p
            for p in moves
            if not is_own_eye(game, p)
            and sum(game.stones[q] == 0 for q in game.neighbours[p]) <= 1
            and len(game.effect(p).chain) <= 2
        ]
        moves = throw_ins or moves
    return _pick(rng, moves, game.pass_action)


def repeating(game: Oracle, legal: Sequence[bool], rng: random.Random) -> int:
    """Moves that make a board that was there before, else as `ko_fighting`."""
    if rng.random() < 0.9:
        again = [
            p
            for p in _board_moves(game, legal)
            if game.position_after(p, game.effect(p)) in game.positions
        ]
        if again:
            return rng.choice(again)
    return ko_fighting(game, legal, rng)


CHOOSERS: dict[str, Chooser] = {
    "uniform": uniform,
    "sensible": sensible,
    "capturing": capturing,
    "ko_fighting": ko_fighting,
    "repeating": repeating,
}


def play_game(spec: GameSpec) -> Iterator[Facts]:
    """The facts of one game: the set-up, each action, and, over, the same for ever."""
    rng = random.Random(f"{spec.seed} {spec.size} {spec.chooser}")
    game = spec.start()
    facts = facts_of(game)
    yield facts
    while not game.is_over:
        action = game.pass_action
        if rng.random() >= spec.pass_rate:
            action = CHOOSERS[spec.chooser](game, facts.legal_actions, rng)
        game.play(action)
        facts = facts_of(game, action)
        yield facts
    yield from itertools.repeat(dataclasses.replace(facts, action=game.pass_action))


def play_games(specs: Sequence[GameSpec], *, max_plies: int) -> Iterator[list[Facts]]:
    """Plays games side by side until all are over or `max_plies` were played."""
    games = [play_game(spec) for spec in specs]
    for _ in range(max_plies + 1):
        facts = [next(game) for game in games]
        yield facts
        if all(f.is_over for f in facts):
            return


def all_rules(*, komi: float = 7.5) -> list[Rules]:
    """Every combination of ko, suicide, scoring, tax and button: 72 rule sets.

    The handicap bonus changes from one to the next; friendly pass is left out, as
    it changes neither legality nor counting.
    """
    bonuses = itertools.cycle(("zero", "n-1", "n", "zero", "n"))
    return [
        Rules(*choice[:3], komi, *choice[3:], next(bonuses))
        for choice in itertools.product(
            ("simple", "positional", "situational"),
            (False, True),
            ("area", "territory"),
            ("none", "seki", "all"),
            (False, True),
        )
    ]


def random_specs(
    count: int, *, size: int, rules: Sequence[Rules], seed: int
) -> list[GameSpec]:
    """Games over the rule sets and choosers in turn, half of them from a set-up."""
    rng = random.Random(f"{seed} {size} {count}")
    specs, choosers = [], list(CHOOSERS)
    for number in range(count):
        black, white, to_play = (), (), 1
        if number % 4 == 1:
            black, white = _random_set_up(size, rng)
            to_play = rng.choice((1, -1))
        elif number % 4 == 3:
            stones = rng.randrange(size * size // 2 + 1)
            black, to_play = tuple(rng.sample(range(size * size), stones)), -1
        specs.append(
            GameSpec(
                size=size,
                rules=rules[number % len(rules)],
                chooser=choosers[(number + number // len(rules)) % len(choosers)],
                seed=rng.randrange(2**32),
                black=black,
                white=white,
                to_play=to_play,
                pass_rate=rng.choice((0.0, 0.02, 0.1)),
            )
        )
    return specs


def drawn_specs(
    drawings: Sequence[str], *, rules: Sequence[Rules], seed: int
) -> list[GameSpec]:
    """Games from drawn boards under every rule set, by the two ko-minded choosers.

    Boards with several kos give the triple kos and the endless cycles that random
    games from the empty board seldom reach.
    """
    specs = []
    for drawing, rule_set in itertools.product(drawings, rules):
        size, black, white = parse(drawing)
        specs.append(
            GameSpec(
                size=size,
                rules=rule_set,
                chooser=("ko_fighting", "repeating")[len(specs) % 2],
                seed=seed + len(specs),
                black=tuple(black),
                white=tuple(white),
                pass_rate=0.02,
            )
        )
    return specs


def _random_set_up(
    size: int, rng: random.Random
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The stones of a short random game, so that every chain has a liberty."""
    game = Oracle(size)
    for _ in range(rng.randrange(1, size * size + 1)):
        game.play(sensible(game, game.legal_actions(), rng))
        if game.is_over:
            break
    points = range(game.pass_action)
    return (
        tuple(p for p in points if game.stones[p] == 1),
        tuple(p for p in points if game.stones[p] == -1),
    )
