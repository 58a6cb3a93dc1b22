"""Replaying recorded games on the device, many in lockstep.

A game is moves; a training example is a position. Positions are made by playing
the games again on the engine, a batch of games at a time, and kept as `Position`
(under 2 kB each), never as planes.
"""

import dataclasses
import functools
import operator
from collections.abc import Iterator, Sequence
from typing import Protocol

import flax.struct
import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax import go
from alphago_jax.go.state import reopened, with_to_play

NO_MOVE = -1
SEGMENT = 32  # plies a compiled call plays
_ROWS = 128  # games in lockstep: fits the cache


class Positions(flax.struct.PyTreeNode):
    """Positions of recorded games with what was played there. Host arrays.

    Attributes:
      position: `go.Position` with a leading [B].
      action: int32 [B], the move that the record has here.
      game: int32 [B], index of the game among those replayed.
      ply: int32 [B], 0 for a game's first move.
    """

    position: go.Position
    action: np.ndarray  # int32 [B]
    game: np.ndarray  # int32 [B]
    ply: np.ndarray  # int32 [B]

    def __len__(self) -> int:
        return self.action.shape[0]

    def take(self, index: np.ndarray) -> "Positions":
        """Some rows. index: int [n]."""
        return jax.tree.map(lambda leaf: leaf[index], self)


@dataclasses.dataclass(frozen=True)
class Illegal:
    """A recorded move that the engine refuses. Attributes: game, ply, action."""

    game: int
    ply: int
    action: int


@functools.cache
def _compiled_segment():
    return jax.jit(_play_segment, donate_argnums=0)


def _play_segment(
    states: go.GoState, alive: jax.Array, colours: jax.Array, actions: jax.Array
) -> tuple[go.GoState, jax.Array, go.Position, jax.Array]:
    """Plays some plies of every game.

    Args:
      states: [G] games.
      alive: bool [G], False from a game's first illegal move on.
      colours: int8 [T, G].
      actions: int32 [T, G], `NO_MOVE` after a game's end.

    Returns:
      States and alive after the plies; the positions before every ply [T, G];
      and bool [T, G], moves that were played.
    """

    def ply(carry, move):
        states, alive = carry
        colour, action = move
        before = jax.vmap(_turn)(states, colour)
        there = action != NO_MOVE
        index = jnp.where(there, action, 0)
        mask = jax.vmap(go.legal_actions)(before)  # [G, A]
        legal = jnp.take_along_axis(mask, index[:, None], axis=1)[:, 0]
        alive = alive & (legal | ~there)
        played = alive & there
        after = jax.vmap(go.step)(before, index)
        states = jax.tree.map(
            lambda new, old: jnp.where(
                played.reshape(-1, *[1] * (new.ndim - 1)), new, old
            ),
            after,
            states,
        )
        return (states, alive), (before.position, played)

    (states, alive), (positions, played) = jax.lax.scan(
        ply, (states, alive), (colours, actions)
    )
    return states, alive, positions, played


def _turn(state: go.GoState, colour: jax.Array) -> go.GoState:
    """Gives a player the move, as the record has it.

    Two passes or a cycle do not end a record that goes on: players resume after
    a dispute, and play on after a repetition.
    """
    return with_to_play(reopened(state), colour)


class Recorded(Protocol):
    """What replaying needs of a game; `records.GameRecord` has it.

    Attributes:
      actions: int16 [T], N² is a pass.
      colours: int8 [T], +1 Black, −1 White.
      black: set-up points of Black.
      white: set-up points of White.
    """

    @property
    def actions(self) -> np.ndarray: ...  # noqa: D102
    @property
    def colours(self) -> np.ndarray: ...  # noqa: D102
    @property
    def black(self) -> Sequence[int]: ...  # noqa: D102
    @property
    def white(self) -> Sequence[int]: ...  # noqa: D102


