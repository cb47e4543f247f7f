"""The vertex grouper against the golden model's assembly: every primitive, its provoking vertex, its number."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.lines import LINE_BYTES
from ctm.rtl.isa.draws import IndexFormat, PrimitiveType
from ctm.rtl.vgt.batch_builder import REUSED
from ctm.rtl.vgt.grouper import VertexGrouper
from ctm.rtl.vgt.topology import CORNERS_OF, assembled
from ctm.sim.golden.draw.state import DrawState, Raster, Start
from ctm.sim.golden.draw.vertices import Assembly, assemble
from ctm.sim.memory import Memory
from ctm.tb.lib.seeds import seeds
from ctm.tb.lib.streams import STALLS, simulate

VERTICES = 64
INDICES = 0x1000
_MEMORY = 1 << 16
_TYPES = {IndexFormat.UINT16: np.uint16, IndexFormat.UINT32: np.uint32}


@dataclass
class Case:
    """A draw's indices, and how they form primitives."""

    memory: Memory
    state: DrawState
    start: Start
    by_primitive: bool

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
    memory, restart = Memory(size=_MEMORY), None
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
    return Case(memory, state, Start(count, 1, base, 0), bool(generator.random() < 0.3))


@dataclass
class Given:
    """What the hardware gives: batches of vertices (index, primitive) by entry, and primitives of entries."""

    batches: list[tuple[list[tuple[int, int]], list[tuple[tuple[int, ...], int, int]]]]
    error: bool = False


class Bench:
    """The grouper, with a memory that answers late."""

    def __init__(self, grouper: VertexGrouper, case: Case, seed: int) -> None:
        self.grouper, self.case, self.generator = grouper, case, np.random.default_rng(seed)
        self.stall = STALLS[seed % len(STALLS)]
        self.lines: list[tuple[int, int]] = []
        self.given = Given([])
        self.cycles = 0

    async def run(self, context: Any) -> None:
        """Begin an instance, and take its batches."""
        grouper = self.grouper
        context.set(grouper.state, self.case.words)
        context.set(grouper.by_primitive, int(self.case.by_primitive))
        context.set(grouper.most, VERTICES)
        if hasattr(grouper, "space"):
            context.set(grouper.space.known, 1)
        while not context.get(grouper.idle):
            await self._tick(context)
        context.set(grouper.begin, 1)
        await self._tick(context)
        context.set(grouper.begin, 0)
        ends = False
        while not ends:
            ends = await self._batch(context)

    async def _batch(self, context: Any) -> bool:
        """Take one batch; whether it is the last one."""
        batch = self.grouper.batch
        vertices: list[tuple[int, int]] = []
        while not context.get(batch.closed):
            if context.get(batch.vertex.valid):
                assert context.get(batch.vertex.entry) == len(vertices)
                vertices.append((context.get(batch.vertex.index), context.get(batch.vertex.primitive)))
            await self._tick(context)
        assert context.get(batch.used) == len(vertices) <= VERTICES
        if context.get(batch.error):
            self.given.error = True
            return True
        primitives, stream = [], batch.primitive
        while context.get(stream.valid):
            ready = int(self.generator.random() >= self.stall)
            context.set(stream.ready, ready)
            if ready:
                payload = context.get(stream.payload)
                primitives.append((tuple(payload.corners), payload.provoking, payload.number))
            await self._tick(context)
        context.set(stream.ready, 0)
        self.given.batches.append((vertices, primitives))
        ends = bool(context.get(batch.ends))
        context.set(batch.done, 1)
        await self._tick(context)
        context.set(batch.done, 0)
        return ends

    async def _tick(self, context: Any) -> None:
        """A cycle, in which memory takes a request or gives a line."""
        lines = self.grouper.lines
        context.set(lines.request.ready, int(self.generator.random() >= self.stall))
        offers = bool(self.lines) and self.lines[0][1] <= self.cycles
        context.set(lines.response.valid, int(offers))
        if offers:
            address = self.lines[0][0] * LINE_BYTES
            refused = self.case.memory.is_refused(address, LINE_BYTES)
            content = 0 if refused else int.from_bytes(self.case.memory.bytes[address : address + LINE_BYTES], "little")
            context.set(lines.response.payload, {"bits": content, "error": int(refused)})
        if offers and context.get(lines.response.ready):
            self.lines.pop(0)
        if context.get(lines.request.valid) and context.get(lines.request.ready):
            delay = int(self.generator.integers(1, 12))
            self.lines.append((context.get(lines.request.payload.line), self.cycles + delay))
        self.cycles += 1
        assert self.cycles < 20_000
        await context.tick()


