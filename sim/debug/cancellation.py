"""How another thread ends what a session does."""

from collections.abc import Sequence
from threading import Event
from typing import Any

from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.golden.dpp.batch import Batch


class Cancelled(BaseException):
    """Another thread ended what a session did; its state is no position's until `Session.go_afresh`."""


class Cancellation:
    """What is executed looks here behind each instruction; see `Observer`."""

    def __init__(self) -> None:
        self._wanted = Event()

    def request(self) -> None:
        """Of any thread: end what the session does with `Cancelled`."""
        self._wanted.set()

    def clear(self) -> None:
        """Forget a request: of a command that has ended."""
        self._wanted.clear()

    def executed(self, pc: int, parts: Sequence[Batch[Any]]) -> None:
        """See `Observer.executed`; Cancelled: it was requested."""
        if self._wanted.is_set():
            raise Cancelled

    def faulted(self, batch: Batch[Any], status: Status, client: BusClient | None) -> None:
        """See `Observer.faulted`."""

    def ended(self, batch: Batch[Any]) -> None:
        """See `Observer.ended`."""
