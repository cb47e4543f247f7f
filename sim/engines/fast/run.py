"""One program on the host: threads run segments of the domain, the golden model runs what they give back."""

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
_SEGMENTS = 4
"""Segments of the domain that may wait."""
_NANOSECOND = 1e-9
_LEAST_SECONDS, _LEAST_VECTORS = 0.0001, 16
"""The least work for a thread: its time, and its size where the time is unknown."""


@dataclass(frozen=True, kw_only=True)
class _Segment:
    """Neighbouring wavefronts of the domain walk that are running.

    `tables` are those of threads that take vectors of it until none remains, by their addresses.
    """

    tables: dict[int, Table]
    wavefronts: DomainWavefronts
    layout: Layout


class FastRun:
    """A program that is running; see `Run`. `fallback` runs it on the golden model, for what is given back."""

    def __init__(self, start: Start, fallback: ArrayRun[Any, Any], workers: Workers) -> None:
        self._launch, self._prepared, self._code, self._fallback = start.launch, start.prepared, start.code, fallback
        self._workers, self._arranged = workers, start.arranged
        self._segments: deque[_Segment] = deque()
        self._may_wait = 1 if self._prepared.in_order else _SEGMENTS
        self._stopped = False

    def add(self, wavefronts: DomainWavefronts) -> None:
        """Run wavefronts; see `Run.add`."""
        while len(self._segments) >= self._may_wait:
            self._take()
        if self._stopped:
            self._fallback.add(wavefronts)
        else:
            self._begin(wavefronts)

    def finish(self) -> MachineError | None:
        """Wait for all; see `Run.finish`."""
        while self._segments:
            self._take()
        return self._fallback.finish()

    def _begin(self, wavefronts: DomainWavefronts) -> None:
        known = self._known(wavefronts)
        tables = known.begin(self._threads(known.layout.vectors))
        segment = _Segment(tables=tables, wavefronts=wavefronts, layout=known.layout)
        # Kept before any of them begins.
        self._segments.append(segment)
        self._workers.submit(self._code, segment.tables)

    def _known(self, wavefronts: DomainWavefronts) -> Arranged:
        """Wavefronts as they are run, which may be known."""
        known = self._arranged.get(wavefronts)
        if known is None:
            prepared = self._prepared
            frame, table = prepared.frame, prepared.table.copy()
            layout = Layout.of(wavefronts, frame.wavefronts, rows=frame.rows, is_tested=frame.is_tested)
            table[Slot.ORIGIN_I], table[Slot.ORIGIN_J] = layout.i.ctypes.data, layout.j.ctypes.data
            if layout.covered is not None:
                table[Slot.COVERED] = layout.covered.ctypes.data
            table[Slot.VECTORS], table[Slot.LIMIT] = layout.vectors, self._launch.watchdog or _UNLIMITED
            table[Slot.CODE] = self._code.address
            known = self._arranged[wavefronts] = Arranged.of(layout, table, self._workers.threads)
        return known

    def _threads(self, vectors: int) -> int:
        """How many threads a segment is worth."""
        if self._prepared.in_order:
            return 1
        pace = self._code.pace * self._prepared.frame.wavefronts
        worth = int(vectors * pace / _LEAST_SECONDS) if pace else vectors // _LEAST_VECTORS
        return max(1, min(self._workers.threads, worth))

    def _take(self) -> None:
        """Wait for the first segment, and run what it gives back."""
        segment, found = self._segments.popleft(), []
        for address, table in segment.tables.items():
            self._workers.wait(address)
            # A vector that met the limit also stopped those after it.
            self._stopped |= not table[Slot.LIMIT]
            count = int(table[Slot.RETURNED_COUNT])
            if count:
                found.append(table[SLOTS:].view(np.int32)[:count])
        self._count(list(segment.tables.values()))
        if found:
            vectors = segment.layout.positions // self._prepared.frame.wavefronts
            self._fallback.add(segment.wavefronts.select(np.isin(vectors, np.concatenate(found))))

    def _count(self, tables: Sequence[Table]) -> None:
        total = reduce(add, (table[:SLOTS] for table in tables))
        counted = self._prepared.counters(total)
        self._fallback.counters.add(counted)
        if counted.wavefronts:
            self._code.pace = _NANOSECOND * int(total[Slot.NANOSECONDS]) / counted.wavefronts
