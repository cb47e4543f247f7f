"""One program on the host: threads run parts of the domain, the golden model runs what they give back."""

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.engines.fast import arrangement
from ctm.sim.engines.fast.parameters import Slot, Table
from ctm.sim.engines.fast.starts import Start
from ctm.sim.engines.fast.threads.workers import Workers
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.pe.domain import Groups

_OUTSIDE = 1 << 20
"""A coordinate outside of every domain."""
_UNLIMITED = (1 << 63) - 1
_PARTS = 4
"""Parts of the domain that may wait."""
_SHARES, _MOST_SHARE = 32, 16
"""Shares that threads take of a part, and the vectors of one: so few that all threads end at the same time."""
_NANOSECOND = 1e-9
_LEAST_SECONDS, _LEAST_VECTORS = 0.0001, 16
"""What is worth a thread's while: how long it takes, and its size where nobody knows how long that is."""


@dataclass(frozen=True, kw_only=True)
class _Runner:
    """A thread that takes vectors of a part until none is left; `returned` are those that it gives back."""

    table: Table
    returned: npt.NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Neighbouring groups of the domain walk that are running."""

    runners: list[_Runner]
    groups: Groups
    places: arrangement.Integers
    kept: tuple[npt.NDArray[Any], ...]


class FastRun:
    """A program that is running; see `Run`. `rest` is the same program on the golden model, for what is given back."""

    def __init__(self, start: Start, rest: ArrayRun[Any, Any], workers: Workers) -> None:
        self._launch, self._prepared, self._code, self._rest = start.launch, start.prepared, start.code, rest
        self._workers = workers
        self._parts: deque[_Part] = deque()
        self._may_wait = 1 if self._prepared.in_order else _PARTS
        self._stopped = False

    def add(self, groups: Groups) -> None:
        """Run groups; see `Run.add`."""
        while len(self._parts) >= self._may_wait:
            self._take()
        if self._stopped:
            self._rest.add(groups)
        else:
            self._begin(groups)

    def finish(self) -> MachineError | None:
        """Wait for all; see `Run.finish`."""
        while self._parts:
            self._take()
        return self._rest.finish()

    def _begin(self, groups: Groups) -> None:
        frame, table = self._prepared.frame, self._prepared.table.copy()
        places = arrangement.places(groups, frame.groups, rows=frame.rows)
        vectors = int(places[-1]) // frame.groups + 1
        threads = self._threads(vectors)
        kept: list[npt.NDArray[Any]] = [_placed(each, places, vectors * frame.groups) for each in (groups.i, groups.j)]
        table[Slot.ORIGIN_I], table[Slot.ORIGIN_J] = (row.ctypes.data for row in kept)
        if frame.is_tested:
            tested = np.zeros((vectors * frame.groups, frame.group), np.uint8)
            tested[places] = groups.covered().reshape(-1, frame.group)
            table[Slot.COVERED] = tested.ctypes.data
            kept.append(tested)
        taken = np.zeros(1, np.uint32)
        table[Slot.TAKEN], table[Slot.VECTORS] = taken.ctypes.data, vectors
        table[Slot.SHARE] = max(1, min(_MOST_SHARE, vectors // (_SHARES * threads)))
        table[Slot.LIMIT] = self._launch.watchdog or _UNLIMITED
        runners = [_runner(table.copy(), vectors) for _ in range(threads)]
        # Kept before any of them begins.
        self._parts.append(_Part(runners=runners, groups=groups, places=places, kept=(*kept, taken)))
        for runner in runners:
            self._workers.submit(self._code, runner.table)

    def _threads(self, vectors: int) -> int:
        """How many threads a part is worth."""
        if self._prepared.in_order:
            return 1
        pace = self._code.pace * self._prepared.frame.groups
        worth = int(vectors * pace / _LEAST_SECONDS) if pace else vectors // _LEAST_VECTORS
        return max(1, min(self._workers.threads, worth))

    def _take(self) -> None:
        """Wait for the first part, and run what it gives back."""
        part, found = self._parts.popleft(), []
        for runner in part.runners:
            self._workers.wait(runner.table)
            self._count(runner.table)
            # Whoever met the limit took all behind it along.
            self._stopped |= not runner.table[Slot.LIMIT]
            found.append(runner.returned[: int(runner.table[Slot.RETURNED_COUNT])])
        returned = np.concatenate(found)
        if returned.size:
            vectors = part.places // self._prepared.frame.groups
            self._rest.add(part.groups.select(np.isin(vectors, returned)))

    def _count(self, table: Table) -> None:
        units = self._prepared.units
        issued = {unit: int(table[Slot.ISSUED + number]) for number, unit in enumerate(units)}
        groups = int(table[Slot.GROUPS])
        counted = Counters(groups=groups, issued=issued, lane_instructions=int(table[Slot.LANE_INSTRUCTIONS]))
        self._rest.counters.add(counted)
        if groups:
            self._code.pace = _NANOSECOND * int(table[Slot.NANOSECONDS]) / groups


def _runner(table: Table, vectors: int) -> _Runner:
    """A runner with its own place for what it gives back."""
    returned = np.empty(vectors, np.int32)
    table[Slot.RETURNED] = returned.ctypes.data
    return _Runner(table=table, returned=returned)


def _placed(origins: arrangement.Integers, places: arrangement.Integers, size: int) -> arrangement.Integers:
    """Coordinates at their places among `size`, the others outside of every domain."""
    # Most have all places in order, and to copy them takes as long as to make them.
    if places.size == size and origins.dtype == np.int32:
        return np.ascontiguousarray(origins)
    result: arrangement.Integers = np.full(size, _OUTSIDE, np.int32)
    result[places] = origins
    return result
