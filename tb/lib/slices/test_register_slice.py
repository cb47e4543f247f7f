"""Register slices: nothing is lost, doubled or reordered, for every schedule of a few cycles and long random ones."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from ctm.rtl.lib.register_slice import RegisteredHandshake, RegisterSlice, SliceMode
from ctm.tb.lib.streams import STALLS, Sink, Source, simulate

EACH = 60
DEADLINE = 4000
SCHEDULE = 5
"""Cycles of which every schedule is tried: 2 ** 5 of offers by as many of readiness."""
DRAIN = 8


@pytest.mark.parametrize("source_stall", STALLS)
@pytest.mark.parametrize("sink_stall", STALLS)
@pytest.mark.parametrize("mode", SliceMode)
def test_every_payload_comes_out_once_and_in_its_order(mode, sink_stall, source_stall):
    generator = np.random.default_rng(1)
    slice_ = RegisterSlice(16, mode)
    source, sink = Source(slice_.input, generator, source_stall), Sink(slice_.output, generator, sink_stall)
    source.waiting = list(range(1, EACH + 1))

    async def testbench(context: Any) -> None:
        for _ in range(DEADLINE):
            source.drive(context)
            sink.drive(context)
            held = len(source.taken) - len(sink.received)
            assert context.get(slice_.empty) == (held == 0)
            source.finish(context)
            sink.finish(context)
            if len(sink.received) == EACH:
                return
            await context.tick()
        raise AssertionError("payloads are left")

    simulate(slice_, testbench)
    assert sink.received == list(range(1, EACH + 1))


@pytest.mark.slow
@pytest.mark.parametrize("mode", SliceMode)
def test_every_schedule_of_a_few_cycles_gives_what_was_taken(mode):
    """One run through all of them: the slice is drained between two."""
    slice_ = RegisterSlice(16, mode)

    async def testbench(context: Any) -> None:
        number = 0
        for offers, readies in product(product((0, 1), repeat=SCHEDULE), repeat=2):
            taken, received, offered = [], [], False
            for cycle in range(SCHEDULE + DRAIN):
                # An offer is held until it is taken.
                offered = offered or (cycle < SCHEDULE and bool(offers[cycle]))
                ready = cycle >= SCHEDULE or bool(readies[cycle])
                context.set(slice_.input.valid, offered)
                context.set(slice_.input.payload, number & 0xFFFF)
                context.set(slice_.output.ready, ready)
                if context.get(slice_.output.valid) and ready:
                    received.append(context.get(slice_.output.payload))
                if offered and context.get(slice_.input.ready):
                    taken.append(number & 0xFFFF)
                    number, offered = number + 1, False
                await context.tick()
            assert received == taken, (offers, readies)
            assert context.get(slice_.empty)

    simulate(slice_, testbench)


@pytest.mark.parametrize(("mode", "every"), [(SliceMode.FORWARD, 1), (SliceMode.FULL, 1), (SliceMode.LIGHT, 2)])
def test_throughput_is_a_transfer_in_every_cycle_or_in_every_second_one(mode, every):
    slice_, seen = RegisterSlice(16, mode), []

    async def testbench(context: Any) -> None:
        context.set(slice_.input.valid, 1)
        context.set(slice_.output.ready, 1)
        for cycle in range(20):
            if context.get(slice_.output.valid):
                seen.append(cycle)
            await context.tick()

    simulate(slice_, testbench)
    assert seen == list(range(1, 20, every))


@pytest.mark.parametrize("mode", [SliceMode.FULL, SliceMode.LIGHT])
def test_ready_does_not_follow_from_ready_in_the_same_cycle(mode):
    slice_ = RegisterSlice(16, mode)

    async def testbench(context: Any) -> None:
        generator = np.random.default_rng(2)
        for _ in range(200):
            context.set(slice_.input.valid, int(generator.integers(2)))
            found = set()
            for ready in (0, 1, int(generator.integers(2))):
                context.set(slice_.output.ready, ready)
                found.add(context.get(slice_.input.ready))
            assert len(found) == 1
            await context.tick()

    simulate(slice_, testbench)


@pytest.mark.parametrize("wait", [0, 1, 5])
def test_a_transfer_completes_a_cycle_after_the_other_side(wait):
    """The other side sees it a cycle after the offer, once, and with its payload until it is complete."""
    unit, events = RegisteredHandshake(8), []

    async def testbench(context: Any) -> None:
        for number in range(4):
            context.set(unit.input.payload, number)
            context.set(unit.input.valid, 1)
            seen, cycle, done = 0, 0, False
            while not done:
                context.set(unit.output.ready, seen > wait - 1 and bool(context.get(unit.output.valid)))
                if context.get(unit.output.valid):
                    assert context.get(unit.output.payload) == number
                    seen += 1
                    if context.get(unit.output.ready):
                        events.append((number, cycle))
                done = bool(context.get(unit.input.ready))
                await context.tick()
                cycle += 1
            assert cycle == wait + 3, "offered, seen, waiting, complete"
            context.set(unit.input.valid, number % 2 == 0)

    simulate(unit, testbench)
    assert events == [(number, 1 + wait) for number in range(4)], "each is seen complete exactly once"
