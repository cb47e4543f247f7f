"""A pseudo-terminal, at whose other end something answers bytes: what a serial port with a board is to a program."""

import os
import select
import tty
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import Self

Exchange = Callable[[bytes], bytes]
_ROOM = 1 << 14


class Terminal:
    """As a context: `port` is the path to open. `exchange` is called again and again with what has come, or nothing.

    What it raises comes up at the context's end.
    """

    def __init__(self, exchange: Exchange, *, idle: float = 0.0) -> None:
        self._exchange, self._idle = exchange, idle
        self._over, self._failure = Event(), None
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._own, other = os.openpty()
        tty.setraw(other)
        self.port = os.ttyname(other)
        self._other: int | None = other
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        if self._other is not None:
            os.close(self._other)
        with suppress(OSError):
            os.close(self._own)
        if kind is None and self._failure is not None:
            raise self._failure

    def pull_out(self) -> None:
        """As if the cable were: the port hangs up."""
        self._over.set()
        self._thread.join()
        os.close(self._own)

    def _run(self) -> None:
        try:
            waiting = b""
            while not self._over.is_set():
                readable, writable, _ = select.select([self._own], [self._own] if waiting else [], [], self._idle)
                waiting += self._exchange(os.read(self._own, _ROOM) if readable else b"")
                if writable:
                    waiting = waiting[os.write(self._own, waiting) :]
        except BaseException as error:
            self._failure = error
