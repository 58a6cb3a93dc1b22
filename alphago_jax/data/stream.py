"""An endless, resumable stream of training examples from recorded games.

Games go in, batches of planes come out; planes are never stored. The stream is
stateless: what comes at (epoch, chunk, batch) follows from the seed alone, so
that three integers in a checkpoint are its whole position.

- An epoch is a permutation of the games.
- A chunk is some of them in a row, replayed in lockstep on the device, with a
  few positions drawn from each; its positions are shuffled together. The chunk
  is the shuffle window.
- A batch is some of those, turned by random symmetries, as planes.

The next chunk is replayed in a thread while the present one is used.
"""

import concurrent.futures
import dataclasses
import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax import go
from alphago_jax.data import replay
from alphago_jax.data.games import GameSet
from alphago_jax.go import symmetry
from alphago_jax.types import JSON, Examples

PlanesFn = Callable[[go.GoState], jax.Array]


@dataclasses.dataclass(frozen=True)
class StreamConfig:
    """How examples are drawn.

    Attributes:
      batch_size: examples a batch.
      seed: everything random follows from it.
      positions_per_game: drawn from each game an epoch, spread over its length.
      games_per_chunk: games whose positions are shuffled together.
      symmetries: turn every example by a random symmetry of the board.
      passes: passes are targets too; otherwise positions where the record
        passes are left out.
      planes_per_call: examples whose planes are made in one call.
    """

    batch_size: int = 32
    seed: int = 0
    positions_per_game: int = 48
    games_per_chunk: int = 1024
    symmetries: bool = True
    passes: bool = False
    planes_per_call: int = 128


@functools.cache
def _compiled_examples(planes_fn: PlanesFn, size: int):
    def make(position: go.Position, actions: jax.Array, turns: jax.Array):
        states = replay.as_states(position, size)
        planes = jax.vmap(planes_fn)(states)  # [n, N, N, C]
        turned = jax.vmap(symmetry.transform_board)(planes, turns)
        moved = jax.vmap(lambda a, k: symmetry.transform_action(a, k, size))(
            actions, turns
        )
        return turned, moved

    return jax.jit(make)


