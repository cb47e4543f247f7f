"""Cocotb tests of the host's registers, of the queue and of the interrupt."""

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from ctm.rtl.isa.host import COUNTERS, COUNTERS_OFFSET, IDENTITY, QUEUE_DEPTH, REGISTER_SPACE, REGISTERS, VERSION
from ctm.rtl.isa.status import Status
from ctm.rtl.isa.word import pack
from ctm.sim.runtime import CommandBuffer
from ctm.tb.cosim.bench import LIMIT
from ctm.tb.cosim.testbench import OFFSETS, TB

_LAYOUTS = {register.name: register.layout for register in REGISTERS}
_ADDRESS = 0x1000
_BAD, _BAD_WORD = 0x2000, 0xDEAD_BEEF
_PAUSES = (0.0, 0.3, 0.8)
_WRITTEN = ("QUEUE_ADDRESS", "QUEUE_DWORDS", "WATCHDOG")
"""Registers that keep what is written."""


async def _ready(dut: Any, pauses: float = 0.0) -> TB:
    tb = TB(dut, pauses=pauses, seed=1)
    await tb.start()
    return tb


def _reset_values(tb: TB) -> dict[str, int]:
    array = tb.config.array
    config = pack(
        _LAYOUTS["CONFIG"], cores=array.cores, lanes=array.lanes, threads=array.threads, queue_depth=QUEUE_DEPTH
    )  # fmt: skip
    known = {"ID": IDENTITY, "VERSION": VERSION, "CONFIG": config, "STATUS": pack(_LAYOUTS["STATUS"], idle=1)}
    return dict.fromkeys(OFFSETS, 0) | known


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize(pauses=_PAUSES)
async def registers_begin_with_their_reset_values(dut: Any, pauses: float) -> None:
    tb = await _ready(dut, pauses)
    assert {name: await tb.read(name) for name in OFFSETS} == _reset_values(tb)
    assert dut.irq.value == 0
    await tb.finish()


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
async def what_is_not_writable_does_not_change(dut: Any) -> None:
    tb = await _ready(dut)
    writable = (*_WRITTEN, "CONTROL", "QUEUE_PUSH")
    for offset in (*range(0, COUNTERS_OFFSET + 4 * len(COUNTERS) + 16, 4), REGISTER_SPACE - 4):
        if offset not in [OFFSETS[name] for name in writable]:
            await tb.write_bytes(offset, b"\xff\xff\xff\xff")
    assert {name: await tb.read(name) for name in OFFSETS} == _reset_values(tb)
    for offset in (0x00C, 0x01C, 0x034, 0x058, COUNTERS_OFFSET + 4 * len(COUNTERS), REGISTER_SPACE - 4):
        assert await tb.read_bytes(offset, 4) == bytes(4), f"0x{offset:03x} is no register, but does not read 0"
    await tb.finish()


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize(pauses=_PAUSES)
async def a_write_changes_only_its_bytes(dut: Any, pauses: float) -> None:
    tb = await _ready(dut, pauses)
    for name in _WRITTEN:
        expected = bytearray.fromhex("78563412")
        await tb.write_bytes(OFFSETS[name], bytes(expected))
        for first, size in ((0, 1), (1, 1), (2, 1), (3, 1), (1, 2), (0, 2), (2, 2), (0, 3), (1, 3)):
            data = bytes(0x10 * (first + size) + index for index in range(size))
            await tb.write_bytes(OFFSETS[name] + first, data)
            expected[first : first + size] = data
            assert await tb.read_bytes(OFFSETS[name], 4) == bytes(expected), name
    await tb.finish()


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
async def control_is_in_its_lowest_byte(dut: Any) -> None:
    tb = await _ready(dut)
    enabled = pack(_LAYOUTS["CONTROL"], interrupt_enable=1)
    await tb.write("CONTROL", enabled)
    await tb.write("WATCHDOG", 5)
    # Other bytes neither disable interrupts nor reset.
    await tb.write_bytes(OFFSETS["CONTROL"] + 1, b"\xff\xff\xff")
    assert await tb.read("CONTROL") == enabled
    assert await tb.read("WATCHDOG") == 5
    await tb.write("CONTROL", 0)
    assert await tb.read("CONTROL") == 0
    await tb.finish()


