"""The vertex grouper against the golden model's assembly: every primitive, its provoking vertex, its number."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.draws import IndexFormat, PrimitiveType
from ctm.rtl.vgt.batch_builder import REUSED
from ctm.rtl.vgt.grouper import VertexGrouper
from ctm.sim.golden.draw.state import DrawState, Raster, Start
from ctm.sim.memory import Memory
from ctm.tb.lib.seeds import seeds
from ctm.tb.lib.streams import simulate
from ctm.tb.vgt.grouping import (
    INDICES,
    MEMORY_BYTES,
    VERTICES,
    Bench,
    Case,
    DroppedError,
    check,
    given,
    random_case,
)


@pytest.fixture(scope="module")
def grouper() -> VertexGrouper:
    return VertexGrouper(VERTICES)


@pytest.fixture(scope="module")
def whole() -> VertexGrouper:
    """One that assembles primitives of all kinds."""
    return VertexGrouper(VERTICES, geometry=True)


@pytest.mark.parametrize("seed", seeds(24, 300))
def test_primitives_are_those_of_the_golden_model(grouper: VertexGrouper, seed: int) -> None:
    case = random_case(seed)
    check(case, given(grouper, case, seed))


@pytest.mark.parametrize("seed", seeds(44, 600))
def test_primitives_of_all_kinds_are_those_of_the_golden_model(whole: VertexGrouper, seed: int) -> None:
    case = random_case(seed, geometry=True)
    check(case, given(whole, case, seed))


def test_a_vertex_that_comes_again_soon_is_shaded_once(grouper: VertexGrouper) -> None:
    memory = Memory(size=MEMORY_BYTES)
    memory.write(INDICES, np.tile(np.arange(REUSED), 6).astype(np.uint16).tobytes())
    state = DrawState(
        index_address=INDICES, index_format=IndexFormat.UINT16, raster=Raster(primitive=PrimitiveType.POINTLIST.value)
    )
    case = Case(memory, state, Start(6 * REUSED, 1, 0, 0), False)
    found = given(grouper, case, 0)
    assert [len(batch.vertices) for batch in found.batches] == [REUSED]
    check(case, found)


def test_a_strip_goes_on_in_the_next_batch(grouper: VertexGrouper) -> None:
    state = DrawState(raster=Raster(primitive=PrimitiveType.TRISTRIP.value, provoking_last=True))
    case = Case(Memory(size=MEMORY_BYTES), state, Start(3 * VERTICES, 1, 0, 0), False)
    found = given(grouper, case, 1)
    assert len(found.batches) == 4 and all(len(batch.vertices) > 40 for batch in found.batches[:-1])
    check(case, found)


def test_an_error_response_to_an_index_is_an_error_and_the_next_draw_is_not(grouper: VertexGrouper) -> None:
    memory = Memory(size=MEMORY_BYTES)
    memory.respond_with_errors(INDICES + 64, INDICES + 128)
    state = DrawState(
        index_address=INDICES, index_format=IndexFormat.UINT32,
        raster=Raster(primitive=PrimitiveType.TRILIST.value),
    )  # fmt: skip
    failing = Case(memory, state, Start(40, 1, 0, 0), False)
    good = random_case(5)

    async def bench(context: Any) -> None:
        first = Bench(grouper, failing, 2)
        await first.run(context)
        assert first.given.error
        await first.drop(context)
        second = Bench(grouper, good, 3)
        await second.run(context)
        check(good, second.given)

    simulate(grouper, bench)


@pytest.mark.parametrize("seed", seeds(12, 200))
def test_of_a_draw_that_is_dropped_nothing_is_left(whole: VertexGrouper, seed: int) -> None:
    generator = np.random.default_rng(seed)

    async def run(context: Any) -> None:
        for number in range(3):
            for each in generator.integers(1000, size=6):
                lasts = int(generator.choice([generator.integers(12), generator.integers(100)]))
                dropped = Bench(whole, random_case(int(each), geometry=True), int(each), lasts)
                try:
                    await dropped.run(context)
                except DroppedError:
                    await dropped.drop(context)
            case = random_case(seed + 1000 * number, geometry=True)
            bench = Bench(whole, case, seed + number)
            await bench.run(context)
            check(case, bench.given)
            assert bench.lines.requested == case.lines

    simulate(whole, run)
