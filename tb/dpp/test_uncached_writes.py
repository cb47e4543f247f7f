"""UncachedWrites: announced writes come out in order, without writes of no lane that do not acquire."""

from collections import deque
from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.memory.uncached_writes import UncachedWrites
from ctm.rtl.isa.word import pack, unpack
from ctm.tb.lib.streams import STALLS, Sink, simulate

WRITES = 200
LATENCY = 5
"""Cycles from an announcement to its write, an arbitrary number."""


@pytest.mark.parametrize("stall", STALLS)
@pytest.mark.parametrize("lanes", [4, 16])
def test_random_writes(lanes, stall):
    generator = np.random.default_rng(lanes)
    unit = UncachedWrites(ArrayConfig(lanes=lanes, threads=4, temporaries=128))
    layout, sink = unit.write.payload.shape(), Sink(unit.write, generator, stall)
    stages: deque[int | None] = deque([None] * LATENCY)
    made: list[int] = []
    waited = 0

    def random_write() -> int:
        mask = int(generator.integers(1 << lanes)) if generator.random() < 0.6 else 0
        fields = {name: int(generator.integers(1 << 12)) for name in ("x", "y", "values")}
        return pack(layout, wave=int(generator.integers(4)), acquires=int(generator.integers(2)), mask=mask, **fields)

    async def testbench(context: Any) -> None:
        nonlocal waited
        for _ in range(30 * WRITES):
            issues = bool(context.get(unit.ready)) and len(made) < WRITES and generator.random() < 0.9
            waited += not context.get(unit.ready)
            stages.appendleft(random_write() if issues else None)
            made.extend([] if stages[0] is None else [stages[0]])
            context.set(unit.announced, issues)
            write = stages.pop()
            context.set(unit.result.valid, write is not None)
            context.set(Value.cast(unit.result.write), write or 0)
            sink.drive(context)
            assert not (context.get(unit.empty) and context.get(unit.write.valid))
            sink.finish(context)
            await context.tick()
            if len(made) == WRITES and context.get(unit.empty):
                break

    simulate(unit, testbench)
    writes = [unpack(layout, write) for write in made]
    sent = [write for write in writes if write["mask"] or write["acquires"]]
    assert [unpack(layout, write) for write in sink.received] == sent
    assert len(made) == WRITES > len(sent)
    assert stall < 0.5 or waited > 10