class ExampleStream:
    """Batches of `Examples` without end; see the top of this module."""

    def __init__(
        self, games: GameSet, planes_fn: PlanesFn, config: StreamConfig
    ) -> None:
        """Starts at the beginning.

        Args:
          games: at least one game with a usable position.
          planes_fn: `features.<name>.planes`, from one state to [N, N, C].
          config: how examples are drawn.

        Raises:
          ValueError: if there is no game, or a batch does not fit a chunk.
        """
        if not len(games):
            raise ValueError("no games to draw examples from")
        self.games, self.planes_fn, self.config = games, planes_fn, config
        # Batches are cut from calls of a fixed shape.
        self._batches_per_call = max(config.planes_per_call // config.batch_size, 1)
        self._epoch = self._chunk = self._batch = 0
        self._executor = concurrent.futures.ThreadPoolExecutor(1)
        self._ready: dict[
            tuple[int, int], concurrent.futures.Future[_Chunk | None]
        ] = {}
        self._planes: tuple[tuple[int, int, int], list[Examples]] | None = None

    @property
    def _chunks_per_epoch(self) -> int:
        return -(-len(self.games) // self.config.games_per_chunk)

    def state(self) -> dict[str, JSON]:
        """Where the next batch lies: epoch, chunk, batch."""
        return {"epoch": self._epoch, "chunk": self._chunk, "batch": self._batch}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from a position that `state` returned."""
        self._epoch, self._chunk = int(state["epoch"]), int(state["chunk"])
        self._batch = int(state["batch"])

    def __iter__(self) -> Iterator[Examples]:
        return self

    def __next__(self) -> Examples:
        """The next batch, [batch_size] examples."""
        empty = 0
        while True:
            chunk = self._get_chunk(self._epoch, self._chunk)
            size = 0 if chunk is None else len(chunk.positions)
            if chunk is not None and self._batch < size // self.config.batch_size:
                break
            empty = empty + 1 if self._batch == 0 else 0
            if empty > self._chunks_per_epoch:
                raise ValueError(
                    f"no chunk of games holds a batch of {self.config.batch_size} "
                    "examples; use a smaller batch or more games"
                )
            self._epoch, self._chunk = self._after(self._epoch, self._chunk)
            self._batch = 0
        group, within = divmod(self._batch, self._batches_per_call)
        key = (self._epoch, self._chunk, group)
        if self._planes is None or self._planes[0] != key:
            self._planes = key, self._make_group(chunk, group)
        self._batch += 1
        return self._planes[1][within]

    def _after(self, epoch: int, chunk: int) -> tuple[int, int]:
        chunk += 1
        return (epoch + 1, 0) if chunk == self._chunks_per_epoch else (epoch, chunk)

    def _get_chunk(self, epoch: int, chunk: int) -> "_Chunk | None":
        """The chunk, and a start on the one after it."""
        wanted = (epoch, chunk)
        following = self._after(epoch, chunk)
        for key in [k for k in self._ready if k not in (wanted, following)]:
            self._ready.pop(key).cancel()
        for key in (wanted, following):
            if key not in self._ready:
                self._ready[key] = self._executor.submit(self._replay, *key)
        return self._ready[wanted].result()

    def _replay(self, epoch: int, chunk: int) -> "_Chunk | None":
        config = self.config
        order = np.random.default_rng([config.seed, epoch]).permutation(len(self.games))
        first = chunk * config.games_per_chunk
        numbers = order[first : first + config.games_per_chunk]
        rng = np.random.default_rng([config.seed, epoch, chunk])
        plies = [self._draw_plies(rng, int(g)) for g in numbers]
        games = [self.games.games[g] for g in numbers]
        parts = list(replay.replay(games, self.games.size, plies))
        if not parts:
            return None
        positions = replay.concatenate(parts)
        shuffled = rng.permutation(len(positions))
        positions = positions.take(shuffled)
        turns = rng.integers(0, 8 if config.symmetries else 1, len(positions))
        return _Chunk(positions, turns.astype(np.int32), numbers[positions.game])

    def _draw_plies(self, rng: np.random.Generator, game: int) -> np.ndarray:
        """Some plies of a game, one from each of equal stretches."""
        candidates = self.games.usable_plies(game, passes=self.config.passes)
        count = min(self.config.positions_per_game, len(candidates))
        edges = (np.arange(count) + rng.random(count)) * len(candidates) / max(count, 1)
        return candidates[edges.astype(np.int64)]

    def _make_group(self, chunk: "_Chunk", group: int) -> list[Examples]:
        """Planes of the batches that one call makes."""
        size, batch = self._batches_per_call, self.config.batch_size
        first = group * size * batch
        index = np.arange(first, first + size * batch)
        # The last call of a chunk may reach beyond it; those rows are not used.
        index = np.minimum(index, len(chunk.positions) - 1)
        rows = chunk.positions.take(index)
        examples = _examples(
            self.games,
            dataclasses.replace(rows, game=chunk.game[index]),
            self.planes_fn,
            chunk.turns[index],
            np.ones(len(index), np.float32),
        )
        return [
            jax.tree.map(operator.itemgetter(slice(k, k + batch)), examples)
            for k in range(0, size * batch, batch)
        ]


@dataclasses.dataclass(frozen=True)
class _Chunk:
    """Shuffled positions of some games.

    Attributes:
      positions: [n] positions.
      turns: int32 [n], a symmetry for each.
      game: int64 [n], index into the whole set.
    """

    positions: replay.Positions
    turns: np.ndarray
    game: np.ndarray


def all_examples(
    games: GameSet,
    planes_fn: PlanesFn,
    batch_size: int,
    *,
    passes: bool = False,
    every: int = 1,
) -> Iterator[tuple[Examples, replay.Positions]]:
    """Every example of a set once, for evaluation; no symmetries.

    Args:
      games: recorded games.
      planes_fn: from one state to [N, N, C].
      batch_size: rows of every batch; the last is padded with weight 0.
      passes: also where the record passes.
      every: only every so-manieth position of a game.

    Yields:
      Batches, each with the positions it was made from (padding included).
    """
    plies = []
    for number in range(len(games)):
        usable = games.usable_plies(number, passes=passes)
        # A different start in every game, or parity would pick one colour.
        plies.append(usable[number % every :: every])
    held: list[replay.Positions] = []
    for part in replay.replay(games.games, games.size, plies):
        held.append(part)
        if sum(map(len, held)) < 64 * batch_size:
            continue
        positions = replay.concatenate(held)
        full = len(positions) // batch_size * batch_size
        for first in range(0, full, batch_size):
            rows = positions.take(np.arange(first, first + batch_size))
            yield _unturned(games, rows, planes_fn, batch_size), rows
        held = [positions.take(np.arange(full, len(positions)))]
    rest = replay.concatenate(held) if held else None
    for first in range(0, len(rest) if rest is not None else 0, batch_size):
        assert rest is not None
        count = min(batch_size, len(rest) - first)
        index = first + np.minimum(np.arange(batch_size), count - 1)
        rows = rest.take(index)
        yield _unturned(games, rows, planes_fn, count), rows


def _unturned(
    games: GameSet, rows: replay.Positions, planes_fn: PlanesFn, count: int
) -> Examples:
    """Examples as the records have them; rows from `count` on are padding."""
    number = np.arange(len(rows))
    return _examples(games, rows, planes_fn, 0 * number, number < count)


def _examples(
    games: GameSet,
    rows: replay.Positions,
    planes_fn: PlanesFn,
    turns: np.ndarray,
    weights: np.ndarray,
) -> Examples:
    """Examples of positions, turned. `rows.game` counts within `games`."""
    make = _compiled_examples(planes_fn, games.size)
    planes, actions = make(rows.position, rows.action, turns)
    # The one place where a recorded result becomes the player to move's.
    returns = games.winners[rows.game] * np.asarray(rows.position.to_play)
    return Examples(
        planes=planes,
        actions=actions,
        returns=jnp.asarray(returns, jnp.float32),
        weights=jnp.asarray(weights, jnp.float32),
    )
