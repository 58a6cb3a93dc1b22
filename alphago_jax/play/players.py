"""Who sits at a board of a match: one of our agents, or an external GTP program."""

import abc
import dataclasses
from collections.abc import Callable, Sequence

from alphago_jax import go
from alphago_jax.go import coords
from alphago_jax.play.agents import Agent
from alphago_jax.play.external import GtpError, GtpProcess, GtpProcessError
from alphago_jax.play.seat import Seat

_NAMES = {1: "black", -1: "white"}


class Forfeit(Exception):
    """A player has lost by its own fault: it crashed, hung or answered nonsense."""


class Player(abc.ABC):
    """A player in one game. Host side; `close` must be called."""

    @abc.abstractmethod
    def begin(self, game: go.Game) -> None:
        """Starts the game; its moves so far are the opening."""

    @abc.abstractmethod
    def choose(self, game: go.Game, colour: int) -> int | None:
        """Chooses an action, perhaps an illegal one; None resigns."""

    @abc.abstractmethod
    def observe(self, game: go.Game, move: go.Move) -> None:
        """Hears of a move of the other player."""

    def own_score(self) -> str | None:
        """The player's own opinion of the result, such as "B+3.5"; None without."""
        return None

    def close(self) -> None:
        """Leaves the board."""
        return

    def __enter__(self) -> "Player":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AgentPlayer(Player):
    """One of our agents."""

    def __init__(self, agent: Agent, seed: int) -> None:
        self._seat = Seat(agent, seed=seed)

    def begin(self, game: go.Game) -> None:
        """See `Player`."""
        self._seat.new_game(game.state)

    def choose(self, game: go.Game, colour: int) -> int | None:
        """See `Player`."""
        return self._seat.choose(game.state).action

    def observe(self, game: go.Game, move: go.Move) -> None:
        """See `Player`; agents look at the state instead."""


class GtpPlayer(Player):
    """An external program. Its mistakes raise `Forfeit` with the reason."""

    def __init__(self, command: str | Sequence[str], *, timeout: float = 600.0) -> None:
        """Starts the program.

        Args:
          command: command line.
          timeout: seconds a reply may take.

        Raises:
          GtpProcessError: it cannot be started; that is nobody's loss.
        """
        self._program = GtpProcess(command, timeout=timeout)

    def begin(self, game: go.Game) -> None:
        """See `Player`."""
        self._send(f"boardsize {game.size}")
        self._send("clear_board")
        self._send(f"komi {game.rules.komi:g}")
        for move in game.moves:
            self.observe(game, move)

    def choose(self, game: go.Game, colour: int) -> int | None:
        """See `Player`."""
        text = self._send(f"genmove {_NAMES[colour]}")
        if text.lower() == "resign":
            return None
        try:
            return coords.vertex_to_action(text, game.size)
        except ValueError as error:
            raise Forfeit(f"genmove answered {error}") from None

    def observe(self, game: go.Game, move: go.Move) -> None:
        """See `Player`."""
        vertex = coords.action_to_vertex(move.action, game.size)
        self._send(f"play {_NAMES[move.colour]} {vertex}")

    def own_score(self) -> str | None:
        """See `Player`."""
        try:
            return self._program.send("final_score")
        except (GtpError, GtpProcessError):
            return None

    def close(self) -> None:
        """See `Player`."""
        self._program.close()

    def _send(self, command: str) -> str:
        try:
            return self._program.send(command)
        except GtpError as error:
            raise Forfeit(f"refused {error.command}: {error.reply}") from None
        except GtpProcessError as error:
            raise Forfeit(" ".join(str(error).split())) from None


@dataclasses.dataclass(frozen=True)
class Contestant:
    """A player of a match: an agent, or a program to start for every game.

    Attributes:
      name: for result tables.
      agent: one of ours, or None.
      command: seed → command line of a GTP program, or None.
    """

    name: str
    agent: Agent | None = None
    command: Callable[[int], Sequence[str]] | None = None

    def sit_down(self, seed: int, timeout: float) -> Player:
        """A player for one game."""
        if self.agent is not None:
            return AgentPlayer(self.agent, seed)
        assert self.command is not None
        return GtpPlayer(self.command(seed), timeout=timeout)
