"""Arbiter: nothing is lost, doubled or reordered, and every source is served."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.lib.sharing import Arbiter
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate

EACH = 30
DEADLINE = 6000


def payloads(count: int, number: int) -> list[int]:
    return [number << 8 | index for index in range(count)]


@pytest.mark.parametrize("source_stall", STALLS)
@pytest.mark.parametrize("sink_stall", STALLS)
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_every_payload_comes_out_once_and_in_its_order(count, sink_stall, source_stall):
    generator = np.random.default_rng(count)
    arbiter = Arbiter(16, count)
    sources = [Source(port, generator, source_stall) for port in arbiter.inputs]
    for number, source in enumerate(sources):
        source.waiting = payloads(EACH, number)
    sink = Sink(arbiter.output, generator, sink_stall)

    async def testbench(context: Any) -> None:
        for _ in range(DEADLINE):
            if not any(source.waiting for source in sources):
                return
            before = len(sink.received)
            for end in (*sources, sink):
                end.drive(context)
            if context.get(arbiter.output.valid):
                assert context.get(arbiter.source) == context.get(arbiter.output.payload) >> 8
            offers = any(context.get(port.valid) for port in arbiter.inputs)
            assert context.get(arbiter.output.valid) == offers, "combinational: an offer is passed on at once"
            for end in (*sources, sink):
                end.finish(context)
            assert sum(len(source.taken) for source in sources) == len(sink.received) <= before + 1
            await context.tick()
        raise AssertionError("payloads are left")

    simulate(arbiter, testbench)
    for number in range(count):
        assert [word for word in sink.received if word >> 8 == number] == payloads(EACH, number)


@pytest.mark.parametrize("sink_stall", STALLS)
@pytest.mark.parametrize("count", [2, 3, 5])
def test_a_waiting_source_is_passed_at_most_once_by_each_other(count, sink_stall):
    generator = np.random.default_rng(count)
    arbiter = Arbiter(16, count)
    sources = [Source(port, generator, 0.0 if number else 0.6) for number, port in enumerate(arbiter.inputs)]
    for number, source in enumerate(sources):
        source.waiting = payloads(256, number)
    sink = Sink(arbiter.output, generator, sink_stall)
    passed = np.zeros((count, count), int)
    """[waiting source, source that went first]"""

    async def testbench(context: Any) -> None:
        while min(len(source.waiting) for source in sources) > 100:
            before = [len(source.taken) for source in sources]
            await cycle(context, [*sources, sink])
            for number, source in enumerate(sources):
                if len(source.taken) > before[number]:
                    passed[number] = 0
                    waiting = [other for other in range(count) if sources[other].offered]
                    passed[waiting, number] += 1
            assert passed.max() <= 1

    simulate(arbiter, testbench)
