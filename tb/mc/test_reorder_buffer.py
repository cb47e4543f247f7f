"""ReorderBuffer: clients' lines in the order of their requests, whatever order they come in."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.lines import LINE_BITS
from ctm.rtl.mc.bus.reorder_buffer import ReorderBuffer
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import STALLS, End, Sink, Source, cycle, simulate
from ctm.tb.mc.line_memory import TAG

COUNT, DEADLINE = fewer(100), 6000
_BITS = 1 << LINE_BITS
RINGS = [
    *(((depth,), 512, (False,)) for depth in (1, 3, 4, 8)),
    ((1,), 256, (False,)), ((2, 5), 512, (False, True)), ((4, 6, 6), 128, (True, False, True)),
    ((4, 6), 64, (True, False)), ((3,), 256, (True,)),
]  # fmt: skip
"""Lines in flight, bits of a slice, and the clients that get slices."""


def response(line: int) -> int:
    """The response of memory: bits and the error."""
    return line * 0x1_0001_0001 % _BITS | (line % 5 == 0) << LINE_BITS


class Memory(End):
    """Responds to requests in any order, slice by slice; never waits for a client."""

    def __init__(self, order: ReorderBuffer, generator: np.random.Generator, stall: float) -> None:
        self._order, self._generator, self._stall = order, generator, stall
        self._requests = [Sink(port, generator, stall) for port in order.requests]
        self._slices: list[tuple[int, ...]] = []
        self.in_flight: list[tuple[int, int]] = []
        self.most = 0

    def drive(self, context: Any) -> None:
        """Set the ports for this cycle."""
        for sink in self._requests:
            sink.drive(context)
        came = self._order.response
        if self.in_flight and not self._slices:
            client, request = self.in_flight.pop(int(self._generator.integers(len(self.in_flight))))
            bits, width = response(request & (1 << 26) - 1), len(came.payload.bits)
            last = LINE_BITS // width - 1
            self._slices = [
                (
                    bits >> width * index & (1 << width) - 1,
                    index,
                    (bits >> LINE_BITS) * (index == last),
                    client,
                    request >> TAG,
                )
                for index in range(last + 1)
            ]
        is_there = bool(self._slices) and self._generator.random() >= max(self._stall, 0.5)
        context.set(came.valid, is_there)
        if is_there:
            for field, value in zip(("bits", "slice", "error", "client", "tag"), self._slices.pop(0), strict=True):
                context.set(came.payload[field], value)

    def finish(self, context: Any) -> None:
        """Take what was handed over in this cycle."""
        for client, sink in enumerate(self._requests):
            sink.finish(context)
            self.in_flight += [(client, request) for request in sink.received]
            sink.received.clear()
        tags = [(client, request >> TAG) for client, request in self.in_flight]
        assert len(set(tags)) == len(tags), "a tag is given away once"
        self.most = max(self.most, len(self.in_flight))


def joined(sink: Sink) -> list[int]:
    """The whole lines that a client has, and their errors."""
    width, found, bits = len(sink.port.payload.bits), [], 0
    for number, payload in enumerate(sink.received):
        index = number % (LINE_BITS // width)
        assert payload >> width + 1 == index, "slices come in order"
        bits = bits * (index > 0) | (payload & (1 << width) - 1) << width * index
        if (index + 1) * width == LINE_BITS:
            found.append(bits | (payload >> width & 1) << LINE_BITS)
    return found


@pytest.mark.parametrize("memory_stall", STALLS)
@pytest.mark.parametrize("client_stall", STALLS)
@pytest.mark.parametrize(("outstanding", "slice_bits", "sliced"), RINGS)
def test_lines_come_in_order(
    outstanding: tuple[int, ...],
    slice_bits: int,
    sliced: tuple[bool, ...],
    client_stall: float,
    memory_stall: float,
) -> None:
    generator = np.random.default_rng(outstanding)
    order = ReorderBuffer(outstanding=outstanding, slice_bits=slice_bits, sliced=sliced)
    requested = [
        [int(line) for line in generator.integers(1 << 26, size=COUNT // len(outstanding))] for _ in outstanding
    ]
    sources = [Source(client.request, generator, client_stall) for client in order.clients]
    for source, lines in zip(sources, requested, strict=True):
        source.waiting = lines[:]
    sinks = [Sink(client.response, generator, client_stall) for client in order.clients]
    memory = Memory(order, generator, memory_stall)

    async def testbench(context: Any) -> None:
        for _ in range(DEADLINE):
            await cycle(context, [*sources, *sinks, memory])
            for source, sink, most in zip(sources, sinks, outstanding, strict=True):
                assert len(source.taken) - len(joined(sink)) <= most
            if all(len(joined(sink)) == len(lines) for sink, lines in zip(sinks, requested, strict=True)):
                return

    simulate(order, testbench)
    for sink, lines in zip(sinks, requested, strict=True):
        assert joined(sink) == [response(line) for line in lines]
    assert client_stall or memory_stall or memory.most > sum(outstanding) // 2


def test_a_line_is_offered_two_cycles_after_it_came_and_one_in_every_second_cycle() -> None:
    order = ReorderBuffer(outstanding=(8,))
    client, requested = order.clients[0], order.requests[0]
    seen: list[int] = []

    async def testbench(context: Any) -> None:
        context.set(requested.ready, 1)
        context.set(client.response.ready, 1)
        for now in range(40):
            number, comes = divmod(now, 2)
            context.set(client.request.valid, not comes and number < 10)
            context.set(client.request.payload.line, number)
            # The line that was requested in the last cycle comes.
            context.set(order.response.valid, comes and number < 10)
            context.set(order.response.payload.tag, number % 8)
            context.set(order.response.payload.bits, number)
            if context.get(client.response.valid):
                assert context.get(client.response.payload.bits) == len(seen)
                seen.append(now)
            await context.tick()

    simulate(order, testbench)
    assert seen == list(range(3, 23, 2))


def test_a_client_that_takes_nothing_holds_up_no_other() -> None:
    order = ReorderBuffer(outstanding=(4, 4, 4))
    generator = np.random.default_rng(5)
    sources = [Source(client.request, generator, 0) for client in order.clients]
    for source in sources:
        source.waiting = list(range(40))
    memory = Memory(order, generator, 0)
    sinks = [Sink(client.response, generator, 0) for client in order.clients[1:]]

    async def testbench(context: Any) -> None:
        for _ in range(400):
            await cycle(context, [*sources, *sinks, memory])

    simulate(order, testbench)
    assert [len(sink.received) for sink in sinks] == [40, 40]
    assert len(sources[0].taken) == 4


def test_rows_are_offered_three_cycles_after_their_line_and_lines_after_their_last_row() -> None:
    order = ReorderBuffer(outstanding=(2, 2), slice_bits=128, sliced=(True, False))
    seen: list[list[int]] = [[], []]

    async def testbench(context: Any) -> None:
        for client in range(2):
            context.set(order.requests[client].ready, 1)
            context.set(order.clients[client].request.valid, 1)
            context.set(order.clients[client].response.ready, 1)
        await context.tick()
        for client in range(2):
            context.set(order.clients[client].request.valid, 0)
        for now in range(40):
            number, index = divmod(now, 4)
            # One line for each, the second one when the first has been offered.
            comes = number in (0, 4)
            context.set(order.response.valid, comes)
            context.set(order.response.payload.client, number == 4)
            context.set(order.response.payload.slice, index)
            for client, times in enumerate(seen):
                if context.get(order.clients[client].response.valid):
                    times.append(now)
            await context.tick()

    simulate(order, testbench)
    assert seen == [[6, 9, 12, 15], [16 + 3 + 6]]


def test_clients_are_served_round_robin() -> None:
    """Of three with many lines that have come each gets every third one that is read."""
    order = ReorderBuffer(outstanding=(8, 8, 8))
    offered: list[tuple[int, ...]] = []

    async def testbench(context: Any) -> None:
        for client in range(3):
            context.set(order.requests[client].ready, 1)
            context.set(order.response.payload.client, client)
            for now in range(9):
                context.set(order.clients[client].request.valid, now < 8)
                context.set(order.response.valid, now > 0)
                context.set(order.response.payload.tag, now - 1)
                await context.tick()
        context.set(order.response.valid, 0)
        for each in order.clients:
            context.set(each.response.ready, 1)
        for _ in range(12):
            offered.append(tuple(context.get(client.response.valid) for client in order.clients))
            await context.tick()

    simulate(order, testbench)
    assert offered[0] == (1, 1, 1), "all have one already"
    for first in (2, 5):
        assert sorted(offered[first : first + 3]) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
