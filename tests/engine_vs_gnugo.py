"""Plays the engine beside GNU Go under equal rules and lists every difference."""

import collections
import dataclasses
import random

import jax
import jax.numpy as jnp
import numpy as np
from engine_vs_oracle import compiled
from gnugo_client import GnuGo

from alphago_jax import go
from alphago_jax.go import coords
from alphago_jax.play.external import find_gnugo

GTP_COLOURS = {1: "black", -1: "white"}
SIZES = (5, 7, 9, 13, 19)
RULES = [
    (go.Rules(ko=ko, suicide=suicide), ko_flag, suicide_flag)
    for ko, ko_flag in (
        ("simple", "--simple-ko"),
        ("positional", "--positional-superko"),
        ("situational", "--situational-superko"),
    )
    for suicide, suicide_flag in (
        (False, "--forbid-suicide"),
        (True, "--allow-suicide"),
    )
]


@dataclasses.dataclass
class Found:
    """What a batch of games compared."""

    plies_by_rules: collections.Counter
    captured: int = 0
    mismatches: list[str] = dataclasses.field(default_factory=list)


def play_batch(rng: random.Random, *, sizes=SIZES, max_plies: int = 200) -> Found:
    """One game on a random board under each rule set."""
    program = find_gnugo()
    assert program is not None, "GNU Go is not installed"
    found = Found(collections.Counter())
    for rules, *flags in RULES:
        with GnuGo(program, "--chinese-rules", *flags) as peer:
            _play(peer, rules, rng.choice(sizes), rng, max_plies, found)
    return found


def _play(peer, rules, size, rng, max_plies, found) -> None:
    advance, look, _ = compiled()
    scope = go.Scope(superko=True, suicide=True)
    state = go.init(size, rules=rules, scope=scope, move_limit=2 * size * size)
    states = jax.tree.map(lambda leaf: leaf[None], state)
    facts = jax.tree.map(lambda v: np.asarray(v)[0], look(states))
    peer.ask(f"boardsize {size}", "clear_board")
    name = f"{rules.ko}, {'suicide' if rules.suicide else 'no suicide'}"
    for _ in range(max_plies):
        if facts["is_over"]:
            break
        differences = _compare(peer, size, facts, rng, rules.suicide)
        if differences:
            drawn = go.to_diagram(jax.tree.map(lambda leaf: leaf[0], states))
            found.mismatches.append(f"{name}, {size}×{size}\n{drawn}\n{differences}")
        action = _choose(facts, size, rng)
        colour = GTP_COLOURS[int(facts["to_play"])]
        peer.ask(f"play {colour} {coords.action_to_vertex(action, size)}")
        states, now = advance(states, jnp.asarray([action], jnp.int32))
        facts = jax.tree.map(lambda v: np.asarray(v)[0], now)
        found.plies_by_rules[name] += 1
    found.captured += int(facts["prisoners"].sum())


def _choose(facts, size, rng) -> int:
    """A random move, mostly into the enemy's liberties, so that stones come off."""
    legal = np.flatnonzero(facts["legal_actions"][:-1])
    if len(legal) == 0 or rng.random() < 0.02:
        return size * size
    stones = facts["stones"].reshape(size, size)
    short = np.pad((stones != 0) & (facts["liberties"].reshape(size, size) <= 2), 1)
    near = short[:-2, 1:-1] | short[2:, 1:-1] | short[1:-1, :-2] | short[1:-1, 2:]
    tense = legal[near.reshape(-1)[legal]]
    return int(rng.choice(tense if len(tense) and rng.random() < 0.7 else legal))


def _vertices(actions, size) -> set[str]:
    return {coords.action_to_vertex(int(a), size) for a in actions}


def _compare(peer, size, facts, rng, suicide) -> dict[str, object]:
    stones = facts["stones"]
    points = np.flatnonzero(stones)
    some = [int(p) for p in rng.sample(points.tolist(), min(6, len(points)))]
    legal, by_black, by_white, black, white, *counts = peer.ask(
        f"all_legal {GTP_COLOURS[int(facts['to_play'])]}",
        "captures black",
        "captures white",
        "list_stones black",
        "list_stones white",
        *(f"countlib {coords.action_to_vertex(p, size)}" for p in some),
    )
    mine = _vertices(np.flatnonzero(facts["legal_actions"][:-1]), size)
    only_theirs = set(legal) - mine - {"PASS"}
    if suicide:
        # GNU Go 3.8 does not see a position that a suicide of several stones repeats.
        only_theirs = {v for v in only_theirs if not _is_suicide(v, size, facts)}
    pairs = {
        "prisoners": (
            facts["prisoners"].tolist(),
            [int(by_black[0]), int(by_white[0])],
        ),
        "black": (_vertices(np.flatnonzero(stones == 1), size), set(black)),
        "white": (_vertices(np.flatnonzero(stones == -1), size), set(white)),
        "liberties": (
            [int(facts["liberties"][p]) for p in some],
            [int(c[0]) for c in counts],
        ),
        "legal for us only": (mine - set(legal), set()),
        "legal for GNU Go only": (only_theirs, set()),
    }
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _is_suicide(vertex, size, facts) -> bool:
    """Whether a move takes nothing and leaves its own chain without a liberty."""
    point = coords.vertex_to_action(vertex, size)
    row, column = divmod(point, size)
    for r, c in (
        (row - 1, column),
        (row + 1, column),
        (row, column - 1),
        (row, column + 1),
    ):
        if 0 <= r < size and 0 <= c < size:
            stone, atari = facts["stones"][r * size + c], facts["atari"][r * size + c]
            if stone == 0 or (stone == facts["to_play"]) != atari:
                return False
    return True
