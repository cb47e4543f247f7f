"""Registers: what commands leave, against the golden model's state; commands that wait, and what they pulse."""

from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from amaranth import Value
from amaranth.sim import Simulator

from ctm.rtl.isa.commands import BY_NAME, COMMANDS
from ctm.rtl.isa.limits import INPUTS, OUTPUTS
from ctm.rtl.mc.counter_writer import CounterWriter
from ctm.rtl.mc.registers import BANKS, Registers
from ctm.sim.golden.pe.state import State, check_parameters
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate
from ctm.tb.mc.buffers import buffer_bits
from ctm.tb.pe.streams import Writer

COUNT = fewer(700)
_OWN = [command for command in COMMANDS if command.unit == "MC" and command.name != "set_inst_fmt"]
_OF_CONSTANTS = (*BANKS, "inv_constf_cache", "inv_consti_cache", "inv_constb_cache")
_INVALIDATES = {
    "inv_inp_cache": ("input_cache.invalidate", "input_cache.idle"),
    "inv_cond_out_cache": ("conditional_cache.invalidate", "conditional_cache.idle"),
}
_FLUSHES = {
    "flush_out_cache": ("output_flush.flush", "output_flush.flushed"),
    "flush_cond_out_cache": ("conditional_flush.flush", "conditional_flush.flushed"),
}
_PULSES = ("invalidate_constants", *(pulse for pulse, _ in (*_INVALIDATES.values(), *_FLUSHES.values())))


def offer(context: Any, registers: Registers, name: str, words: list[int]) -> None:
    """Offer a command."""
    context.set(registers.command.valid, 1)
    context.set(registers.command.payload.opcode, BY_NAME[name].opcode)
    for index in range(4):
        context.set(registers.command.payload.words[index], words[index] if index < len(words) else 0)


def random_commands(seed: int) -> list[tuple[str, list[int]]]:
    """Legal commands of the memory controller."""
    generator = np.random.default_rng(seed)
    writer = Writer(generator, errors=0)
    found: list[tuple[str, list[int]]] = []
    while len(found) < COUNT:
        word, *words = writer.command()
        command = next(each for each in COMMANDS if word in each.words)
        if command in _OWN:
            found.append((command.name, words))
    return found


def test_registers_hold_what_the_model_holds() -> None:
    registers, state = Registers(), State()

    def check(context: Any) -> None:
        for number in range(INPUTS):
            extent, buffer = registers.inputs[number], state.inputs[number]
            assert (context.get(extent.pitch), context.get(extent.height)) == (buffer.pitch, buffer.scale_height)
        for number in range(OUTPUTS):
            assert context.get(Value.cast(registers.outputs[number])) == buffer_bits(state.outputs[number])
        assert context.get(Value.cast(registers.conditional.buffer)) == buffer_bits(state.conditional.buffer)
        for bank, name in enumerate(BANKS):
            assert context.get(registers.constant_bases[bank]) == state.constant_bases[name] // 2048
        mask = sum(bit << channel for channel, bit in enumerate(state.output_mask))
        assert context.get(registers.output_mask) == mask
        assert context.get(registers.conditional.writes_enabled) == state.conditional.write_enabled

    async def testbench(context: Any) -> None:
        check(context)
        for _, ready in (*_INVALIDATES.values(), *_FLUSHES.values()):
            context.set(attrgetter(ready)(registers), 1)
        for name, words in random_commands(4):
            check_parameters(BY_NAME[name], 0, words)
            state.apply(BY_NAME[name], words)
            offer(context, registers, name, words)
            assert context.get(registers.command.ready), "a command takes one cycle"
            await context.tick()
            context.set(registers.command.valid, 0)
            check(context)

    simulate(registers, testbench)


@pytest.mark.parametrize("name", [command.name for command in _OWN])
def test_each_command_pulses_its_caches_and_no_other(name: str) -> None:
    registers = Registers()
    wanted = {"invalidate_constants"} if name in _OF_CONSTANTS else set()
    waits_for = None
    for table in (_INVALIDATES, _FLUSHES):
        if name in table:
            pulse, waits_for = table[name]
            wanted = {pulse}

    async def testbench(context: Any) -> None:
        offer(context, registers, name, [0, 0, 0, 0])
        if waits_for is not None:
            for _ in range(5):
                assert not context.get(registers.command.ready)
                # A flush is requested until it is done, an invalidate is made once.
                pulsed = {each for each in _PULSES if context.get(attrgetter(each)(registers))}
                assert pulsed == (wanted if name in _FLUSHES else set())
                await context.tick()
            context.set(attrgetter(waits_for)(registers), 1)
        assert context.get(registers.command.ready)
        assert {each for each in _PULSES if context.get(attrgetter(each)(registers))} == wanted
        await context.tick()
        context.set(registers.command.valid, 0)
        assert not any(context.get(attrgetter(each)(registers)) for each in _PULSES)

    simulate(registers, testbench)


@pytest.mark.parametrize("address", [0, 0x8000_0800, 0xFFFF_F800])
def test_counters_are_the_first_eight_bytes_of_a_line(address: int) -> None:
    writer = CounterWriter()

    async def testbench(context: Any) -> None:
        for valid in (0, 1):
            for ready in (0, 1):
                context.set(writer.counters.valid, valid)
                context.set(writer.line.ready, ready)
                context.set(writer.counters.payload.address, address)
                context.set(writer.counters.payload.clocks, 0x1122_3344)
                context.set(writer.counters.payload.active, 0x5566_7788)
                assert (context.get(writer.line.valid), context.get(writer.counters.ready)) == (valid, ready)
                line = writer.line.payload
                assert context.get(line.line) == address // 64
                assert context.get(line.bits) == 0x5566_7788_1122_3344
                assert context.get(line.mask) == 0xFF
                await context.delay(1e-9)

    simulator = Simulator(writer)
    simulator.add_testbench(testbench)
    simulator.run()
