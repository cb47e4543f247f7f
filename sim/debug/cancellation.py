"""How another thread ends what a session does."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event
from typing import Any

from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.golden.dpp.batch import Batch


class Cancelled(BaseException):
    """Another thread ended what a session did; its state is no position's until `Session.go_afresh`."""


class Cancellation:
    """What is executed looks here after each instruction; see `Observer`."""

    def __init__(self) -> None:
        self._wanted, self._ends, self._is_ignored = Event(), False, False

    def request(self) -> None:
        """Of any thread: end what the session does with `Cancelled`."""
        self._wanted.set()

    def end(self) -> None:
        """Of any thread: end whatever the session does from now on; it is not used any more."""
        self._ends = True

    @contextmanager
    def ignored(self) -> Iterator[None]:
        """Requests in the block come to nothing: it makes the session whole again."""
        self._is_ignored = True
        try:
            yield
        finally:
            self._is_ignored = False
            self.clear()

    def clear(self) -> None:
        """Clear a request: it was for a command that has ended."""
        self._wanted.clear()

    def executed(self, pc: int, batches: Sequence[Batch[Any]]) -> None:
        """See `Observer.executed`; Cancelled: it was requested."""
        if self._ends or (self._wanted.is_set() and not self._is_ignored):
            raise Cancelled

    def faulted(self, batch: Batch[Any], status: Status, client: BusClient | None) -> None:
        """See `Observer.faulted`."""

    def ended(self, batch: Batch[Any]) -> None:
        """See `Observer.ended`."""
