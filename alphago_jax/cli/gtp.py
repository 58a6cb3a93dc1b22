"""`alphago-jax gtp`: a player for Sabaki, GoGui and other GTP clients."""

import dataclasses
import sys
from typing import Annotated

import tyro


@dataclasses.dataclass(frozen=True)
class Gtp:
    """Plays Go by the Go Text Protocol on standard input and output.

    A client starts it as `alphago-jax gtp policy:PATH`. Replies are all there is on
    standard output.
    """

    agent: Annotated[str, tyro.conf.Positional] = "random"
    """Who plays: random, or policy:PATH with options such as
    policy:PATH,temperature=0.5,symmetries=all."""

    size: int | None = None
    """Board side at the start; the network's own, else 19."""

    rules: str = "cgos"
    """Rules: tromp-taylor, cgos, chinese, chinese-kgs, japanese, korean, aga or
    new-zealand."""

    komi: float | None = None
    """Points for White; those of the rules by default."""

    seed: int = 0
    """Seed of the player's random choices."""

    resign_below: float | None = None
    """Resign when the value for the player to move is below this, in [-1, 1]; never by
    default, nor without a value network."""

    resign_moves: int = 3
    """Own moves in a row that the value must be so low."""

    def run(self) -> None:
        """Serves until `quit` or the end of input."""
        from importlib import metadata

        from alphago_jax.play import agent_specs, gtp
        from alphago_jax.play.gtp import rule_sets

        rules = rule_sets.preset(self.rules)
        if self.komi is not None:
            rules = rules.replace(komi=self.komi)
        with gtp.private_stdout() as output:
            spec = agent_specs.parse_agent(self.agent)
            session = gtp.Session(
                agent_specs.agent_factory(spec),
                size=self.size or agent_specs.trained_size(spec) or 19,
                rules=rules,
                seed=self.seed,
                resignation=gtp.Resignation(self.resign_below, self.resign_moves),
            )
            try:
                version = metadata.version("alphago_jax")
            except metadata.PackageNotFoundError:
                version = "source"
            engine = gtp.Engine(session, version=version)
            gtp.serve(engine.handle, sys.stdin.buffer, output)
