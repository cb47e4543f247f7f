"""RefillTable: lines that come in any order, and are consumed in the order of their requests."""

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import CacheConfig
from ctm.rtl.mc.lines.refills import RefillTable
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

SETS, WAYS, ROWS = 4, 2, 12
CYCLES, _PERIOD = fewer(1500), 100


@dataclass(eq=False)
class Refill:
    """A line that was requested, and how many of its slices have come."""

    line: int
    uncached: int
    row: int
    entry: dict[str, int]
    error: bool
    tag: int = -1
    slices: int = 0


class Bench:
    """The table, the refills in it in the order of their requests, and those that are still to be requested."""

    def __init__(self, outstanding: int, slice_bits: int, stall: float) -> None:
        self.unit: Any = RefillTable(
            CacheConfig(sets=SETS, ways=WAYS), rows=ROWS, outstanding=outstanding, slice_bits=slice_bits
        )
        self.draw = np.random.default_rng(outstanding)
        self.outstanding, self.slices, self.stall = outstanding, 512 // slice_bits, stall
        self.inside: deque[Refill] = deque()
        self.waiting: deque[Refill] = deque()
        self.failed: Refill | None = None
        self.consumed = self.most = self.cycle = 0

    def _begin(self, context: Any) -> Refill | None:
        """Begin a refill or none, as far as the table is ready."""
        ready = bool(context.get(self.unit.ready))
        assert not ready or len(self.inside) < self.outstanding, "there is no entry for it"
        begins = ready and self.draw.random() >= self.stall
        line, row, way, number = self.draw.integers(0, [1 << 26, ROWS, WAYS, SETS]).tolist()
        refill = Refill(line, int(self.draw.integers(2)), row, {"set": number, "way": way}, self.draw.random() < 0.3)
        fields = {"line": refill.line, "uncached": refill.uncached, "row": refill.row, "entry": refill.entry}
        context.set(self.unit.begin, {"valid": int(begins), **fields})
        return refill if begins else None

    def _request(self, context: Any) -> None:
        """Take the next request or not: they come in order, each with a tag of its own."""
        request, ready = self.unit.lines.request, self.draw.random() >= self.stall
        context.set(request.ready, int(ready))
        if not (ready and context.get(request.valid)):
            return
        refill, payload = self.waiting.popleft(), context.get(request.payload)
        assert (payload.line, payload.uncached) == (refill.line, refill.uncached)
        assert all(payload.tag != other.tag for other in self.inside if other is not refill), "a tag is in use"
        refill.tag = payload.tag

    def _respond(self, context: Any) -> Refill | None:
        """Give the next slice of a refill, of any one, or none."""
        response = self.unit.lines.response
        coming = [refill for refill in self.inside if refill.tag >= 0 and refill.slices < self.slices]
        # Memory is slow every other time.
        comes = bool(coming) and self.draw.random() >= max(self.stall, 0.9 * (self.cycle // _PERIOD % 2))
        context.set(response.valid, int(comes))
        if not comes:
            assert not context.get(self.unit.fill.valid)
            return None
        refill = coming[int(self.draw.integers(len(coming)))]
        bits, is_last = int(self.draw.integers(1 << 62)), refill.slices == self.slices - 1
        error = int(is_last and refill.error)
        fields = {"bits": bits, "slice": refill.slices, "error": error, "tag": refill.tag}
        context.set(response.payload, fields)
        fill = context.get(self.unit.fill)
        assert (fill.valid, fill.row, fill.bits, fill.slice, fill.error) == (1, refill.row, bits, refill.slices, error)
        return refill

    async def step(self, context: Any) -> None:
        """One cycle."""
        failed = context.get(self.unit.failed)
        assert bool(failed.valid) == (self.failed is not None)
        if self.failed is not None:
            assert (failed.entry.set, failed.entry.way) == (self.failed.entry["set"], self.failed.entry["way"])
            assert not context.get(self.unit.ready), "a line is requested while one is invalidated"
        first = self.inside[0] if self.inside else None
        has_arrived = first is not None and first.slices == self.slices
        assert bool(context.get(self.unit.arrived)) == has_arrived
        consumes = has_arrived and self.draw.random() >= self.stall
        context.set(self.unit.consume, int(consumes))
        begun, responded = self._begin(context), self._respond(context)
        self._request(context)
        await context.tick()
        self.failed = None
        if responded is not None:
            responded.slices += 1
            if responded.slices == self.slices and responded.error and not responded.uncached:
                self.failed = responded
        if consumes:
            self.inside.popleft()
            self.consumed += 1
        if begun is not None:
            self.inside.append(begun)
            self.waiting.append(begun)
        self.most, self.cycle = max(self.most, len(self.inside)), self.cycle + 1


@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize(("outstanding", "slice_bits"), [(1, 512), (3, 128), (8, 512)])
def test_refills_come_in_any_order_and_are_consumed_in_theirs(outstanding: int, slice_bits: int, stall: float) -> None:
    bench = Bench(outstanding, slice_bits, stall)

    async def testbench(context: Any) -> None:
        for _ in range(CYCLES):
            await bench.step(context)

    simulate(bench.unit, testbench)
    assert bench.consumed > CYCLES // 20
    assert bench.most == outstanding, "the table has never been full"