def replay(
    games: Sequence[Recorded],
    size: int,
    plies: Sequence[np.ndarray] | None = None,
    *,
    rules: go.Rules | None = None,
    illegal: list[Illegal] | None = None,
    move_limit: int = 1024,
) -> Iterator[Positions]:
    """Positions of many games.

    Games of about equal length are replayed together. Under rules without
    superko a record may repeat positions; a game stops at its first illegal move.

    Args:
      games: recorded games of one board size.
      size: board side N.
      plies: for every game the plies wanted, ascending; all by default.
      rules: Chinese rules (simple ko) by default, which refuse the least.
      illegal: a list that refused moves are added to.
      move_limit: records longer than this are cut.

    Yields:
      Positions in an order that depends only on the arguments.
    """
    rules = go.Rules.chinese() if rules is None else rules
    lengths = np.array([len(game.actions) for game in games])
    order = np.argsort(lengths, kind="stable")
    start = go.init(size, rules=rules, move_limit=move_limit)
    for first in range(0, len(games), _ROWS):
        rows = order[first : first + _ROWS]
        yield from _replay_rows(games, rows, start, plies, illegal)


def _replay_rows(
    games: Sequence[Recorded],
    rows: np.ndarray,
    start: go.GoState,
    plies: Sequence[np.ndarray] | None,
    illegal: list[Illegal] | None,
) -> Iterator[Positions]:
    limit = start.record.hashes.shape[-1] - 2
    longest = min(max(len(games[g].actions) for g in rows), limit)
    num_segments = -(-longest // SEGMENT)
    shape = (num_segments * SEGMENT, _ROWS)
    actions = np.full(shape, NO_MOVE, np.int32)
    colours = np.ones(shape, np.int8)
    wanted = np.zeros(shape, bool)
    for row, g in enumerate(rows):
        length = min(len(games[g].actions), limit)
        actions[:length, row] = games[g].actions[:length]
        colours[:length, row] = games[g].colours[:length]
        # Asked-for plies beyond a cut record select nothing.
        chosen = np.arange(length) if plies is None else np.asarray(plies[g])
        wanted[chosen[chosen < length], row] = True
    states = _start_states([games[g] for g in rows], start)
    alive = jnp.ones(_ROWS, bool)
    numbers = np.zeros(_ROWS, np.int32)
    numbers[: len(rows)] = rows
    for at in range(0, shape[0], SEGMENT):
        part = slice(at, at + SEGMENT)
        before = np.asarray(alive)
        states, alive, positions, played = _compiled_segment()(
            states, alive, colours[part], actions[part]
        )
        played = np.asarray(played)
        if illegal is not None:
            dead = np.flatnonzero(before & ~np.asarray(alive))
            for row in dead:
                ply = at + int(np.argmin(played[:, row]))
                illegal.append(Illegal(int(numbers[row]), ply, int(actions[ply, row])))
        ply, row = np.nonzero(wanted[part] & played)
        if ply.size:
            host = jax.tree.map(np.asarray, positions)
            yield Positions(
                position=jax.tree.map(operator.itemgetter((ply, row)), host),
                action=actions[part][ply, row],
                game=numbers[row],
                ply=(at + ply).astype(np.int32),
            )


def _start_states(games: Sequence[Recorded], start: go.GoState) -> go.GoState:
    """A batch of `_ROWS` games at their set-up positions."""
    states = jax.tree.map(
        lambda leaf: np.array(np.broadcast_to(leaf, (_ROWS, *leaf.shape))), start
    )
    for row, game in enumerate(games):
        colour = int(game.colours[0]) if len(game.colours) else 1
        if game.black or game.white:
            one = go.set_up(start, game.black, game.white, colour)
        elif colour != 1:
            one = with_to_play(start, colour)
        else:
            continue
        for batch, leaf in zip(
            jax.tree.leaves(states), jax.tree.leaves(one), strict=True
        ):
            batch[row] = leaf
    return states


def concatenate(parts: Sequence[Positions]) -> Positions:
    """One batch from several."""
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)


def as_states(position: go.Position, size: int, rules: go.Rules | None = None):
    """States around a batch of positions, for plane functions.

    Superko needs the record of the game, which positions do not carry; the
    rules must do without it.

    Args:
      position: with a leading [B].
      size: board side N.
      rules: Chinese by default.

    Returns:
      `go.GoState` with a leading [B].

    Raises:
      ValueError: for rules with superko.
    """
    rules = go.Rules.chinese() if rules is None else rules
    if rules.scope.superko:
        raise ValueError("positions without their games' records cannot have superko")
    start = go.init(size, rules=rules, move_limit=1)
    num = position.to_play.shape[0]
    states = jax.tree.map(
        lambda leaf: jnp.broadcast_to(leaf, (num, *leaf.shape)), start
    )
    return states.replace(position=position)
