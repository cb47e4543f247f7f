"""Guarantees of the scheduler about timing and the watchdog, with one wavefront."""

from dataclasses import dataclass
from typing import Any

import pytest

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.scheduler import Scheduler
from ctm.tb.dpp.instruction_sets import SHAPES
from ctm.tb.lib.streams import simulate


@dataclass(frozen=True)
class Ports:
    """Ports by their use in the tests: the counted one, the faulting one, one that fetches."""

    counted: int
    faulting: int
    fetches: int


def ports(shapes: Shapes) -> Ports:
    fetches = next(number for number, port in enumerate(shapes.ports) if port.fetches)
    return Ports(shapes.counted, shapes.faulting, fetches)


async def start(context: Any, unit: Scheduler, first: int, *, watchdog: int = 0) -> None:
    """One wavefront whose first instruction is for port `first` and is issued in this cycle; everything is allowed."""
    for allowed in (unit.summaries.can_fetch, unit.ended.ready):
        context.set(allowed, 1)
    for allowed in (unit.available.ready, unit.available.resources):
        context.set(allowed, (1 << len(allowed)) - 1)
    context.set(unit.admission.usable, 0b11)
    context.set(unit.start, 7)
    context.set(unit.watchdog, watchdog)
    await context.tick()
    context.set(unit.admission.admit, 1)
    await context.tick()
    context.set(unit.admission.admit, 0)
    assert context.get(unit.summaries.fetch.pc) == 7
    context.set(unit.summaries.fetched, {"unit": first})
    context.set(unit.begin, {"valid": 1, "wave": 0})
    await context.tick()
    context.set(unit.begin, {"valid": 0})
    assert context.get(unit.ports[first].issue.pc) == 7
    assert context.get(unit.ports[first].issue.valid)
    await context.tick()


async def finish(context: Any, unit: Scheduler, port: int, **done: Any) -> None:
    context.set(unit.ports[port].done, {"valid": 1, "wave": 0, **done})
    await context.tick()
    context.set(unit.ports[port].done, {"valid": 0})


@pytest.mark.parametrize("instruction_set", SHAPES)
def test_a_wavefront_goes_on_in_the_next_cycle_and_after_a_jump_two_cycles_later(instruction_set):
    named = ports(SHAPES[instruction_set])
    unit = Scheduler(ArrayConfig(threads=4, temporaries=128), SHAPES[instruction_set])
    alu, flow = unit.ports[named.counted].issue, unit.ports[named.faulting].issue

    async def testbench(context: Any) -> None:
        await start(context, unit, named.faulting)
        await finish(context, unit, named.faulting, pc=8, following={"unit": named.counted})
        assert (context.get(alu.valid), context.get(alu.pc), context.get(flow.valid)) == (1, 8, 0)
        await context.tick()
        assert not context.get(alu.valid)
        await finish(context, unit, named.counted, pc=3, jumps=1, following={"unit": named.counted})
        for expected in (0, 0, 1):
            assert context.get(flow.valid) == expected
            assert not context.get(alu.valid)
            await context.tick()

    simulate(unit, testbench)


@pytest.mark.parametrize("instruction_set", SHAPES)
@pytest.mark.parametrize("watchdog", [1, 2, 5])
def test_the_watchdog_stops_the_instruction_after_the_last_that_is_allowed(instruction_set, watchdog):
    named = ports(SHAPES[instruction_set])
    unit = Scheduler(ArrayConfig(threads=4, temporaries=128), SHAPES[instruction_set])

    async def testbench(context: Any) -> None:
        await start(context, unit, named.faulting, watchdog=watchdog)
        port = named.faulting
        for executed in range(watchdog):
            assert not context.get(unit.expired)
            # Instructions that are issued again do not count.
            await finish(context, unit, port, again=1)
            context.set(unit.available.constants, 1)
            await context.tick()
            assert context.get(unit.ports[port].issue.valid)
            await context.tick()
            await finish(context, unit, port, pc=executed, following={"unit": named.fetches, "waits": 1})
            context.set(unit.outstanding.blocked, 1 if executed == watchdog - 1 else 0)
            port = named.fetches if executed < watchdog - 1 else named.faulting
            assert context.get(unit.ports[port].issue.valid)
            await context.tick()
        assert context.get(unit.expired) == 1

    simulate(unit, testbench)
