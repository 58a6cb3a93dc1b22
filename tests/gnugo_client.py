"""GNU Go for the tests: many commands are sent at once, which is what makes it fast."""

import subprocess


class GnuGo:
    """A GNU Go process in GTP mode."""

    def __init__(self, program: str, *flags: str) -> None:
        self.process = subprocess.Popen(
            [program, "--mode", "gtp", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate("quit\n", timeout=20)

    def ask(self, *commands: str) -> list[list[str]]:
        """The words of each answer."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write("".join(f"{command}\n" for command in commands))
        self.process.stdin.flush()
        return [self._answer(command) for command in commands]

    def _answer(self, command: str) -> list[str]:
        assert self.process.stdout
        text = ""
        while (line := self.process.stdout.readline()) != "\n":
            assert line, f"GNU Go ended at {command}"
            text += line
        assert text.startswith("="), (command, text)
        return text[1:].split()
