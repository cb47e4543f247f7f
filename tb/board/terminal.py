"""A pseudo-terminal, whose other end responds to bytes, as a serial port with a board does."""

import os
import select
import tty
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import Self

Exchange = Callable[[bytes], bytes]
_CAPACITY = 1 << 14


class Terminal:
    """As a context: `port` is the path to open. `exchange` is called again and again with what has come, or nothing.

    What it raises comes up at the context's end; the port hangs up at once.
    """

    def __init__(self, exchange: Exchange, *, idle: float = 0.0) -> None:
        self._exchange, self._idle = exchange, idle
        self._over = Event()
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        own, other = os.openpty()
        self._own: int | None = own
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
        self._hang_up()
        if self._failure is not None:
            raise self._failure

    def pull_out(self) -> None:
        """As if the cable were: the port hangs up."""
        self._over.set()
        self._thread.join()
        self._hang_up()

    def _run(self) -> None:
        try:
            own, waiting = self._own, b""
            assert own is not None
            while not self._over.is_set():
                readable, writable, _ = select.select([own], [own] if waiting else [], [], self._idle)
                waiting += self._exchange(os.read(own, _CAPACITY) if readable else b"")
                if writable:
                    waiting = waiting[os.write(own, waiting) :]
        except BaseException as error:
            self._failure = error
            self._hang_up()

    def _hang_up(self) -> None:
        if self._own is not None:
            own, self._own = self._own, None
            with suppress(OSError):
                os.close(own)
