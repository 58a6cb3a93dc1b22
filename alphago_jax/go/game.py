"""The host's side of a game: errors with reasons, history, undo.

`Game` is what people, files and protocols talk to. It holds the states of all
moves so far and changes only through `play`, `undo` and `set_up`; everything
compiled works on the immutable `GoState` inside.
"""

import dataclasses
import functools
from collections.abc import Iterable
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np

from alphago_jax.go import coords, moves
from alphago_jax.go import state as state_lib
from alphago_jax.go.rules import Rules
from alphago_jax.go.state import GoState

Reason = Literal["occupied", "ko", "superko", "suicide", "off board", "game over"]


class IllegalMoveError(ValueError):
    """A move that the rules forbid.

    Attributes:
      reason: "occupied", "ko", "superko", "suicide", "off board" or "game over".
    """

    def __init__(self, vertex: str, reason: Reason) -> None:
        super().__init__(f"illegal move {vertex}: {reason}")
        self.reason = reason


@functools.cache
def _compiled_step():
    return jax.jit(moves.step)


@functools.cache
def _compiled_legal_actions():
    return jax.jit(moves.legal_actions)


def illegal_reason(state: GoState, action: int) -> Reason | None:
    """Why an action is illegal, or None if it is legal. Host side, unbatched."""
    size = state_lib.size_of(state)
    if bool(state_lib.is_over(state)):
        return "game over"
    if not 0 <= action <= size * size:
        return "off board"
    if bool(_compiled_legal_actions()(state)[action]):
        return None
    point = divmod(action, size)
    if not bool(state_lib.on_board(state)[point]):
        return "off board"
    if int(state_lib.stones(state)[point]) != 0:
        return "occupied"
    if int(state.position.ko_point) == action:
        return "ko"
    return "superko" if _keeps_a_liberty(state, action) else "suicide"


def _keeps_a_liberty(state: GoState, action: int) -> bool:
    """Whether only superko stands against a move on an empty point."""
    position = state.position
    size = position.size
    suicide = state.rules.suicide if state.rules.scope.suicide else False
    legal = moves.chains_lib.legal_cells(
        position.chains, position.to_play, size, suicide
    )
    row, column = divmod(action, size)
    return bool(legal[row * (size + 1) + column + 1])


def play(state: GoState, action: int) -> GoState:
    """Plays an action after checking it. Host side, unbatched.

    Args:
      state: the game so far.
      action: in [0, N²]; N² passes.

    Raises:
      IllegalMoveError: with the reason.
    """
    action = int(action)
    reason = illegal_reason(state, action)
    if reason is not None:
        raise IllegalMoveError(_vertex(state, action), reason)
    return _compiled_step()(state, jnp.int32(action))


def _vertex(state: GoState, action: int) -> str:
    try:
        return coords.action_to_vertex(
            action, state_lib.size_of(state), int(state.rules.board_size)
        )
    except ValueError:
        return str(action)


def with_to_play(state: GoState, colour: int) -> GoState:
    """`state.with_to_play` on the host, where nearly always nothing changes."""
    if int(state.position.to_play) == colour:
        return state
    return state_lib.with_to_play(state, colour)


@dataclasses.dataclass(frozen=True)
class Move:
    """One move of a record. Attributes: colour (+1 or −1), action (N² passes)."""

    colour: int
    action: int


class Game:
    """A game with its history. Host side.

    Attributes:
      size: board side.
      rules: the rule set.
      moves: the moves so far.
    """

    def __init__(
        self,
        size: int,
        rules: Rules | None = None,
        *,
        black: Iterable[int] = (),
        white: Iterable[int] = (),
        to_play: int = 1,
        handicap: int | None = None,
        move_limit: int | None = None,
    ) -> None:
        """Starts a game, from set-up stones if any are given.

        Args:
          size: board side, 2 to 25.
          rules: Tromp-Taylor by default.
          black: points of Black's set-up stones.
          white: points of White's set-up stones.
          to_play: +1 or −1.
          handicap: number of handicap stones; see `go.set_up`.
          move_limit: longest game; 4 N² by default, since people may try things.

        Raises:
          ValueError: for a size or set-up that cannot be.
        """
        self.size = size
        self.rules = Rules.tromp_taylor() if rules is None else rules
        self.moves: list[Move] = []
        limit = max(4 * size * size, 64) if move_limit is None else move_limit
        start = state_lib.init(size, rules=self.rules, move_limit=limit)
        black, white = list(black), list(white)
        if black or white or to_play != 1:
            start = state_lib.set_up(start, black, white, to_play, handicap=handicap)
        self.set_up_stones = (tuple(black), tuple(white))
        self._states = [start]

    @property
    def state(self) -> GoState:
        """The state now."""
        return self._states[-1]

    @property
    def to_play(self) -> int:
        """+1 if Black is to move, −1 if White is."""
        return int(self.state.position.to_play)

    @property
    def first_to_play(self) -> int:
        """Who moved first, or is to: +1 Black, −1 White."""
        return int(self._states[0].position.to_play)

    @property
    def is_over(self) -> bool:
        """Whether two passes, a cycle or the move limit have ended the game."""
        return bool(state_lib.is_over(self.state))

    @property
    def stones(self) -> np.ndarray:
        """The board: +1 Black, −1 White, 0 empty. int8 [N, N]."""
        return np.asarray(state_lib.stones(self.state))

    @property
    def handicap(self) -> int:
        """Handicap stones: set-up stones, or Black's moves in a row at the start."""
        return int(self.state.handicap)

    def legal_actions(self, colour: int | None = None) -> np.ndarray:
        """Legal actions of a player, the one to move by default. bool [A]."""
        state = self.state if colour is None else with_to_play(self.state, colour)
        return np.asarray(_compiled_legal_actions()(state))

    def play(self, action: int, colour: int | None = None) -> None:
        """Plays a move, of the player to move by default.

        A colour out of turn is allowed, as protocols and files have it. Black's
        moves in a row at the start count as handicap stones.

        Raises:
          IllegalMoveError: with the reason; the game is unchanged.
        """
        colour = self.to_play if colour is None else colour
        state = play(self._turn_of(colour), action)
        self.moves.append(Move(colour, int(action)))
        opening = [m for m in self.moves if m.action != self.size**2]
        if (
            not any(self.set_up_stones)
            and len(opening) == len(self.moves) >= 2
            and all(move.colour == 1 for move in opening)
        ):
            state = state.replace(handicap=jnp.int16(len(opening)))
        self._states.append(state)

    def _turn_of(self, colour: int) -> GoState:
        """The state that a move of `colour` is played in; for subclasses to bend."""
        return with_to_play(self.state, colour)

    def undo(self, count: int = 1) -> None:
        """Takes moves back.

        Raises:
          ValueError: if there are not that many.
        """
        if not 0 <= count <= len(self.moves):
            raise ValueError(f"cannot undo {count} of {len(self.moves)} moves")
        if count:
            del self.moves[-count:]
            del self._states[-count:]

    def set_komi(self, komi: float) -> None:
        """Changes komi for the whole game, its past states included."""
        self.rules = self.rules.replace(komi=komi)
        self._states = [
            state.replace(rules=state.rules.replace(komi=jnp.float32(komi)))
            for state in self._states
        ]
