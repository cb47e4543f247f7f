"""The index reader's throughput; what it reads is checked with the vertex grouper."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.draws import IndexFormat
from ctm.rtl.vgt.index_reader import IndexReader
from ctm.sim.memory import Memory
from ctm.tb.lib.streams import simulate
from ctm.tb.vgt.grouping import INDICES, MEMORY_BYTES, Lines

COUNT = 150
_FIRST_CYCLES = 20
"""Cycles after which the first index is there, at the latest."""


@pytest.mark.parametrize("format_", [IndexFormat.UINT16, IndexFormat.UINT32, IndexFormat.NONE])
def test_an_index_comes_in_each_cycle_if_memory_takes_less_cycles_than_a_line_has_indices(format_: IndexFormat) -> None:
    unit: Any = IndexReader()
    lines = Lines(unit.lines, Memory(size=MEMORY_BYTES), np.random.default_rng(3), 0.0)

    async def run(context: Any) -> None:
        context.set(unit.buffer, {"address": INDICES, "format": format_})
        context.set(unit.count, COUNT)
        context.set(unit.index.ready, 1)
        context.set(unit.begin, 1)
        lines.cycle(context)
        await context.tick()
        context.set(unit.begin, 0)
        waited = 0
        while not context.get(unit.index.valid):
            waited += 1
            assert waited < _FIRST_CYCLES
            lines.cycle(context)
            await context.tick()
        for number in range(COUNT):
            assert context.get(unit.index.valid) and context.get(unit.index.payload.last) == (number == COUNT - 1)
            lines.cycle(context)
            await context.tick()
        assert not context.get(unit.index.valid) and context.get(unit.idle)

    simulate(unit, run)
