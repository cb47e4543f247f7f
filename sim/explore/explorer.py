"""Runs requests one at a time, each in a process of its own with limits."""

import sys
from threading import Event, Lock

from pydantic import ValidationError

from ctm.sim.explore.limits import GIVEN_UP, LimitError, Limits, Worker
from ctm.sim.explore.request import EXPLORED, REQUEST, Explored, Request

_COMMAND = (sys.executable, "-P", "-m", "ctm.sim.explore.worker")
"""-P: modules do not come from the folder that it works in."""


def explored(request: Request, limits: Limits | None = None, stop: Event | None = None) -> Explored:
    """What is known of a source, computed in a process of its own; `failure` says which limit it met."""
    with Worker(_COMMAND, limits or Limits()) as worker:
        return _asked(worker, request, stop)


class Explorer:
    """`explored`, one request at a time; a process that has imported everything waits for the next one."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._lock = Lock()
        self._next: Worker | None = None
        self._stops: set[Event] = set()
        self._is_closed = False

    def prepare(self) -> None:
        """Start the process that waits."""
        with self._lock:
            if self._next is None and not self._is_closed:
                self._next = Worker(_COMMAND, self._limits)

    def explored(self, request: Request, stop: Event) -> Explored:
        """As the function; `stop` ends it, also while it waits for another one."""
        self._stops.add(stop)
        try:
            with self._lock:
                if self._is_closed or stop.is_set():
                    return Explored(failure=GIVEN_UP)
                worker, self._next = self._next or Worker(_COMMAND, self._limits), None
                with worker:
                    found = _asked(worker, request, stop)
                if not self._is_closed:
                    self._next = Worker(_COMMAND, self._limits)
                return found
        finally:
            self._stops.discard(stop)

    def close(self) -> None:
        """End the process that waits and the one that works; no further request is accepted."""
        self._is_closed = True
        for stop in tuple(self._stops):
            stop.set()
        with self._lock:
            if self._next is not None:
                self._next.close()
                self._next = None


def _asked(worker: Worker, request: Request, stop: Event | None) -> Explored:
    try:
        return EXPLORED.validate_json(worker.ask(REQUEST.dump_json(request), stop))
    except LimitError as error:
        return Explored(failure=str(error))
    except ValidationError:
        return Explored(failure="the response could not be read")
