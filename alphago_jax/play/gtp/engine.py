"""The table of GTP commands, and the commands about commands."""

from alphago_jax.play.gtp import arguments as read
from alphago_jax.play.gtp import moves, positions, records, settings
from alphago_jax.play.gtp.protocol import CommandError
from alphago_jax.play.gtp.session import Session

_ANALYSES = (
    "string/Final Score/final_score",
    "string/Estimated Score/estimate_score",
    "plist/All Legal/all_legal %c",
    "plist/Stones/list_stones %c",
    "string/Captures/captures %c",
    "string/Move History/move_history",
    "string/Rules/kata-get-rules",
    "string/Show Board/showboard",
)


class Engine:
    """Carries out GTP commands in one session.

    Attributes:
      session: what the commands work on.
    """

    def __init__(self, session: Session, *, version: str = "0") -> None:
        """Makes an engine.

        Args:
          session: what the commands work on.
          version: answer to `version`.
        """
        self.session = session
        self._version = version
        self._commands = {
            **settings.COMMANDS,
            **moves.COMMANDS,
            **positions.COMMANDS,
            **records.COMMANDS,
            "protocol_version": lambda session, arguments: "2",
            "name": lambda session, arguments: f"alphago-jax {session.seat.agent.name}",
            "version": lambda session, arguments: self._version,
            "known_command": self._known_command,
            "list_commands": lambda session, arguments: "\n".join(sorted(self.names)),
            "quit": lambda session, arguments: "",
            "gogui-analyze_commands": lambda session, arguments: "\n".join(_ANALYSES),
        }

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all commands."""
        return tuple(self._commands)

    def handle(self, name: str, arguments: list[str]) -> str:
        """Carries out one command; names are exact, upper and lower case differ.

        Raises:
          CommandError: the command is unknown or cannot be carried out.
        """
        command = self._commands.get(name)
        if command is None:
            raise CommandError("unknown command")
        return command(self.session, arguments)

    def _known_command(self, session: Session, arguments: list[str]) -> str:
        del session
        return "true" if read.need(arguments, 1)[0] in self._commands else "false"
