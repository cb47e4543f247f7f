"""HostInterface: what a driver sees of pushes, errors, interrupts, counters and resets."""

from typing import Any

import pytest

from ctm.rtl.config import ArrayConfig, MachineConfig
from ctm.rtl.host.counters import counter_steps
from ctm.rtl.host.interface import HostInterface
from ctm.rtl.isa.host import COUNTERS, COUNTERS_OFFSET, IDENTITY, QUEUE_DEPTH, REGISTERS, VERSION
from ctm.rtl.isa.status import BusClient, Status
from ctm.tb.host.driver import Driver
from ctm.tb.lib.streams import simulate

CONFIG = MachineConfig(array=ArrayConfig(cores=2, lanes=8, threads=16))
_FAULT = {"status": Status.BUS_ERROR, "client": BusClient.INPUT, "address": 0x1234_5640, "pc": 77, "i": 4096, "j": 9}


class Bench:
    """The interface with a driver in front of it, and a command processor that only takes buffers."""

    def __init__(self, stall: float = 0.3) -> None:
        self.host = HostInterface(CONFIG)
        self.driver = Driver(self.host.bus, stall=stall)
        self.taken: list[tuple[int, int]] = []
        self.driver.each_cycle = self._watch

    def _watch(self, context: Any) -> None:
        buffer = self.host.processor.buffer
        if context.get(buffer.valid) and context.get(buffer.ready):
            self.taken.append((int(context.get(buffer.payload.address)), int(context.get(buffer.payload.dwords))))
            context.set(buffer.ready, 0)

    async def push(self, context: Any, address: int, dwords: int) -> None:
        await self.driver.set(context, "QUEUE_ADDRESS", value=address)
        await self.driver.set(context, "QUEUE_DWORDS", value=dwords)
        await self.driver.set(context, "QUEUE_PUSH", value=0)

    async def pulse(self, context: Any, signal: Any) -> None:
        context.set(signal, 1)
        await self.driver.clock(context)
        context.set(signal, 0)

    async def fail(self, context: Any, **fields: Any) -> None:
        for name, value in fields.items():
            context.set(self.host.processor.error.payload[name], value)
        await self.pulse(context, self.host.processor.error.valid)


def bench_test(testbench: Any, stall: float = 0.3) -> None:
    """Run a testbench on a bench."""
    bench = Bench(stall)

    async def run(context: Any) -> None:
        context.set(bench.host.ports_idle, 1)
        context.set(bench.host.processor.idle, 1)
        await testbench(context, bench)

    simulate(bench.host, run)


def test_identity_configuration_and_reset_values() -> None:
    async def testbench(context: Any, bench: Bench) -> None:
        read = {register.name: await bench.driver.read(context, register.offset) for register in REGISTERS}
        known = {"ID": IDENTITY, "VERSION": VERSION, "CONFIG": 2 | 8 << 8 | 16 << 16 | QUEUE_DEPTH << 24, "STATUS": 1}
        assert read == {register.name: known.get(register.name, 0) for register in REGISTERS}
        for offset in (0x00C, 0x058, COUNTERS_OFFSET + 4 * len(COUNTERS), 0xFFC):
            assert await bench.driver.read(context, offset) == 0

    bench_test(testbench)


@pytest.mark.parametrize("name", ["QUEUE_ADDRESS", "QUEUE_DWORDS", "WATCHDOG"])
def test_only_the_bytes_of_the_strobe_are_written(name: str) -> None:
    offset = next(register.offset for register in REGISTERS if register.name == name)

    async def testbench(context: Any, bench: Bench) -> None:
        await bench.driver.write(context, offset, 0x1122_3344)
        await bench.driver.write(context, offset, 0xAABB_CCDD, strobe=0b0101)
        assert await bench.driver.read(context, offset) == 0x11BB_33DD
        await bench.driver.write(context, offset, 0, strobe=0)
        assert await bench.driver.read(context, offset) == 0x11BB_33DD

    bench_test(testbench)


def test_a_buffer_that_is_pushed_is_offered_and_counts_when_it_is_consumed() -> None:
    async def testbench(context: Any, bench: Bench) -> None:
        driver, host = bench.driver, bench.host
        await driver.set(context, "CONTROL", interrupt_enable=1)
        await bench.push(context, 0x8000_0040, 99)
        assert not (await driver.get(context, "STATUS"))["idle"]
        context.set(host.processor.buffer.ready, 1)
        await driver.clock(context)
        await driver.clock(context)
        assert bench.taken == [(0x8000_0040, 99)]
        assert (await driver.get(context, "LAST_CONSUMED"))["value"] == 0
        assert not context.get(host.irq)
        await bench.pulse(context, host.processor.consumed)
        await driver.clock(context)
        assert context.get(host.irq)
        assert (await driver.get(context, "LAST_CONSUMED"))["value"] == 1
        assert await driver.get(context, "INTERRUPT") == {"consumed": 1, "error": 0, "reserved": 0}
        await driver.set(context, "INTERRUPT", error=1)
        assert context.get(host.irq), "only what is written as 1 is cleared"
        await driver.set(context, "INTERRUPT", consumed=1)
        assert not context.get(host.irq)
        assert (await driver.get(context, "STATUS"))["idle"]

    bench_test(testbench)


