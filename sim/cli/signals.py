"""How a signal ends a command: one line, its exit status, and nothing that runs on.

This module imports little, so that it is there before anything that takes long to import.
"""

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption(BaseException):
    """A signal has come. It is no KeyboardInterrupt, of which libraries make something of their own."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.name = signal.Signals(number).name
        self.status = 128 + number
        """The exit status by which shells know it."""

    def __str__(self) -> str:
        return f"interrupted by {self.name}; no file is half written"


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise `Interruption` in the body when a signal comes; end the process where the body lets it through.

    A signal that was ignored when the process started remains ignored, as under nohup.
    """
    signals = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in signals:
        signal.signal(number, _raise)
    try:
        yield
    except Interruption as interruption:
        _tell(interruption)
        sys.exit(interruption.status)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """End the process at once when a signal comes: an exception might be lost in the import of a module.

    No work has begun then.
    """
    signals = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in signals.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in signals.items():
            signal.signal(number, handler)


def _raise(number: int, _: FrameType | None) -> NoReturn:
    # Amaranth warns of hardware that is built but not used. A second signal raises the same again.
    warnings.simplefilter("ignore")
    raise Interruption(number)


def _end(number: int, _: FrameType | None) -> NoReturn:
    interruption = Interruption(number)
    _tell(interruption)
    os._exit(interruption.status)


def _tell(interruption: Interruption) -> None:
    # The terminal may be what has gone.
    with suppress(OSError):
        os.write(sys.stderr.fileno(), f"error: {interruption}\n".encode())
