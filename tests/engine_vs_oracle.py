"""Plays the engine beside the oracle and lists every difference.

Used by `tests/go/test_lockstep.py` (a slice) and `experiments/verify_engine.py` (as
long as you like).
"""

import collections
import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracle
from oracle import lockstep
from oracle import scoring as oracle_scoring
from oracle.grid import neighbours_of

from alphago_jax import go
from alphago_jax.go import chains as chains_lib
from alphago_jax.go import mailbox, pass_alive, scoring

FULL_SCOPE = go.Scope(superko=True, suicide=True, territory=True)


def rules_of(rules: lockstep.Rules) -> go.Rules:
    """The engine's rules with the oracle's switches."""
    return go.Rules(**dataclasses.asdict(rules))


def embed(points, board_size: int, size: int) -> list[int]:
    """Points of a board as points of larger arrays."""
    return [p // board_size * size + p % board_size for p in points]


@functools.cache
def _blank(size: int, board_size: int, scope: go.Scope) -> go.GoState:
    rules = go.Rules(ko="simple", suicide=False)
    limit = max(2 * size * size + 1, 200)
    return go.init(
        size, rules=rules, board_size=board_size, scope=scope, move_limit=limit
    )


def start(spec: lockstep.GameSpec, size: int, scope: go.Scope) -> go.GoState:
    """The engine's state for a game, in arrays of side `size`."""
    state = _blank(size, spec.size, scope).replace(
        rules=rules_of(spec.rules).data(spec.size, scope)
    )
    if not (spec.black or spec.white) and spec.to_play == 1:
        return state
    black = embed(spec.black, spec.size, size)
    white = embed(spec.white, spec.size, size)
    # The two sides count handicap stones by different defaults: give the number.
    return go.set_up(state, black, white, spec.to_play, handicap=spec.start().handicap)


def liberties(state: go.GoState) -> jax.Array:
    """Liberties of the chain on each point, 0 where there is none. int32 [N²]."""
    board, size = state.position.chains, state.position.size

    def of_cell(cell):
        label = board[cell]
        count = chains_lib.liberty_counts(board, [label], size)[0]
        return jnp.where(chains_lib.is_stone(label), count, 0)

    return jax.vmap(of_cell)(jnp.asarray(mailbox.cells_of_points(size)))


def facts_of(state: go.GoState) -> dict[str, jax.Array]:
    """What the engine says about a state; the names are those of `lockstep.Facts`."""
    atari = mailbox.to_points(
        chains_lib.in_atari(state.position.chains), state.position.size
    )
    return {
        "stones": go.stones(state).reshape(-1),
        "to_play": go.to_play(state),
        "legal_actions": go.legal_actions(state),
        "ko_point": state.position.ko_point,
        "liberties": liberties(state),
        "atari": atari.reshape(-1),
        "prisoners": state.position.prisoners[::-1],
        "is_over": go.is_over(state),
        "no_result": go.is_no_result(state),
        "earlier": mailbox.unpack_rows(state.position.earlier),
    }


def scores_of(state: go.GoState) -> dict[str, jax.Array]:
    """Score and pass-alive sets of a state."""
    score, alive = scoring.score(state), pass_alive.pass_alive(state)
    return {
        "black": score.black,
        "white": score.white,
        "margin": score.margin,
        "ownership": score.ownership.reshape(-1),
        "alive": alive.stones,
        "territory": alive.territory,
    }


@functools.cache
def compiled():
    """Step with facts, facts, and scores, batched and compiled."""

    def advance(states, actions):
        states = jax.vmap(go.step)(states, actions)
        return states, jax.vmap(facts_of)(states)

    return (
        jax.jit(advance),
        jax.jit(jax.vmap(facts_of)),
        jax.jit(jax.vmap(scores_of)),
    )


class Comparison:
    """A batch of games on both sides.

    Attributes:
      mismatches: what differed, drawn, each with the game and its moves.
      plies: actions compared so far, those of finished games not counted.
      plies_by_rules: the same for each rule set.
    """

    def __init__(self, specs, size: int, scope: go.Scope = FULL_SCOPE) -> None:
        self.specs, self.size = list(specs), size
        self.advance, self.look, self.count = compiled()
        states = [start(spec, size, scope) for spec in self.specs]
        self.states = jax.tree.map(
            lambda *leaves: np.stack([np.asarray(v) for v in leaves]), *states
        )
        self.moves: list[list[int]] = [[] for _ in specs]
        self.button = [0] * len(self.specs)
        self.to_play = [spec.to_play for spec in self.specs]
        self.boards = [collections.deque(maxlen=7) for _ in specs]
        self.now: list[np.ndarray | None] = [None] * len(self.specs)
        self.over = [False] * len(self.specs)
        self.plies = self.scores = self.no_results = self.superko_bans = 0
        self.captured = 0
        self.plies_by_rules: collections.Counter[str] = collections.Counter()
        self.mismatches: list[str] = []

    def play(self, *, max_plies: int, score_every: int = 8) -> "Comparison":
        """Plays all games and compares everything after each action.

        Scores are compared every few plies and at the end; with 0 never.
        """
        games = lockstep.play_games(self.specs, max_plies=max_plies)
        facts = []
        for ply, facts in enumerate(games):
            if ply == 0:
                found = self.look(self.states)
            else:
                actions = [self._embedded(k, f.action) for k, f in enumerate(facts)]
                self.states, found = self.advance(
                    self.states, jnp.asarray(actions, jnp.int32)
                )
                self._record(facts, actions)
            found = jax.tree.map(np.asarray, found)
            for k, expected in enumerate(facts):
                self._compare(k, expected, {n: v[k] for n, v in found.items()})
            if score_every and ply % score_every == score_every - 1:
                self._compare_scores(facts)
        if score_every:
            self._compare_scores(facts)
        self.no_results += sum(f.no_result for f in facts)
        self.captured += sum(sum(f.prisoners) for f in facts)
        return self

    def _embedded(self, k: int, action: int) -> int:
        board_size = self.specs[k].size
        if action == board_size**2:
            return self.size**2
        return embed([action], board_size, self.size)[0]

    def _record(self, facts, actions) -> None:
        for k, action in enumerate(actions):
            if self.over[k]:
                continue
            self.plies += 1
            self.plies_by_rules[_name(self.specs[k].rules)] += 1
            self.moves[k].append(action)
            if action == self.size**2 and self.button[k] == 0:
                self.button[k] = -facts[k].to_play
            self.boards[k].appendleft(self.now[k])

    def _grid(self, k: int, values, fill=0) -> np.ndarray:
        """The oracle's values for points in the engine's arrays."""
        n = self.specs[k].size
        grid = np.full((self.size, self.size), fill)
        grid[:n, :n] = np.asarray(values).reshape(n, n)
        return grid.reshape(-1)

    def _compare(self, k: int, expected, found) -> None:
        spec = self.specs[k]
        n = spec.size
        libs = self._grid(k, expected.liberties)
        stones = self._grid(k, expected.stones)
        legal = np.append(
            self._grid(k, expected.legal_actions[:-1], False),
            expected.legal_actions[-1],
        )
        wanted = {
            "stones": stones,
            "to_play": expected.to_play,
            "legal_actions": legal,
            "liberties": libs,
            "atari": libs == 1,
            "prisoners": expected.prisoners,
            "is_over": expected.is_over,
            "no_result": expected.no_result,
        }
        if not expected.is_over and spec.rules.ko == "simple":
            ko = expected.ko_point
            wanted["ko_point"] = -1 if ko is None else embed([ko], n, self.size)[0]
        if expected.is_over:
            # The oracle goes on counting turns; a finished game here stands still.
            del wanted["to_play"]
        self._boards_seen(k, stones)
        wanted["earlier"] = self._earlier(k)
        for name, value in wanted.items():
            if not np.array_equal(found[name], value):
                self._report(k, name, found[name], value)
        self.over[k] = expected.is_over

    def _boards_seen(self, k: int, stones: np.ndarray) -> None:
        if self.now[k] is None:
            self.boards[k].extend([stones] * 7)
        self.now[k] = stones

    def _earlier(self, k: int) -> np.ndarray:
        boards = np.stack(list(self.boards[k])).reshape(7, self.size, self.size)
        return np.stack([boards == 1, boards == -1], axis=1)

    def _compare_scores(self, facts) -> None:
        found = jax.tree.map(np.asarray, self.count(self.states))
        for k, fact in enumerate(facts):
            spec = self.specs[k]
            neighbours = neighbours_of(spec.size)
            expected = oracle_scoring.score(
                fact.stones,
                neighbours,
                spec.rules,
                prisoners={1: fact.prisoners[0], -1: fact.prisoners[1]},
                handicap=spec.start().handicap,
                button_taker=self.button[k],
            )
            if fact.score is not None and fact.score != expected:
                self._report(k, "the oracle's own score", expected, fact.score)
            wanted = {
                "black": expected.black,
                "white": expected.white,
                "margin": expected.margin,
                "ownership": self._grid(k, expected.ownership),
            }
            sets = [
                oracle.pass_alive(
                    fact.stones, neighbours, colour, suicide=spec.rules.suicide
                )
                for colour in (1, -1)
            ]
            for i, name in enumerate(("alive", "territory")):
                masks = [np.isin(np.arange(spec.size**2), list(s[i])) for s in sets]
                grids = [self._grid(k, mask, False) for mask in masks]
                wanted[name] = np.stack(grids).reshape(2, self.size, self.size)
            for name, value in wanted.items():
                if not np.array_equal(found[name][k], value):
                    self._report(k, f"score {name}", found[name][k], value)
            self.scores += 1

    def _report(self, k: int, name: str, found, wanted) -> None:
        state = jax.tree.map(lambda leaf: leaf[k], self.states)
        self.mismatches.append(
            f"{name} differs in game {k}, ply {len(self.moves[k])}, {self.specs[k]}\n"
            f"moves {self.moves[k]}\n{go.to_diagram(state)}\n"
            f"engine: {np.asarray(found).tolist()}\n"
            f"oracle: {np.asarray(wanted).tolist()}"
        )


def _name(rules: lockstep.Rules) -> str:
    suicide = "suicide" if rules.suicide else "no suicide"
    button = ", button" if rules.button else ""
    return f"{rules.ko}, {suicide}, {rules.scoring}, tax {rules.tax}{button}"
