"""What a GTP server remembers between commands: the game, the player, the clocks."""

import dataclasses
from collections.abc import Callable

import jax.numpy as jnp

from alphago_jax import go
from alphago_jax.go.game import with_to_play
from alphago_jax.go.state import MOVE_LIMIT, PLAYING, TWO_PASSES
from alphago_jax.play.agents import Agent
from alphago_jax.play.seat import Choice, Seat


class OpenGame(go.Game):
    """A game that can go on after its end.

    Two passes end a game of the engine for good. People go on: they dispute dead
    stones, or a client keeps asking. A stone after the end reopens the game, another
    pass leaves it ended; only the move limit is final.
    """

    @property
    def has_ended(self) -> bool:
        """Whether two passes or an endless cycle have ended the game."""
        return self.is_over and int(self.state.position.status) != MOVE_LIMIT

    def _turn_of(self, colour: int) -> go.GoState:
        return (
            _reopened(self.state, colour)
            if self.has_ended
            else super()._turn_of(colour)
        )


def _reopened(state: go.GoState, colour: int) -> go.GoState:
    """The state before any move of `colour`, with the passes that ended the game."""
    position = state.position
    passes = 2 if int(position.status) == TWO_PASSES else int(position.num_passes)
    position = position.replace(
        to_play=jnp.int8(colour),
        ko_point=jnp.int16(-1),
        num_passes=jnp.int8(passes),
        status=jnp.int8(PLAYING),
    )
    return state.replace(position=position)


@dataclasses.dataclass(frozen=True)
class TimeSettings:
    """A time system as the client set it. Raw policies do not need one.

    Attributes:
      system: "none", "absolute", "byoyomi" or "canadian".
      main_seconds: main time.
      period_seconds: length of a byo-yomi period.
      periods: number of periods, or stones per period in "canadian".
    """

    system: str = "none"
    main_seconds: float = 0.0
    period_seconds: float = 0.0
    periods: int = 0


@dataclasses.dataclass(frozen=True)
class Resignation:
    """When to resign.

    Attributes:
      below: value for the player to move under which it would resign; None is never.
      moves: own moves in a row that the value must be so low.
    """

    below: float | None = None
    moves: int = 3


class Session:
    """One client's session.

    Attributes:
      game: the game.
      rules: the rules, komi included.
      time_settings: as last set.
      time_left: seconds and stones left, by colour, as last told.
      resigned: the colour that has resigned, or None.
    """

    def __init__(
        self,
        make_agent: Callable[[int], Agent],
        *,
        size: int = 19,
        rules: go.Rules | None = None,
        seed: int = 0,
        resignation: Resignation | None = None,
    ) -> None:
        """Starts with an empty board.

        Args:
          make_agent: makes the player for a board side; raises `ValueError` for a
            side that it cannot play on.
          size: board side at first.
          rules: CGOS rules by default, which nobody refuses a move under.
          seed: of the player's random choices.
          resignation: when to resign; never by default.

        Raises:
          ValueError: if the player cannot play on such a board.
        """
        self.rules = go.Rules.cgos() if rules is None else rules
        self.time_settings = TimeSettings()
        self.time_left: dict[int, tuple[float, int]] = {}
        self.resigned: int | None = None
        self._make_agent = make_agent
        self._seed = seed
        self._resignation = Resignation() if resignation is None else resignation
        self._low_values = {1: 0, -1: 0}
        self._seats: dict[int, Seat] = {}
        self.new_game(size)

    def new_game(self, size: int, black: tuple[int, ...] = ()) -> None:
        """Starts a game, with Black's handicap stones if any are given."""
        game = OpenGame(size, self.rules, black=black, to_play=-1 if black else 1)
        self.take(game)

    def take(self, game: OpenGame) -> None:
        """Goes over to another game.

        Raises:
          ValueError: if the player cannot play on its board; nothing has changed.
        """
        seat = self._seats.get(game.size)
        if seat is None:
            seat = Seat(self._make_agent(game.size), seed=self._seed)
            self._seats[game.size] = seat
        self.game = game
        self.rules = game.rules
        self.time_left = {}
        self.resigned = None
        self._low_values = {1: 0, -1: 0}
        self._fresh = True

    @property
    def seat(self) -> Seat:
        """The player."""
        return self._seats[self.game.size]

    def set_rules(self, rules: go.Rules) -> None:
        """Changes the rules and replays the game under them.

        Raises:
          IllegalMoveError: if the rules forbid a move of the game; nothing has changed.
        """
        black, white = self.game.set_up_stones
        first = self.game.first_to_play
        game = OpenGame(self.game.size, rules, black=black, white=white, to_play=first)
        for move in self.game.moves:
            game.play(move.action, move.colour)
        self.rules, self.game = rules, game

    def set_komi(self, komi: float) -> None:
        """Changes komi for this game and the next ones.

        Raises:
          ValueError: komi is no half number, or out of all proportion.
        """
        self.game.set_komi(komi)
        self.rules = self.game.rules

    def choose(self, colour: int, *, advance: bool = True) -> Choice:
        """Asks the player for a move of a colour; nothing is played."""
        if self._fresh:
            self.seat.new_game(self.game.state)
            self._fresh = False
        state = with_to_play(self.game.state, colour)
        return self.seat.choose(state, advance=advance)

    def resigns(self, colour: int, choice: Choice) -> bool:
        """Whether the player gives up, given what it has just chosen."""
        below = self._resignation.below
        low = below is not None and choice.value is not None and choice.value < below
        self._low_values[colour] = self._low_values[colour] + 1 if low else 0
        return low and self._low_values[colour] >= self._resignation.moves
