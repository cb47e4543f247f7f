"""One program on the host: threads run parts of the domain, the golden model runs what they give back."""

import math
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.engines.fast import arrangement
from ctm.sim.engines.fast.compiler import Code
from ctm.sim.engines.fast.parameters import Slot, Table
from ctm.sim.engines.fast.program import Prepared
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.pe.domain import Groups

_OUTSIDE = 1 << 20
"""A coordinate outside of every domain."""
_UNLIMITED = (1 << 63) - 1
_PARTS = 4
"""Parts of the domain that may wait, for each thread."""
_SHARES = 2
"""Parts that groups are cut into for each thread, because no two take the same time."""
_LEAST_SECONDS, _LEAST_VECTORS = 0.0002, 16
"""Of a part that is worth a thread's while: how long it takes, and its size where nobody knows how long that is."""


class Workers:
    """The threads of an engine. Parts that they run are stopped by their limit."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads, "ctm-fast")
        self._running: deque[tuple[Future[None], Table]] = deque()

    def submit(self, code: Code, table: Table) -> Future[None]:
        """Run what `table` describes."""
        while self._running and self._running[0][0].done():
            self._running.popleft()
        future = self._pool.submit(code.run, table)
        self._running.append((future, table))
        return future

    def stop(self) -> None:
        """End all parts."""
        for future, table in self._running:
            table[Slot.LIMIT] = 0
            future.cancel()
        for future, _ in self._running:
            if not future.cancelled():
                future.exception()
        self._running.clear()


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Neighbouring groups of the domain walk that are running."""

    future: Future[None]
    table: Table
    groups: Groups
    places: arrangement.Integers
    returned: npt.NDArray[np.int32]
    kept: tuple[npt.NDArray[Any], ...]


class FastRun:
    """A program that is running; see `Run`. `rest` is the same program on the golden model, for what is given back."""

    def __init__(
        self, launch: Launch[Any], prepared: Prepared, code: Code, rest: ArrayRun[Any, Any], workers: Workers
    ) -> None:
        self._launch, self._prepared, self._code, self._rest = launch, prepared, code, rest
        self._workers = workers
        self._parts: deque[_Part] = deque()
        self._may_wait = 1 if prepared.in_order else _PARTS * workers.threads
        self._stopped = False

    def add(self, groups: Groups) -> None:
        """Run groups; see `Run.add`."""
        for part in self._shares(groups):
            while len(self._parts) >= self._may_wait:
                self._take()
            if self._stopped:
                self._rest.add(part)
            else:
                self._parts.append(self._begin(part))

    def finish(self) -> MachineError | None:
        """Wait for all; see `Run.finish`."""
        while self._parts:
            self._take()
        return self._rest.finish()

    def _shares(self, groups: Groups) -> Iterator[Groups]:
        """The same groups for several threads."""
        count, groups_of_vector = groups.order.size, self._prepared.frame.groups
        share = -(-count // groups_of_vector)
        if self._may_wait > 1 and self._workers.threads > 1:
            pace = self._code.pace
            least = math.ceil(_LEAST_SECONDS / pace) if pace else _LEAST_VECTORS
            share = max(least, -(-share // (_SHARES * self._workers.threads)))
        for first in range(0, count, share * groups_of_vector):
            yield groups.part(first, min(count, first + share * groups_of_vector))

    def _begin(self, groups: Groups) -> _Part:
        frame, table = self._prepared.frame, self._prepared.table.copy()
        places = arrangement.places(groups, frame.groups, rows=frame.rows)
        vectors = int(places[-1]) // frame.groups + 1
        origins = np.full((2, vectors * frame.groups), _OUTSIDE, np.int32)
        # A slice is a copy; places one by one take many times as long.
        taken = slice(places.size) if int(places[-1]) == places.size - 1 else places
        origins[0, taken], origins[1, taken] = groups.i, groups.j
        returned = np.zeros(vectors, np.int32)
        table[Slot.ORIGIN_I], table[Slot.ORIGIN_J] = (row.ctypes.data for row in origins)
        table[Slot.VECTORS] = vectors
        table[Slot.LIMIT] = self._launch.watchdog or _UNLIMITED
        table[Slot.RETURNED] = returned.ctypes.data
        kept: tuple[npt.NDArray[Any], ...] = (origins,)
        if frame.is_tested:
            tested = np.zeros((vectors * frame.groups, frame.group), np.uint8)
            tested[places] = groups.covered().reshape(-1, frame.group)
            table[Slot.COVERED] = tested.ctypes.data
            kept = (*kept, tested)
        future = self._workers.submit(self._code, table)
        return _Part(future=future, table=table, groups=groups, places=places, returned=returned, kept=kept)

    def _take(self) -> None:
        """Wait for the first part, and run what it gives back."""
        part = self._parts.popleft()
        part.future.result()
        self._count(part.table)
        count = int(part.table[Slot.RETURNED_COUNT])
        if not count:
            return
        # Whoever met the limit took all behind it along.
        self._stopped |= not part.table[Slot.LIMIT]
        vectors = part.places // self._prepared.frame.groups
        self._rest.add(part.groups.select(np.isin(vectors, part.returned[:count])))

    def _count(self, table: Table) -> None:
        units = self._prepared.units
        issued = {unit: int(table[Slot.ISSUED + number]) for number, unit in enumerate(units)}
        counted = Counters(
            groups=int(table[Slot.GROUPS]), issued=issued, lane_instructions=int(table[Slot.LANE_INSTRUCTIONS])
        )
        self._rest.counters.add(counted)
