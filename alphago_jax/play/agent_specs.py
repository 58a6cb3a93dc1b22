"""Players as people name them on a command line.

| text | player |
|---|---|
| `random` | uniform over sensible moves |
| `policy:PATH` | the policy of a saved network, without search |
| `policy:NAME` | the same, of a network that ships with the package |
| `policy:PATH,temperature=0.5,symmetries=all` | with options |
| `gnugo:LEVEL` | GNU Go as the reference opponent, level 1 to 10 |
| `gtp:COMMAND` | any program that speaks GTP |
| `NAME=…` | any of these under another name |
"""

import dataclasses
import functools
import re
import shlex
from collections.abc import Callable
from typing import Any, get_args

import jax

from alphago_jax import features, networks
from alphago_jax.checkpoint import NetworkMetadata
from alphago_jax.play.agents import Agent, policy_agent, random_agent
from alphago_jax.play.evaluator import Symmetries, make_evaluator
from alphago_jax.play.external import gnugo_command
from alphago_jax.play.players import Contestant

_KINDS = ("random", "policy", "gnugo", "gtp")
_NAMED = re.compile(rf"([\w.+-]+)=((?:{'|'.join(_KINDS)})(?::.*)?)", re.DOTALL)
_POLICY_OPTIONS = ("temperature", "symmetries")


@dataclasses.dataclass(frozen=True)
class AgentSpec:
    """A player's name in parts.

    Attributes:
      name: what result tables call it.
      kind: "random", "policy", "gnugo" or "gtp".
      target: path, level or command, "" if there is none.
      options: of a policy: temperature, symmetries.
    """

    name: str
    kind: str
    target: str = ""
    options: dict[str, str] = dataclasses.field(default_factory=dict)


def parse_agent(text: str) -> AgentSpec:
    """Reads a player's name.

    Raises:
      ValueError: with what is wrong and what there is.
    """
    named = _NAMED.fullmatch(text.strip())
    name, body = named.groups() if named else (text.strip(), text.strip())
    kind, _, target = body.partition(":")
    if kind not in _KINDS:
        raise ValueError(
            f"no player {text!r}; there are: random, policy:PATH, gnugo:LEVEL, "
            "gtp:COMMAND"
        )
    options = {}
    if kind == "policy":
        target, *assignments = target.split(",")
        options = dict(_read_option(text, item) for item in assignments)
    if bool(target) == (kind == "random"):
        raise ValueError(f"{text!r}: {_hint(kind)}")
    if kind == "gnugo" and not (target.isdigit() and 1 <= int(target) <= 10):
        raise ValueError(f"{text!r}: the level of GNU Go is 1 to 10")
    return AgentSpec(name, kind, target, options)


def _hint(kind: str) -> str:
    hints = {
        "random": "random takes no argument",
        "policy": "give the path of a network, policy:PATH",
        "gnugo": "give a level, gnugo:10",
        "gtp": "give a command line, gtp:COMMAND",
    }
    return hints[kind]


def _read_option(text: str, item: str) -> tuple[str, str]:
    key, _, value = item.partition("=")
    if key not in _POLICY_OPTIONS:
        raise ValueError(
            f"{text!r}: no option {key!r}; there are: {', '.join(_POLICY_OPTIONS)}"
        )
    return key, value


def agent_factory(spec: AgentSpec) -> Callable[[int], Agent]:
    """A function from board side to agent; it reads the network at once.

    Args:
      spec: of one of our agents.

    Returns:
      `make(size)`; raises `ValueError` for a board that the network was not made for.

    Raises:
      ValueError: for a program, which is no agent, or a network that cannot be read.
    """
    if spec.kind == "random":
        return lambda size: random_agent(spec.name)
    if spec.kind != "policy":
        raise ValueError(f"{spec.name} is a program of its own, not one of our agents")
    try:
        temperature = float(spec.options.get("temperature", "0"))
    except ValueError:
        raise ValueError(f"{spec.name}: the temperature is a number") from None
    symmetries: Any = spec.options.get("symmetries", "none")
    if symmetries not in get_args(Symmetries):
        known = ", ".join(get_args(Symmetries))
        raise ValueError(f"{spec.name}: symmetries must be one of {known}")
    metadata, variables = _load(spec.target)

    def make(size: int) -> Agent:
        network = network_for_size(metadata, variables, size)
        planes_fn = features.get(metadata.planes or network.planes).planes
        evaluator = make_evaluator(network, planes_fn, symmetries=symmetries)
        return policy_agent(spec.name, evaluator, variables, temperature=temperature)

    return make


def trained_size(spec: AgentSpec) -> int | None:
    """Board side that a player's network was trained on; None without a network."""
    return _load(spec.target)[0].board_size if spec.kind == "policy" else None


def contestant(spec: AgentSpec, size: int) -> Contestant:
    """A player of a match on boards of one side.

    Raises:
      ValueError: the player cannot play there.
      GtpProcessError: GNU Go is not installed.
    """
    if spec.kind == "gnugo":
        level = int(spec.target)
        gnugo_command(level=level)  # complain now, not in the first game
        return Contestant(
            spec.name, command=lambda seed: gnugo_command(level=level, seed=seed)
        )
    if spec.kind == "gtp":
        try:
            words = shlex.split(spec.target)
        except ValueError as error:
            raise ValueError(f"{spec.target!r} is no command line: {error}") from None
        return Contestant(spec.name, command=lambda seed: words)
    return Contestant(spec.name, agent=agent_factory(spec)(size))


def network_for_size(
    metadata: NetworkMetadata, variables: networks.Variables, size: int
) -> networks.Network:
    """The network for boards of a side that it may not have been trained on.

    Convolutions do for any board; a weight or bias for every point does not.

    Raises:
      ValueError: the variables do not fit.
    """
    network = networks.create(metadata.name, size, **metadata.config)
    expected = jax.eval_shape(network.init, jax.random.key(0))
    shapes = [
        [leaf.shape for leaf in jax.tree.leaves(t)] for t in (expected, variables)
    ]
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"{metadata.name} was made for {metadata.board_size}×"
            f"{metadata.board_size} and cannot play on {size}×{size}"
        )
    return network


@functools.lru_cache(maxsize=4)
def _load(path: str) -> tuple[NetworkMetadata, networks.Variables]:
    _, variables, metadata = networks.from_checkpoint(path)
    return metadata, variables
