"""ResultRouter: where results go by their tags, and which operations have none yet."""

from collections import deque
from typing import Any

import numpy as np

from ctm.rtl.pa.registers import AREA, ROW_WORD, SNAPPED
from ctm.rtl.pa.results import ResultRouter
from ctm.rtl.pa.snap import Snap
from ctm.tb.lib.streams import simulate

CYCLES, REGISTERS, MOST = 2000, 16, 12
WORDS = (0x3F800000, 0xC1234567, 0x42C80000, 0x7F800000, 0xFFC00000, 0x00000000)
"""1.0, -10.2, 100.0, an infinity, a NaN, 0.0."""
_SNAPPED = {0x3F800000: 256, 0xC1234567: -2612, 0x42C80000: 25600, 0: 0}


def test_results_go_where_their_tags_say() -> None:
    unit: Any = ResultRouter()
    draw = np.random.default_rng(1)
    registers: dict[int, int] = {}
    coordinates: deque[tuple[int, int] | None] = deque([None] * Snap.latency)

    async def testbench(context: Any) -> None:
        pending = areas = finite = 0
        for _ in range(CYCLES):
            assert context.get(unit.pending) == pending
            comes, takes = bool(pending and draw.random() < 0.5), pending < MOST and bool(draw.random() < 0.5)
            kind = int(draw.integers(3))
            tag = int((draw.integers(REGISTERS), SNAPPED | draw.integers(8), ROW_WORD | draw.integers(4))[kind])
            word, written, number = int(draw.choice(WORDS)), int(draw.integers(1 << 32)), int(draw.integers(REGISTERS))
            writes = not comes and bool(draw.random() < 0.5)
            context.set(unit.taken, int(takes))
            context.set(unit.result, {"valid": int(comes), "tag": tag, "word": word})
            context.set(unit.write, {"valid": int(writes), "register": number, "word": written})
            for read in unit.reads:
                register = int(draw.integers(REGISTERS))
                context.set(read.register, register)
                assert register not in registers or context.get(read.word) == registers[register]
            fill, is_word = context.get(unit.fill), comes and kind == 2
            assert bool(fill.valid) == is_word
            assert not is_word or (fill.index, fill.word) == (tag & 3, word)
            assert bool(context.get(unit.has_area)) == (comes and tag == AREA)
            snapped, expected = context.get(unit.snapped), coordinates.popleft()
            assert bool(snapped.valid) == (expected is not None)
            if expected is not None:
                at, value = expected
                assert context.get(unit.snapped.at.as_value()) == at
                assert bool(context.get(unit.finite)) == (value in _SNAPPED)
                assert value not in _SNAPPED or snapped.value == _SNAPPED[value]
                vertex, axis = at & 3, at >> 2
                bound = {"axis": axis, "begins": int(vertex == 0), "goes_on": int(vertex in (1, 2))}
                assert {name: context.get(getattr(unit.bound, name)) for name in bound} == bound
                finite += value in _SNAPPED
            coordinates.append((tag & 7, word) if comes and kind == 1 else None)
            assert bool(context.get(unit.snaps)) == any(each is not None for each in (expected, *coordinates))
            if comes and kind == 0:
                registers[tag] = word
            elif writes:
                registers[number] = written
            areas += comes and tag == AREA
            pending += takes - comes
            await context.tick()
        assert areas > 5
        assert finite > 50

    simulate(unit, testbench)