async def _held(tb: TB) -> None:
    """Let a bad buffer hold the queue."""
    tb.memory.contents.write(_ADDRESS, bytes(CommandBuffer().wait_for_idle()))
    tb.memory.contents.write(_BAD, _BAD_WORD.to_bytes(4, "little"))
    await tb.push(_BAD, 1)
    while not (await tb.fields("STATUS"))["error"]:
        pass


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize(pauses=_PAUSES)
async def a_push_into_the_full_queue_is_rejected_and_flagged(dut: Any, pauses: float) -> None:
    tb = await _ready(dut, pauses)
    await _held(tb)
    assert await tb.read("LAST_CONSUMED") == 1
    for number in range(QUEUE_DEPTH):
        status = await tb.fields("STATUS")
        assert not status["queue_full"] and not status["push_refused"] and not status["idle"] or number == 0
        await tb.push(_ADDRESS, 2)
        assert await tb.read("LAST_SUBMITTED") == number + 2
    assert (await tb.fields("STATUS"))["queue_full"]
    await tb.push(_ADDRESS, 2)
    status = await tb.fields("STATUS")
    # The first error is kept.
    assert status["push_refused"] and Status(status["code"]) is Status.BAD_COMMAND
    assert (await tb.read("ERROR_ADDRESS"), await tb.read("ERROR_WORD")) == (_BAD, _BAD_WORD)
    assert (await tb.read("LAST_SUBMITTED"), await tb.read("LAST_CONSUMED")) == (QUEUE_DEPTH + 1, 1)
    await tb.write_fields("CONTROL", clear_error=1)
    while not (await tb.fields("STATUS"))["idle"]:
        pass
    assert (await tb.read("LAST_SUBMITTED"), await tb.read("LAST_CONSUMED")) == (QUEUE_DEPTH + 1, QUEUE_DEPTH + 1)
    status = await tb.fields("STATUS")
    assert not any(status[name] for name in ("error", "queue_full", "push_refused", "code"))
    await tb.finish()


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
async def a_rejected_push_alone_is_an_error_too(dut: Any) -> None:
    tb = await _ready(dut)
    # A read without a response keeps the first buffer, the queue holds eight more.
    tb.memory.contents.write(_ADDRESS, bytes(CommandBuffer().wait_for_idle()))
    tb.stop_reads(True)
    for _ in range(QUEUE_DEPTH + 1):
        await tb.push(_ADDRESS, 2)
    assert await tb.read("STATUS") == pack(_LAYOUTS["STATUS"], queue_full=1)
    await tb.push(_ADDRESS, 2)
    status = await tb.fields("STATUS")
    assert status["error"] and status["push_refused"] and Status(status["code"]) is Status.QUEUE_FULL
    assert (await tb.fields("INTERRUPT"))["error"]
    tb.stop_reads(False)
    while await tb.read("LAST_CONSUMED") != QUEUE_DEPTH + 1:
        pass
    await tb.write_fields("CONTROL", clear_error=1)
    assert await tb.read("STATUS") == pack(_LAYOUTS["STATUS"], idle=1)
    await tb.finish()


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
async def the_interrupt_is_enabled_pending_and_cleared(dut: Any) -> None:
    tb = await _ready(dut)
    tb.memory.contents.write(_ADDRESS, bytes(CommandBuffer().wait_for_idle()))
    await tb.push(_ADDRESS, 2)
    while await tb.read("LAST_CONSUMED") != 1:
        pass
    assert await tb.fields("INTERRUPT") == {"consumed": 1, "error": 0, "reserved": 0}
    assert dut.irq.value == 0, "the interrupt is not enabled"
    await tb.write_fields("CONTROL", interrupt_enable=1)
    await ClockCycles(dut.clk, 2)
    assert dut.irq.value == 1
    await tb.write_fields("INTERRUPT", error=1)
    await ClockCycles(dut.clk, 2)
    assert dut.irq.value == 1, "another one was cleared"
    await tb.write_fields("INTERRUPT", consumed=1)
    await ClockCycles(dut.clk, 2)
    assert (dut.irq.value, await tb.read("INTERRUPT")) == (0, 0)
    await _held(tb)
    assert await tb.fields("INTERRUPT") == {"consumed": 1, "error": 1, "reserved": 0}
    await tb.write_fields("INTERRUPT", consumed=1)
    await ClockCycles(dut.clk, 2)
    assert dut.irq.value == 1, "the error still asks"
    await tb.write_fields("CONTROL", interrupt_enable=0)
    await ClockCycles(dut.clk, 2)
    assert dut.irq.value == 0
    await tb.finish()


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
async def a_buffer_of_no_words_is_consumed_at_once(dut: Any) -> None:
    tb = await _ready(dut)
    await tb.prepare()
    for number in range(1, 4):
        assert await tb.execute(_ADDRESS, 0) is None
        assert (await tb.read("LAST_SUBMITTED"), await tb.read("LAST_CONSUMED")) == (number, number)
    assert all(port.counts.reads == 0 for port in tb.checked)
    await tb.finish()


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
async def a_reset_drops_what_waits_and_says_so(dut: Any) -> None:
    tb = await _ready(dut)
    await _held(tb)
    await tb.push(_ADDRESS, 2)
    await tb.write("WATCHDOG", 9)
    await tb.write_fields("CONTROL", reset=1)
    status = await tb.settle()
    assert status["error"] and Status(status["code"]) is Status.RESET
    assert await tb.read("LAST_CONSUMED") == await tb.read("LAST_SUBMITTED") == 2
    assert await tb.read("WATCHDOG") == 0
    assert all([await tb.read(name) == 0 for name in COUNTERS])
    await tb.prepare()
    assert await tb.execute(_ADDRESS, 2) is None
    await tb.finish()
