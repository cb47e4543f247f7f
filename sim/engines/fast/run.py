"""One program on the host: threads run parts of the domain, the golden model runs what they give back."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ctm.sim.engines.fast.arrangement import Arranged, Layout
from ctm.sim.engines.fast.parameters import SLOTS, Slot, Table
from ctm.sim.engines.fast.starts import Start
from ctm.sim.engines.fast.threads.workers import Workers
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.pe.domain import DomainWavefronts

_UNLIMITED = (1 << 63) - 1
_PARTS = 4
"""Parts of the domain that may wait."""
_NANOSECOND = 1e-9
_LEAST_SECONDS, _LEAST_VECTORS = 0.0001, 16
"""What is worth a thread's while: how long it takes, and its size where nobody knows how long that is."""


@dataclass(frozen=True, kw_only=True)
class _Part:
    """Neighbouring groups of the domain walk that are running.

    `tables` are those of threads that take vectors of it until none is left, by their addresses.
    """

    tables: dict[int, Table]
    groups: DomainWavefronts
    layout: Layout


class FastRun:
    """A program that is running; see `Run`. `rest` is the same program on the golden model, for what is given back."""

    def __init__(self, start: Start, rest: ArrayRun[Any, Any], workers: Workers) -> None:
        self._launch, self._prepared, self._code, self._rest = start.launch, start.prepared, start.code, rest
        self._workers, self._arranged = workers, start.arranged
        self._parts: deque[_Part] = deque()
        self._may_wait = 1 if self._prepared.in_order else _PARTS
        self._stopped = False

    def add(self, groups: DomainWavefronts) -> None:
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

    def _begin(self, groups: DomainWavefronts) -> None:
        known = self._known(groups)
        tables = known.begin(self._threads(known.layout.vectors))
        part = _Part(tables=tables, groups=groups, layout=known.layout)
        # Kept before any of them begins.
        self._parts.append(part)
        self._workers.submit(self._code, part.tables)

    def _known(self, groups: DomainWavefronts) -> Arranged:
        """Groups as they are run, which may be known."""
        known = self._arranged.get(groups)
        if known is None:
            prepared = self._prepared
            frame, table = prepared.frame, prepared.table.copy()
            layout = Layout.of(groups, frame.groups, rows=frame.rows, is_tested=frame.is_tested)
            table[Slot.ORIGIN_I], table[Slot.ORIGIN_J] = layout.i.ctypes.data, layout.j.ctypes.data
            if layout.covered is not None:
                table[Slot.COVERED] = layout.covered.ctypes.data
            table[Slot.VECTORS], table[Slot.LIMIT] = layout.vectors, self._launch.watchdog or _UNLIMITED
            table[Slot.CODE] = self._code.address
            known = self._arranged[groups] = Arranged.of(layout, table, self._workers.threads)
        return known

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
        for address, table in part.tables.items():
            self._workers.wait(address)
            # Whoever met the limit took all behind it along.
            self._stopped |= not table[Slot.LIMIT]
            count = int(table[Slot.RETURNED_COUNT])
            if count:
                found.append(table[SLOTS:].view(np.int32)[:count])
        self._count(list(part.tables.values()))
        if found:
            vectors = part.layout.places // self._prepared.frame.groups
            self._rest.add(part.groups.select(np.isin(vectors, np.concatenate(found))))

    def _count(self, tables: Sequence[Table]) -> None:
        total = reduce(add, (table[:SLOTS] for table in tables))
        counted = self._prepared.counters(total)
        self._rest.counters.add(counted)
        if counted.wavefronts:
            self._code.pace = _NANOSECOND * int(total[Slot.NANOSECONDS]) / counted.wavefronts
