"""ControlBus: every transaction is one access, whatever comes first."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.host.control_bus import ControlBus
from ctm.tb.host.driver import Driver
from ctm.tb.lib.streams import STALLS, simulate

COUNT = 60


@pytest.mark.parametrize("stall", STALLS)
def test_reads_and_writes_reach_the_registers_once(stall: float) -> None:
    bus = ControlBus()
    driver = Driver(bus.bus, stall=stall)
    generator = np.random.default_rng(3)
    writes = [(int(generator.integers(1 << 12)), int(generator.integers(1 << 32)), int(generator.integers(16)))
              for _ in range(COUNT)]  # fmt: skip
    made: list[tuple[int, ...]] = []

    def registers(context: Any) -> None:
        if context.get(bus.write.valid):
            made.append(tuple(int(context.get(bus.write[name])) for name in ("offset", "bits", "strobe")))
        context.set(bus.read_bits, context.get(bus.read_offset) * 0x10001)

    driver.each_cycle = registers

    async def testbench(context: Any) -> None:
        for count, (offset, value, strobe) in enumerate(writes):
            await driver.write(context, offset, value, strobe)
            assert len(made) == count + 1
            assert await driver.read(context, offset) == offset * 0x10001

    simulate(bus, testbench)
    assert made == writes


def test_a_response_comes_two_cycles_after_its_address() -> None:
    bus = ControlBus()
    seen: dict[str, list[int]] = {"write": [], "b": [], "r": []}

    async def testbench(context: Any) -> None:
        for now in range(8):
            for port in (bus.bus.aw, bus.bus.w, bus.bus.ar):
                context.set(port.valid, now == 0)
            for port in (bus.bus.b, bus.bus.r):
                context.set(port.ready, 1)
            for name, signal in (("write", bus.write.valid), ("b", bus.bus.b.valid), ("r", bus.bus.r.valid)):
                if context.get(signal):
                    seen[name].append(now)
            await context.tick()

    simulate(bus, testbench)
    assert seen == {"write": [1], "b": [2], "r": [2]}


def test_a_read_and_a_write_go_on_beside_each_other() -> None:
    """A read gets its response although that of a write is not taken."""
    bus = ControlBus()

    async def testbench(context: Any) -> None:
        context.set(bus.bus.aw.valid, 1)
        context.set(bus.bus.w.valid, 1)
        for _ in range(4):
            await context.tick()
        assert context.get(bus.bus.b.valid)
        assert await Driver(bus.bus).read(context, 0x40) == 0
        assert context.get(bus.bus.b.valid)

    simulate(bus, testbench)
