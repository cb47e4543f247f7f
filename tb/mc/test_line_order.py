"""LineOrder: a client's lines in the order of its requests, whatever order they come in."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.mc.bus.line_order import LineOrder
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate
from ctm.tb.mc.line_memory import TAG

COUNT, DEADLINE = 100, 4000
_BITS = 1 << 512


def answer(line: int) -> int:
    """What memory answers: bits and the refusal."""
    return line * 0x1_0001_0001 % _BITS | (line % 5 == 0) << 512


class Memory:
    """Answers lines that were asked for in any order, part by part; never waits for the client."""

    def __init__(self, order: LineOrder, generator: np.random.Generator, stall: float) -> None:
        self._order, self._generator, self._stall = order, generator, stall
        self._parts: list[tuple[int, int, int, int]] = []
        self.asked = Sink(order.lines.request, generator, stall)
        self.under_way: list[int] = []
        self.most = 0

    def drive(self, context: Any) -> None:
        """Set the ports for this cycle."""
        self.asked.drive(context)
        came = self._order.lines.response
        if self.under_way and not self._parts:
            request = self.under_way.pop(int(self._generator.integers(len(self.under_way))))
            line, tag = request & (1 << 26) - 1, request >> TAG
            bits, width = answer(line), len(came.payload.bits)
            self._parts = [
                (bits >> width * part & (1 << width) - 1, part, (bits >> 512) * (part == 512 // width - 1), tag)
                for part in range(512 // width)
            ]
        is_there = bool(self._parts) and self._generator.random() >= max(self._stall, 0.5)
        context.set(came.valid, is_there)
        if is_there:
            for field, value in zip(("bits", "part", "refused", "tag"), self._parts.pop(0), strict=True):
                context.set(came.payload[field], value)

    def finish(self, context: Any) -> None:
        """Take what was handed over in this cycle."""
        self.asked.finish(context)
        self.under_way += self.asked.received
        tags = [request >> TAG for request in self.under_way]
        assert len(set(tags)) == len(tags), "a place is given away once"
        self.asked.received.clear()
        self.most = max(self.most, len(self.under_way))


@pytest.mark.parametrize("memory_stall", STALLS)
@pytest.mark.parametrize("client_stall", STALLS)
@pytest.mark.parametrize(("outstanding", "part_bits"), [(1, 512), (3, 512), (4, 512), (8, 512), (1, 256), (4, 128)])
def test_lines_come_in_order(outstanding: int, part_bits: int, client_stall: float, memory_stall: float) -> None:
    generator = np.random.default_rng(outstanding)
    order = LineOrder(outstanding=outstanding, part_bits=part_bits)
    source = Source(order.client.request, generator, client_stall)
    source.waiting = asked = [int(line) for line in generator.integers(1 << 26, size=COUNT)]
    asked = asked[:]
    sink, memory = Sink(order.client.response, generator, client_stall), Memory(order, generator, memory_stall)

    async def testbench(context: Any) -> None:
        for _ in range(DEADLINE):
            await cycle(context, [source, sink, memory])
            assert len(source.taken) - len(sink.received) <= outstanding
            if len(sink.received) == COUNT:
                return

    simulate(order, testbench)
    assert sink.received == [answer(line) for line in asked]
    assert client_stall or memory_stall or memory.most > outstanding // 2


def test_a_line_is_offered_two_cycles_after_it_came_and_one_in_each_cycle() -> None:
    order = LineOrder(outstanding=8)
    seen: list[int] = []

    async def testbench(context: Any) -> None:
        context.set(order.lines.request.ready, 1)
        context.set(order.client.response.ready, 1)
        for now in range(40):
            context.set(order.client.request.valid, now < 20)
            context.set(order.client.request.payload.line, now)
            # The line that was asked for in the last cycle comes.
            context.set(order.lines.response.valid, 0 < now <= 20)
            context.set(order.lines.response.payload.tag, (now - 1) % 8)
            context.set(order.lines.response.payload.bits, now - 1)
            if context.get(order.client.response.valid):
                assert context.get(order.client.response.payload.bits) == len(seen)
                seen.append(now)
            await context.tick()

    simulate(order, testbench)
    assert seen == list(range(3, 23))
