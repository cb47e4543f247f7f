"""Random draws of the vertex grouper, the memory and the streams around it, and what the golden model assembles."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ctm.rtl.border.lines import LINE_BYTES, LINE_REQUEST, LINE_RESPONSE
from ctm.rtl.isa.draws import IndexFormat
from ctm.rtl.vgt.batch_builder import REUSED
from ctm.rtl.vgt.grouper import VertexGrouper
from ctm.rtl.vgt.topology import CORNERS_OF, assembled
from ctm.sim.golden.draw.state import DrawState, Raster, Start
from ctm.sim.golden.draw.vertices import Assembly, assemble
from ctm.sim.memory import Memory
from ctm.tb.lib.streams import STALLS, Sink, Source, simulate

VERTICES = 64
INDICES = 0x1000
MEMORY_BYTES = 1 << 16
_LINES = 2
"""Lines that may be in flight."""
_TYPES: Mapping[IndexFormat, type[np.uint16 | np.uint32]] = {
    IndexFormat.UINT16: np.uint16,
    IndexFormat.UINT32: np.uint32,
}


@dataclass
class Case:
    """A draw's indices, and how they form primitives."""

    memory: Memory
    state: DrawState
    start: Start
    by_primitive: bool
    most: int = VERTICES
    """Vertices of a batch."""
    fitting: int | None = None
    """Primitives that fit into the draw's streams, if it has any."""

    @property
    def corners(self) -> int:
        """Of a primitive."""
        kind = self.state.raster.kind
        assert kind is not None
        return CORNERS_OF[kind]

    @property
    def lines(self) -> list[int]:
        """The lines of the index buffer."""
        if self.state.index_format is IndexFormat.NONE:
            return []
        size = self.start.count * np.dtype(_TYPES[self.state.index_format]).itemsize
        first = self.state.index_address
        return [*range(first // LINE_BYTES, (first + size - 1) // LINE_BYTES + 1)]

    @property
    def expected(self) -> Assembly:
        """What the golden model assembles in one instance."""
        return assemble(self.memory, self.state, self.start, by_primitive=self.by_primitive)

    @property
    def words(self) -> dict[str, Any]:
        """The state of the hardware."""
        raster = self.state.raster
        restart = self.state.restart
        return {
            "indices": {
                "address": self.state.index_address, "format": self.state.index_format,
                "restarts": int(restart is not None), "restart": restart or 0,
            },
            "raster": {"primitive": raster.primitive, "provoking_last": int(raster.provoking_last)},
            "count": self.start.count,
            "base_vertex": self.start.base_vertex,
        }  # fmt: skip


def random_case(seed: int, *, geometry: bool = False) -> Case:
    """Few vertices that come again, many that do not, strips of all lengths, restarts."""
    generator = np.random.default_rng(seed)
    kinds = assembled(geometry=geometry)
    kind = kinds[seed % len(kinds)]
    format_ = list(IndexFormat)[seed // len(kinds) % len(IndexFormat)]
    count = int(generator.choice([1, 2, 3, 7, 40, 300])) + int(generator.integers(6)) * geometry
    memory, restart = Memory(size=MEMORY_BYTES), None
    address = INDICES + 4 * int(generator.integers(20))
    if format_ is not IndexFormat.NONE:
        values = generator.integers(0, generator.choice([4, 20, 1000]), count)
        if generator.random() < 0.3:
            values = np.arange(count) // 3
        if generator.random() < 0.5:
            restart = int(np.iinfo(_TYPES[format_]).max if generator.random() < 0.5 else 3)
            values[generator.random(count) < 0.2] = restart
        memory.write(address, values.astype(_TYPES[format_]).tobytes())
    state = DrawState(
        index_address=address, index_format=format_, restart=restart,
        raster=Raster(primitive=kind.value, provoking_last=bool(generator.random() < 0.5)),
    )  # fmt: skip
    base = int(generator.choice([0, 5, (1 << 32) - 2]))
    case = Case(memory, state, Start(count, 1, base, 0), bool(generator.random() < 0.3))
    case.most = int(generator.choice([VERTICES, VERTICES, int(generator.integers(case.corners, VERTICES))]))
    if geometry and generator.random() < 0.3:
        case.fitting = int(generator.choice([0, 1, 5, 400]))
    return case


@dataclass
class Batch:
    """What the hardware gives: vertices (index, primitive) by entry, and primitives of entries."""

    vertices: list[tuple[int, int]] = field(default_factory=list)
    streamed: list[int | None] = field(default_factory=list)
    """Of each vertex its number among those that are streamed out."""
    primitives: list[tuple[tuple[int, ...], int, int]] = field(default_factory=list)


@dataclass
class Given:
    """The batches that the hardware gives, and whether an index could not be read."""

    batches: list[Batch] = field(default_factory=list)
    error: bool = False


class Lines:
    """A memory with a random latency that stalls requests at random. A request is held until it is taken."""

    def __init__(self, port: Any, memory: Memory, generator: np.random.Generator, stall: float) -> None:
        self._memory, self._generator = memory, generator
        self._requests, self._responses = Sink(port.request, generator, stall), Source(port.response, generator, 0.0)
        self.requested: list[int] = []
        self._waiting: list[tuple[int, int]] = []
        """Responses, and the cycles in which they come."""
        self._cycle = 0

    def cycle(self, context: Any) -> None:
        """Take a request, and give a line."""
        while self._waiting and self._waiting[0][1] <= self._cycle:
            self._responses.waiting.append(self._waiting.pop(0)[0])
        for end in (self._requests, self._responses):
            end.drive(context)
        for end in (self._requests, self._responses):
            end.finish(context)
        for payload in self._requests.received[len(self.requested) :]:
            self._take(payload)
        self._cycle += 1

    def _take(self, payload: int) -> None:
        request: Any = LINE_REQUEST.from_bits(payload)
        assert request.uncached
        address = request.line * LINE_BYTES
        has_error = self._memory.has_error(address, LINE_BYTES)
        content = 0 if has_error else int.from_bytes(self._memory.bytes[address : address + LINE_BYTES], "little")
        response = LINE_RESPONSE.const({"bits": content, "error": int(has_error)}).as_value().value
        self.requested.append(request.line)
        self._waiting.append((response, self._cycle + int(self._generator.integers(1, 12))))
        assert len(self._waiting) + len(self._responses.waiting) <= _LINES


class Space:
    """A draw's streams, into which the first primitives of a case fit."""

    def __init__(self, port: Any, case: Case, generator: np.random.Generator) -> None:
        self.port, self.case, self.generator = port, case, generator
        self.taken, self._unknown = 0, 0
        """Primitives that were streamed out since the instance began."""

    def cycle(self, context: Any) -> None:
        """Say whether the next primitive fits; that is not known for some cycles after one was taken."""
        port, known = self.port, self.case.fitting is None or not self._unknown
        fits = self.case.fitting is not None and self.taken < self.case.fitting
        context.set(port.streams, int(self.case.fitting is not None))
        context.set(port.known, int(known))
        context.set(port.fits, int(fits) if known else int(self.generator.integers(2)))
        context.set(port.number, self.taken * self.case.corners if known else int(self.generator.integers(1 << 32)))
        self._unknown = max(self._unknown - 1, 0)
        if context.get(port.take):
            assert known and fits and context.get(port.corners) == self.case.corners
            self.taken, self._unknown = self.taken + 1, int(self.generator.integers(1, 3))


class DroppedError(Exception):
    """The draw is to be dropped now."""


class Bench:
    """The grouper, with a memory and streams around it."""

    def __init__(self, grouper: VertexGrouper, case: Case, seed: int, lasts: int | None = None) -> None:
        self.grouper, self.case, self.generator = grouper, case, np.random.default_rng(seed)
        self.stall, self.lasts = STALLS[seed % len(STALLS)], lasts
        self.lines = Lines(grouper.lines, case.memory, self.generator, self.stall)
        self.space = Space(grouper.space, case, self.generator) if hasattr(grouper, "space") else None
        self.given, self.cycles = Given(), 0

    async def run(self, context: Any) -> None:
        """Begin an instance, and take its batches.

        Raises
        ------
        DroppedError
            After `lasts` cycles.
        """
        grouper = self.grouper
        context.set(grouper.state, self.case.words)
        context.set(grouper.by_primitive, int(self.case.by_primitive))
        context.set(grouper.most, self.case.most)
        while not context.get(grouper.control.idle):
            await self._tick(context)
        await self._pulse(context, grouper.control.begin)
        if self.space:
            self.space.taken = 0
        while not await self._batch(context):
            pass

    async def drop(self, context: Any) -> None:
        """Drop what is left of the instance."""
        self.lasts = None
        context.set(self.grouper.control.drop, 1)
        while True:
            await self._tick(context)
            if context.get(self.grouper.control.idle):
                break
        context.set(self.grouper.control.drop, 0)

    async def _batch(self, context: Any) -> bool:
        """Take one batch; whether it is the last one."""
        batch, found = self.grouper.batch, Batch()
        while not context.get(batch.closed):
            await self._tick(context, found)
        if context.get(batch.error):
            self.given.error = True
            return True
        stream = batch.primitive
        while context.get(stream.valid):
            ready = int(self.generator.random() >= self.stall)
            context.set(stream.ready, ready)
            if ready:
                payload = context.get(stream.payload)
                found.primitives.append((tuple(payload.corners), payload.provoking, payload.number))
            await self._tick(context, found)
            context.set(stream.ready, 0)
        assert context.get(batch.used) == len(found.vertices) <= self.case.most
        self.given.batches.append(found)
        ends = bool(context.get(batch.ends))
        await self._pulse(context, batch.done)
        return ends

    async def _pulse(self, context: Any, signal: Any) -> None:
        context.set(signal, 1)
        try:
            await self._tick(context)
        finally:
            context.set(signal, 0)

    async def _tick(self, context: Any, batch: Batch | None = None) -> None:
        """A cycle, in which vertices of a batch may come; others are those of what is dropped."""
        if self.cycles == self.lasts:
            raise DroppedError
        # Whether a line is taken follows from the space that streams have.
        if self.space:
            self.space.cycle(context)
        self.lines.cycle(context)
        vertex = self.grouper.batch.vertex
        if batch and context.get(vertex.valid):
            assert context.get(vertex.entry) == len(batch.vertices)
            batch.vertices.append((context.get(vertex.index), context.get(vertex.primitive)))
            batch.streamed.append(context.get(vertex.number) if context.get(vertex.streamed) else None)
        self.cycles += 1
        assert self.cycles < 20_000
        await context.tick()


def given(grouper: VertexGrouper, case: Case, seed: int) -> Given:
    """What the hardware gives for a case."""
    bench = Bench(grouper, case, seed)
    simulate(grouper, bench.run)
    assert bench.lines.requested == case.lines
    return bench.given


def check(case: Case, found: Given) -> None:
    """Compare primitives by the vertices that they name, and vertices by the primitives."""
    expected, count = case.expected, case.corners
    owners = expected.primitive if case.by_primitive else np.zeros(expected.index.size, int)
    wanted, got = [], []
    for corners, provoking, number in zip(expected.corners, expected.provoking, expected.number, strict=True):
        named = [(int(expected.index[corner]), int(owners[corner])) for corner in corners]
        wanted.append((tuple(named), int(expected.index[provoking]), int(number)))
    for batch in found.batches:
        for corners, provoking, number in batch.primitives:
            assert count > 1 or len({*corners[:3]}) == 1
            named = [batch.vertices[entry] for entry in corners[:count]]
            got.append((tuple(named), batch.vertices[provoking][0], number))
        assert batch.vertices == _shaded(case, batch)
    assert got == wanted
    for batch in found.batches[:-1]:
        assert len(batch.vertices) + count > case.most or len(batch.primitives) >= 2 * VERTICES - 1
    if case.fitting is not None:
        every = [number for batch in found.batches for number in batch.streamed]
        assert every == [each if each < case.fitting * count else None for each in range(len(wanted) * count)]


def _shaded(case: Case, batch: Batch) -> list[tuple[int, int]]:
    """The vertices that a batch's primitives need, less those that are one of the last new ones."""
    shaded: list[tuple[int, int]] = []
    for corners, _, number in batch.primitives:
        for entry in corners[: case.corners]:
            vertex = batch.vertices[entry]
            assert not case.by_primitive or vertex[1] == number
            if case.by_primitive or case.fitting is not None or vertex not in shaded[-REUSED:]:
                shaded.append(vertex)
    return shaded
