"""Random legal play with full legal masks: this engine against its peers.

    python -m pip install -e '.[bench]'
    python experiments/bench_engine.py

Every engine plays uniformly random legal moves, passes included, from masks that
it makes itself, games starting again when they end; each side at its best batch,
in turn in one process, the best of several rounds. One JSON line a figure and
one a ratio. pgx moves with the same sampler as this engine; OpenSpiel's C++ plays
one game at a time on one core, its states cloned from nothing.

Hardware, time and figures: docs/performance.md.
"""

import dataclasses
import json
import sys
import time
from collections.abc import Callable
from typing import Any, Literal

import flood_fill_engine
import jax
import jax.numpy as jnp
import numpy as np
import tyro

from alphago_jax import go


@dataclasses.dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
      sizes: board sides.
      batches: batch sizes tried for this engine and for flood fill.
      pgx_batches: batch sizes tried for pgx.
      steps: moves a timed round, over the whole batch.
      rounds: timed rounds; the best counts.
      preset: "full", or "smoke" for a few seconds in the tests.
    """

    sizes: tuple[int, ...] = (19, 9)
    batches: tuple[int, ...] = (64, 128, 256, 512)
    pgx_batches: tuple[int, ...] = (1, 64, 256)
    steps: int = 30_000
    rounds: int = 5
    preset: Literal["full", "smoke"] = "full"


@dataclasses.dataclass(frozen=True)
class Engine:
    """An engine as functions of batches.

    Attributes:
      name: what is printed.
      init: batch size to states.
      legal_actions: states to bool [B, A].
      step: (states, actions) to states.
      is_over: states to bool [B].
      batches: batch sizes to try.
    """

    name: str
    init: Callable[[int], Any]
    legal_actions: Callable[[Any], jax.Array]
    step: Callable[[Any, jax.Array], Any]
    is_over: Callable[[Any], jax.Array]
    batches: tuple[int, ...]


def sample(mask: jax.Array, seed: jax.Array) -> jax.Array:
    """A random legal action by integer hashing, the same for every engine.

    Args:
      mask: bool [A].
      seed: uint32 scalar.
    """
    number = np.arange(mask.shape[0], dtype=np.uint32)
    bits = (number * np.uint32(2654435761)) ^ seed
    bits = (bits ^ (bits >> 15)) * np.uint32(2246822519)
    bits = (bits ^ (bits >> 13)) * np.uint32(3266489917)
    bits = bits ^ (bits >> 16)
    # The action itself in the low bits: a plain maximum finds it.
    ranked = (bits & ~np.uint32(1023)) | number
    best = jnp.max(jnp.where(mask, ranked, np.uint32(0)))
    return (best & 1023).astype(jnp.int32)


def make_play(engine: Engine, batch: int, num_steps: int) -> Callable[..., Any]:
    """A compiled function that plays `num_steps` moves in every game."""
    fresh = engine.init(batch)

    def one(states: Any, time_step: jax.Array, seed: jax.Array) -> Any:
        mask = engine.legal_actions(states)
        salt = jnp.arange(batch, dtype=jnp.uint32) * np.uint32(0x9E3779B9)
        seeds = salt ^ (time_step * np.uint32(0x85EBCA6B) + seed)
        states = engine.step(states, jax.vmap(sample)(mask, seeds))
        over = engine.is_over(states)
        return jax.tree.map(
            lambda now, new: jnp.where(
                over.reshape(batch, *[1] * (now.ndim - 1)), new, now
            ),
            states,
            fresh,
        ), jnp.sum(mask)

    def play(states: Any, seed: jax.Array) -> Any:
        steps = jnp.arange(num_steps, dtype=jnp.uint32)
        return jax.lax.scan(lambda s, t: one(s, t, seed), states, steps)

    return jax.jit(play, donate_argnums=0)


def batched(name: str, start: Any, functions: Any, batches: Any) -> Engine:
    """An engine from one fresh state and a module of functions of one state."""
    return Engine(
        name,
        lambda batch: jax.tree.map(
            lambda leaf: jnp.broadcast_to(leaf, (batch, *leaf.shape)), start
        ),
        jax.vmap(functions.legal_actions),
        jax.vmap(functions.step),
        jax.vmap(functions.is_over),
        batches,
    )


def this_engine(size: int, rules: go.Rules, name: str, batches: Any) -> Engine:
    """`alphago_jax.go` under some rules."""
    return batched(name, go.init(size, rules=rules), go, batches)


def flood_engine(size: int, batches: Any) -> Engine:
    """The other design of this engine."""
    start = flood_fill_engine.init(size)
    return batched("flood_fill", start, flood_fill_engine, batches)


def pgx_engine(size: int, batches: Any) -> Engine | None:
    """Sotetsuk's pgx, or None where it is not installed."""
    try:
        from pgx.go import Go
    except ImportError:
        return None
    env = Go(size=size)
    return Engine(
        "pgx",
        lambda batch: jax.vmap(env.init)(jax.random.split(jax.random.key(0), batch)),
        lambda states: states.legal_action_mask,
        jax.vmap(env.step),
        lambda states: states.terminated | states.truncated,
        batches,
    )


