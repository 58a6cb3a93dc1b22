"""What a user got wrong, said in one line; for the command and the experiments."""

import contextlib
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def mistakes_in_one_line(program: str) -> Iterator[None]:
    """Ends the program plainly where its user can mend what is wrong.

    Errors that this project or the file system raise are printed on stderr without a
    traceback; ALPHAGO_JAX_TRACEBACK=1 shows where they came from. Errors out of JAX
    and other libraries are faults, and keep their traceback.

    Args:
      program: its name, in front of the message.

    Raises:
      SystemExit: status 2 after a user's mistake, 130 after Ctrl-C, 1 when the reader
        of standard output has left.
    """
    try:
        yield
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        # Our reader has left, as `head` does; the flush at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise SystemExit(1) from None
    except (OSError, ValueError, RuntimeError) as error:
        if os.environ.get("ALPHAGO_JAX_TRACEBACK") or not _is_plain(error):
            raise
        print(f"{program}: {_text(error)}", file=sys.stderr)
        raise SystemExit(2) from None


def _is_plain(error: Exception) -> bool:
    """Whether an error is the user's to mend: ours, or the file system's."""
    if isinstance(error, OSError):
        return True
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    module = "" if frame is None else frame.tb_frame.f_globals.get("__name__", "")
    return module.partition(".")[0] in ("alphago_jax", "__main__")


def _text(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