@pytest.fixture(scope="module")
def grouper() -> VertexGrouper:
    return VertexGrouper(VERTICES)


@pytest.fixture(scope="module")
def whole() -> VertexGrouper:
    """One that assembles primitives of all kinds."""
    return VertexGrouper(VERTICES, geometry=True)


def given(grouper: VertexGrouper, case: Case, seed: int) -> Given:
    """What the hardware gives for a case."""
    bench = Bench(grouper, case, seed)
    simulate(grouper, bench.run)
    return bench.given


def check(case: Case, found: Given) -> None:
    """Compare primitives by the vertices that they name."""
    expected, kind = case.expected, case.state.raster.kind
    assert kind is not None
    count = CORNERS_OF[kind]
    owners = expected.primitive if case.by_primitive else np.zeros(expected.index.size, int)
    wanted, got = [], []
    for corners, provoking, number in zip(expected.corners, expected.provoking, expected.number, strict=True):
        named = [(int(expected.index[corner]), int(owners[corner])) for corner in corners]
        wanted.append((tuple(named), int(expected.index[provoking]), int(number)))
    for vertices, primitives in found.batches:
        for corners, provoking, number in primitives:
            assert count > 1 or len({*corners[:3]}) == 1
            got.append((tuple(vertices[entry] for entry in corners[:count]), vertices[provoking][0], number))
    assert got == wanted


@pytest.mark.parametrize("seed", seeds(24, 300))
def test_primitives_are_those_of_the_golden_model(grouper: VertexGrouper, seed: int) -> None:
    case = random_case(seed)
    check(case, given(grouper, case, seed))


@pytest.mark.parametrize("seed", seeds(44, 600))
def test_primitives_of_all_kinds_are_those_of_the_golden_model(whole: VertexGrouper, seed: int) -> None:
    case = random_case(seed, geometry=True)
    check(case, given(whole, case, seed))


def test_a_vertex_that_comes_again_soon_is_shaded_once(grouper: VertexGrouper) -> None:
    memory = Memory(size=_MEMORY)
    memory.write(INDICES, np.tile(np.arange(REUSED), 6).astype(np.uint16).tobytes())
    state = DrawState(
        index_address=INDICES, index_format=IndexFormat.UINT16, raster=Raster(primitive=PrimitiveType.POINTLIST.value)
    )
    case = Case(memory, state, Start(6 * REUSED, 1, 0, 0), False)
    found = given(grouper, case, 0)
    assert [len(vertices) for vertices, _ in found.batches] == [REUSED]
    check(case, found)


def test_a_strip_goes_on_in_the_next_batch(grouper: VertexGrouper) -> None:
    state = DrawState(raster=Raster(primitive=PrimitiveType.TRISTRIP.value, provoking_last=True))
    case = Case(Memory(size=_MEMORY), state, Start(3 * VERTICES, 1, 0, 0), False)
    found = given(grouper, case, 1)
    assert len(found.batches) == 4 and all(len(vertices) > 40 for vertices, _ in found.batches[:-1])
    check(case, found)


def test_an_index_that_memory_refuses_is_an_error_and_the_next_draw_is_not(grouper: VertexGrouper) -> None:
    memory = Memory(size=_MEMORY)
    memory.refuse(INDICES + 64, INDICES + 128)
    state = DrawState(
        index_address=INDICES, index_format=IndexFormat.UINT32,
        raster=Raster(primitive=PrimitiveType.TRILIST.value),
    )  # fmt: skip
    refused = Case(memory, state, Start(40, 1, 0, 0), False)
    good = random_case(5)

    async def bench(context: Any) -> None:
        first = Bench(grouper, refused, 2)
        await first.run(context)
        assert first.given.error
        context.set(grouper.drop, 1)
        while not context.get(grouper.idle):
            await first._tick(context)
        context.set(grouper.drop, 0)
        second = Bench(grouper, good, 3)
        await second.run(context)
        check(good, second.given)

    simulate(grouper, bench)
