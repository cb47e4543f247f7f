"""What the scheduler promises of time and of the watchdog, with one group."""

from typing import Any

import pytest

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.groups.scheduler import Scheduler
from ctm.rtl.dpp.groups.scheduling import Unit
from ctm.tb.lib.streams import simulate

CAN = ("fetch", "issue_direct", "issue_write", "issue_texture", "retire")


async def start(context: Any, unit: Scheduler, *, watchdog: int = 0) -> None:
    """One group whose first instruction is FLOW's and is issued in this cycle; everything is allowed."""
    for name in CAN:
        context.set(getattr(unit, f"can_{name}"), 1)
    context.set(unit.slots, 2)
    context.set(unit.start, 7)
    context.set(unit.watchdog, watchdog)
    context.set(unit.admit, 1)
    await context.tick()
    context.set(unit.admit, 0)
    assert context.get(unit.fetch.pc) == 7
    context.set(unit.fetched, {"unit": Unit.FLOW})
    context.set(unit.begin, {"valid": 1, "slot": 0})
    await context.tick()
    context.set(unit.begin, {"valid": 0})
    assert context.get(unit.issue[Unit.FLOW.value].pc) == 7
    assert context.get(unit.issue[Unit.FLOW.value].valid)
    await context.tick()


async def finish(context: Any, unit: Scheduler, port: Unit, **done: Any) -> None:
    context.set(unit.done[port.value], {"valid": 1, "slot": 0, **done})
    await context.tick()
    context.set(unit.done[port.value], {"valid": 0})


def test_a_group_goes_on_in_the_next_cycle_and_behind_a_jump_two_cycles_later():
    unit = Scheduler(ArrayConfig(threads=4, temporaries=128))
    alu, flow = unit.issue[Unit.ALU.value], unit.issue[Unit.FLOW.value]

    async def testbench(context: Any) -> None:
        await start(context, unit)
        await finish(context, unit, Unit.FLOW, pc=8, following={"unit": Unit.ALU})
        assert (context.get(alu.valid), context.get(alu.pc), context.get(flow.valid)) == (1, 8, 0)
        await context.tick()
        assert not context.get(alu.valid)
        await finish(context, unit, Unit.ALU, pc=3, jumps=1, following={"unit": Unit.ALU})
        for expected in (0, 0, 1):
            assert context.get(flow.valid) == expected
            assert not context.get(alu.valid)
            await context.tick()

    simulate(unit, testbench)


@pytest.mark.parametrize("watchdog", [1, 2, 5])
def test_the_watchdog_stops_the_instruction_behind_the_last_that_is_allowed(watchdog):
    unit = Scheduler(ArrayConfig(threads=4, temporaries=128))

    async def testbench(context: Any) -> None:
        await start(context, unit, watchdog=watchdog)
        port = Unit.FLOW
        for executed in range(watchdog):
            assert not context.get(unit.expired)
            # Instructions that are issued again do not count.
            await finish(context, unit, port, again=1)
            context.set(unit.wake, 1)
            await context.tick()
            assert context.get(unit.issue[port.value].valid)
            await context.tick()
            await finish(context, unit, port, pc=executed, following={"unit": Unit.TEXTURE, "waits": 1})
            context.set(unit.blocked, 1 if executed == watchdog - 1 else 0)
            port = Unit.TEXTURE if executed < watchdog - 1 else Unit.FLOW
            assert context.get(unit.issue[port.value].valid)
            await context.tick()
        assert context.get(unit.expired) == 1

    simulate(unit, testbench)