def test_an_interrupt_that_is_not_enabled_is_pending_only() -> None:
    async def testbench(context: Any, bench: Bench) -> None:
        await bench.pulse(context, bench.host.processor.consumed)
        assert (await bench.driver.get(context, "INTERRUPT"))["consumed"]
        assert not context.get(bench.host.irq)
        await bench.driver.set(context, "CONTROL", interrupt_enable=1)
        assert context.get(bench.host.irq)

    bench_test(testbench)


def test_a_push_into_the_full_queue_is_rejected_and_flagged() -> None:
    async def testbench(context: Any, bench: Bench) -> None:
        driver = bench.driver
        for number in range(QUEUE_DEPTH):
            await bench.push(context, 4 * number, 1)
        assert (await driver.get(context, "STATUS"))["queue_full"]
        await bench.push(context, 0x400, 1)
        status = await driver.get(context, "STATUS")
        assert (status["error"], status["push_refused"], status["code"]) == (1, 1, Status.QUEUE_FULL.value)
        assert (await driver.get(context, "LAST_SUBMITTED"))["value"] == QUEUE_DEPTH
        assert (await driver.get(context, "INTERRUPT"))["error"]
        # It blocks no buffer, and an error of a buffer replaces it.
        assert context.get(bench.host.processor.buffer.valid)
        await bench.fail(context, **_FAULT)
        status = await driver.get(context, "STATUS")
        assert (status["push_refused"], status["code"]) == (1, Status.BUS_ERROR.value)
        await driver.set(context, "CONTROL", clear_error=1)
        status = await driver.get(context, "STATUS")
        assert (status["error"], status["push_refused"], status["code"]) == (0, 0, 0)

    bench_test(testbench)


def test_an_error_is_shown_and_keeps_buffers_waiting_until_it_is_cleared() -> None:
    async def testbench(context: Any, bench: Bench) -> None:
        driver, host = bench.driver, bench.host
        await bench.fail(context, **_FAULT)
        await bench.push(context, 0x40, 1)
        for _ in range(20):
            assert not context.get(host.processor.buffer.valid)
            await driver.clock(context)
        # A later error does not replace it.
        await bench.fail(context, status=Status.BAD_COMMAND, address=0, word=1, pc=0, i=0, j=0)
        assert (await driver.get(context, "STATUS"))["code"] == Status.BUS_ERROR.value
        assert (await driver.get(context, "ERROR_CLIENT"))["client"] == BusClient.INPUT.value
        assert (await driver.get(context, "ERROR_ADDRESS"))["value"] == 0x1234_5640
        assert (await driver.get(context, "FAULT_PC"))["value"] == 77
        assert await driver.get(context, "FAULT_IJ") == {"i": 4096, "j": 9}
        await driver.set(context, "CONTROL", clear_error=1)
        assert context.get(host.processor.buffer.valid)
        for name in ("ERROR_CLIENT", "ERROR_ADDRESS", "FAULT_PC", "FAULT_IJ"):
            assert not any((await driver.get(context, name)).values())

    bench_test(testbench)


@pytest.mark.parametrize("pushed", [0, 3])
def test_a_reset_lasts_until_memory_is_idle_and_flags_what_it_dropped(pushed: int) -> None:
    async def testbench(context: Any, bench: Bench) -> None:
        driver, host = bench.driver, bench.host
        await driver.set(context, "WATCHDOG", value=5)
        for number in range(pushed):
            await bench.push(context, 64 * number, 1)
        context.set(host.ports_idle, 0)
        await driver.set(context, "CONTROL", reset=1)
        for _ in range(50):
            assert context.get(host.reset)
            assert not context.get(host.processor.buffer.valid)
            await driver.clock(context)
        assert not (await driver.get(context, "STATUS"))["idle"]
        # What is pushed meanwhile is dropped, too.
        await bench.push(context, 0x40, 1)
        context.set(host.ports_idle, 1)
        await driver.clock(context)
        await driver.clock(context)
        assert not context.get(host.reset)
        status = await driver.get(context, "STATUS")
        code = Status.RESET.value if pushed else Status.OK.value
        assert (status["idle"], status["error"], status["code"]) == (1, int(pushed > 0), code)
        assert await driver.get(context, "LAST_CONSUMED") == await driver.get(context, "LAST_SUBMITTED")
        assert (await driver.get(context, "WATCHDOG"))["value"] == 0
        await bench.push(context, 0x80, 2)
        assert context.get(host.processor.buffer.valid), "a reset that dropped buffers holds no later one back"

    bench_test(testbench)


def test_counters_count_their_steps_and_a_reset_clears_them() -> None:
    names, most = list(COUNTERS), counter_steps(CONFIG)

    async def testbench(context: Any, bench: Bench) -> None:
        driver, host = bench.driver, bench.host
        largest = {name: max(most[name].shape) for name in names}
        for cycles in (1, 3):
            for name in names:
                context.set(host.steps[name], largest[name])
            for _ in range(cycles):
                await driver.clock(context)
            for name in names:
                context.set(host.steps[name], 0)
            await driver.clock(context)
            total = cycles if cycles == 1 else 4
            assert {name: await driver.counter(context, name) for name in names} == {
                name: total * step for name, step in largest.items()
            }
        await driver.set(context, "CONTROL", reset=1)
        assert not any([await driver.counter(context, name) for name in names])

    bench_test(testbench)