def open_spiel_rate(size: int, seconds: float, seed: int) -> float | None:
    """Moves a second of OpenSpiel's Go on one core, or None without it."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game("go", {"board_size": size, "komi": 7.5})
    rng = np.random.default_rng(seed)
    draws = rng.random(1 << 16)
    moves, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(draws[moves & 0xFFFF] * len(legal))])
            moves += 1
    return moves / (time.perf_counter() - start)


def emit(**record: Any) -> None:
    """Prints one JSON line."""
    print(json.dumps(record), flush=True)


def measure(engines: list[Engine], size: int, config: Config) -> dict[str, float]:
    """Best moves a second of every engine, rounds interleaved."""
    runs = []
    for engine in engines:
        for batch in engine.batches:
            num_steps = max(config.steps // batch, 20)
            play = make_play(engine, batch, num_steps)
            states = jax.tree.map(jnp.array, engine.init(batch))
            began = time.perf_counter()
            # Long enough that games of all ages are in the batch.
            for warm in range(2):
                states, _ = jax.block_until_ready(play(states, np.uint32(warm)))
            print(
                f"{engine.name} {size}×{size} batch {batch}: ready in "
                f"{time.perf_counter() - began:.1f} s",
                file=sys.stderr,
            )
            runs.append([engine.name, batch, num_steps, play, states])
    best: dict[tuple[str, int], float] = {}
    for turn in range(config.rounds):
        for run in runs:
            name, batch, num_steps, play, states = run
            began = time.perf_counter()
            run[4], _ = jax.block_until_ready(play(states, np.uint32(7 + turn)))
            rate = batch * num_steps / (time.perf_counter() - began)
            best[name, batch] = max(best.get((name, batch), 0.0), rate)
    rates: dict[str, float] = {}
    for (name, batch), rate in best.items():
        emit(benchmark="random_play", engine=name, size=size, batch=batch, rate=rate)
        rates[name] = max(rates.get(name, 0.0), rate)
    return rates


def compile_seconds(size: int, rules: go.Rules) -> float:
    """Seconds to compile `step` and `legal_actions` together, batch 64."""
    engine = this_engine(size, rules, "", (64,))
    states = engine.init(64)

    def both(states: Any, actions: jax.Array) -> Any:
        states = engine.step(states, actions)
        return states, engine.legal_actions(states)

    lowered = jax.jit(both).lower(states, jnp.zeros(64, jnp.int32))
    began = time.perf_counter()
    lowered.compile()
    return time.perf_counter() - began


def main(config: Config) -> None:
    """Measures and prints."""
    if config.preset == "smoke":
        config = dataclasses.replace(
            config, sizes=(9,), batches=(32,), pgx_batches=(32,), steps=320, rounds=1
        )
    spiel_seconds = 0.5 if config.preset == "smoke" else 5.0
    for size in config.sizes:
        engines = [
            this_engine(size, go.Rules.chinese(), "simple_ko", config.batches),
            this_engine(size, go.Rules.cgos(), "positional_superko", config.batches),
            flood_engine(size, config.batches),
        ]
        pgx = pgx_engine(size, config.pgx_batches)
        rates = measure(engines + ([pgx] if pgx else []), size, config)
        spiel = open_spiel_rate(size, spiel_seconds, 0)
        if spiel:
            rates["open_spiel_one_core"] = spiel
            emit(
                benchmark="random_play",
                engine="open_spiel_one_core",
                size=size,
                rate=spiel,
            )
        for name, rate in rates.items():
            ratio = rates["simple_ko"] / rate
            emit(benchmark="ratio", of="simple_ko", to=name, size=size, ratio=ratio)
        start = go.init(size, rules=go.Rules.chinese())
        emit(
            benchmark="engine_costs",
            size=size,
            compile_seconds=compile_seconds(size, go.Rules.chinese()),
            compile_seconds_superko=compile_seconds(size, go.Rules.cgos()),
            node_bytes=sum(leaf.nbytes for leaf in jax.tree.leaves(start.position)),
        )


if __name__ == "__main__":
    main(tyro.cli(Config, description=__doc__))
