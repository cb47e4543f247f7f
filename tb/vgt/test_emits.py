"""What threads emit, in hardware and on the golden model: every vertex, every strip, every primitive."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.draws import PrimitiveType
from ctm.rtl.isa.r700.control_flow import CfOperation
from ctm.rtl.vgt.emit_grouper import EmitGrouper
from ctm.rtl.vgt.topology import CORNERS_OF
from ctm.sim.golden.draw.topology import primitives_of
from ctm.sim.golden.r700.draws.threads import Emits
from ctm.tb.lib.seeds import seeds
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate

LANES, THREADS = 16, 64
OPERATIONS = (CfOperation.EMIT_VERTEX, CfOperation.EMIT_VERTEX, CfOperation.CUT_VERTEX, CfOperation.EMIT_CUT_VERTEX)
OUTPUTS = (PrimitiveType.TRISTRIP, PrimitiveType.POINTLIST, PrimitiveType.LINESTRIP)
_MOST_CYCLES = 5_000
"""In which all that wavefronts emit is taken, and so are the primitives of a batch."""
_AFTER_END = 8
"""Cycles after the last batch in which nothing follows."""


class Bench:
    """A run of a geometry program: random threads of its wavefronts emit, again and again."""

    def __init__(self, seed: int) -> None:
        self.draw = draw = np.random.default_rng(seed)
        self.output = OUTPUTS[seed % len(OUTPUTS)]
        self.most, self.emitted_item = int(draw.choice([1, 3, 7, 40])), int(draw.choice([4, 12, 20]))
        self.item = self.most * self.emitted_item + int(draw.choice([0, 8]))
        self.threads = int(draw.choice([0, 1, 15, 16, 40, 64]))
        self.provoking_last = bool(draw.integers(2))
        self.stall = STALLS[seed % len(STALLS)]
        self.golden = Emits(self.threads, self.most)
        self.found: list[tuple[tuple[int, ...], int]] = []
        """The dwords of each primitive's vertices, and that of the provoking one."""

    def program(self) -> dict[str, Any]:
        """The state of the hardware."""
        return {
            "present": 1, "vertex_item": 8, "item": self.item, "emitted_item": self.emitted_item,
            "most_emitted": self.most, "output": self.output,
        }  # fmt: skip

    def events(self, unit: EmitGrouper) -> list[int]:
        """What wavefronts emit, as payloads; the golden model emits it, too."""
        shape, payloads = unit.emitted.payload.shape(), []
        for _ in range(int(self.draw.choice([0, 5, 30]))):
            first = LANES * int(self.draw.integers(max(1, -(-self.threads // LANES))))
            exist = min(LANES, self.threads - first)
            if exist < 1:
                continue
            lanes = self.draw.random(exist) < self.draw.choice([0.0, 0.3, 1.0])
            operation = OPERATIONS[int(self.draw.integers(len(OPERATIONS)))]
            self.golden.execute(operation, first + np.flatnonzero(lanes))
            fields = {
                "emits": operation is not CfOperation.CUT_VERTEX, "cuts": operation is not CfOperation.EMIT_VERTEX,
                "first": first, "lanes": sum(1 << int(lane) for lane in np.flatnonzero(lanes)),
            }  # fmt: skip
            payloads.append(shape.const({name: int(value) for name, value in fields.items()}).as_value().value)
        return payloads

    def expected(self) -> list[tuple[tuple[int, ...], int]]:
        """What the golden model makes of it."""
        counts = self.golden.count
        threads = np.repeat(np.arange(self.threads), counts)
        numbers = np.arange(threads.size) - np.repeat(np.cumsum(counts) - counts, counts)
        begins = (numbers == 0) | self.golden.cut[threads, numbers]
        lengths = np.diff(np.append(np.flatnonzero(begins), threads.size))
        dwords = threads * self.item + numbers * self.emitted_item
        made = primitives_of(self.output, lengths, provoking_last=self.provoking_last)
        return [
            (tuple(int(dwords[corner]) for corner in corners), int(dwords[provoking]))
            for corners, provoking in zip(made.corners, made.provoking, strict=True)
        ]

    async def run(self, context: Any, unit: Any) -> None:
        """Emit, and then take the batches."""
        context.set(unit.program, self.program())
        context.set(unit.provoking_last, self.provoking_last)
        context.set(unit.space.known, 1)
        context.set(unit.control.threads, self.threads)
        context.set(unit.control.clear, 1)
        await context.tick()
        context.set(unit.control.clear, 0)
        source = Source(unit.emitted, self.draw, self.stall)
        source.waiting = self.events(unit)
        for _ in range(_MOST_CYCLES):
            if not source.waiting and context.get(unit.control.idle):
                break
            await cycle(context, [source])
        assert not source.waiting and context.get(unit.control.idle)
        context.set(unit.emitted.valid, 0)
        context.set(unit.control.begin, 1)
        await context.tick()
        context.set(unit.control.begin, 0)
        ends = False
        while not ends:
            ends = await self._batch(context, unit)
        assert self.found == self.expected()
        for _ in range(_AFTER_END):
            assert not context.get(unit.batch.closed) and not context.get(unit.batch.vertex.valid)
            await context.tick()

    async def _batch(self, context: Any, unit: Any) -> bool:
        batch, waited = unit.batch, 0
        vertices: list[int] = []
        # A vertex takes three cycles, and so do corners of the triangle that it completes.
        longest = 4 * int(self.golden.count.sum()) + 3 * self.threads + 20
        while not context.get(batch.closed):
            if context.get(batch.vertex.valid):
                assert context.get(batch.vertex.entry) == len(vertices)
                vertices.append(context.get(batch.vertex.index))
            waited += 1
            assert waited < longest
            await context.tick()
        sink, count = Sink(batch.primitive, self.draw, self.stall), CORNERS_OF[self.output]
        shape = batch.primitive.payload.shape()
        for _ in range(_MOST_CYCLES):
            if not context.get(batch.primitive.valid):
                break
            await cycle(context, [sink])
        assert not context.get(batch.primitive.valid)
        context.set(batch.primitive.ready, 0)
        for word in sink.received:
            payload = shape.from_bits(word)
            corners = [payload.corners[corner] for corner in range(count)]
            self.found.append((tuple(vertices[corner] for corner in corners), vertices[payload.provoking]))
        ends = bool(context.get(batch.ends))
        context.set(batch.done, 1)
        await context.tick()
        context.set(batch.done, 0)
        return ends


@pytest.fixture(scope="module")
def unit() -> EmitGrouper:
    return EmitGrouper(LANES, THREADS)


@pytest.mark.parametrize("seed", seeds(18, 300))
def test_primitives_are_those_of_the_golden_model(unit: EmitGrouper, seed: int) -> None:
    async def run(context: Any) -> None:
        # What a run leaves, the next one does not find.
        for number in range(2):
            await Bench(seed + 1000 * number).run(context, unit)

    simulate(unit, run)
