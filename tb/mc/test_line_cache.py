"""LineCache: lines and sectors of them, from lines that come whole or in slices."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.word import pack, unpack
from ctm.rtl.mc.lines.cache import LineCache
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import Sink, Source, cycle, simulate
from ctm.tb.mc.line_memory import Lines, line

COUNT, LINES, DEADLINE, PASSENGER_BITS = fewer(200), 24, 6000, 8
SMALL, MANY_SETS = CacheConfig(sets=2, ways=2), CacheConfig(sets=32, ways=1)
"""Tags of many sets are in block RAM."""


@pytest.mark.parametrize("stall", [0.0, 0.5])
@pytest.mark.parametrize(
    ("config", "slice_bits", "sector_bits"),
    [(SMALL, 512, 512), (SMALL, 128, 512), (SMALL, 64, 128), (MANY_SETS, 128, 512), (MANY_SETS, 128, 128)],
    ids=["lines", "slices", "slices to sectors", "many sets", "many sets to sectors"],
)
def test_each_access_gets_its_slice(config: CacheConfig, slice_bits: int, sector_bits: int, stall: float) -> None:
    generator = np.random.default_rng([slice_bits, sector_bits])
    cache = LineCache(config, PASSENGER_BITS, outstanding=3, waiting=8, slice_bits=slice_bits, sector_bits=sector_bits)
    source, sink = Source(cache.access, generator, stall), Sink(cache.result, generator, stall)
    accesses = [
        {
            "line": int(generator.integers(LINES)) << int(generator.choice([0, 0, 12])),
            "sector": int(generator.integers(512 // sector_bits)),
            "reads": int(generator.random() < 0.9),
            "uncached": int(generator.random() < 0.1),
            "passenger": number % 256,
        }
        for number in range(COUNT)
    ]
    layouts: Any = cache.access.payload.shape(), cache.result.payload.shape()
    source.waiting = [pack(layouts[0], **access) for access in accesses]
    lines = Lines(cache, generator, stall)
    lines.error_lines = {3, 5 << 12}

    async def testbench(context: Any) -> None:
        for _ in range(DEADLINE):
            await cycle(context, [source, sink, lines])
            if len(sink.received) == COUNT:
                break

    simulate(cache, testbench)
    size = sector_bits // 8
    for access, payload in zip(accesses, sink.received, strict=True):
        found = unpack(layouts[1], payload)
        error = access["reads"] and access["line"] in lines.error_lines
        assert (found["passenger"], found["error"]) == (access["passenger"], error)
        sector = line(access["line"])[size * access["sector"] :][:size]
        assert error or not access["reads"] or found["bits"] == int.from_bytes(sector, "little")
    assert len(lines.numbers) < sum(access["reads"] for access in accesses)
