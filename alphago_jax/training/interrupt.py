"""Ending a run in good order when it is told to stop."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def stop_requested() -> Iterator[Callable[[], bool]]:
    """Turns the first SIGINT or SIGTERM into an answer to a question.

    Within the context the returned function says whether a signal has come, so that a
    loop can save and leave between two steps. A second signal acts as usual. Signals
    reach only a program's main thread; elsewhere the answer is always no.
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event.is_set
        return
    before = {
        number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)
    }

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, frame: FrameType | None) -> None:
        del number, frame
        event.set()
        restore()

    for number in before:
        signal.signal(number, note)
    try:
        yield event.is_set
    finally:
        restore()
