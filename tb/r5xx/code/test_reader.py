"""Instructions come in order, from lines that come when they like."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.r5xx.limits import INSTRUCTION_BYTES, INSTRUCTION_SLOTS
from ctm.rtl.r5xx.code.reader import InstructionReader
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate
from ctm.tb.mc.line_memory import LINE_BYTES, Lines, memory_words

WORDS, DEADLINE = 6, 6000
_SPACE = 1 << 32
SLICES = pytest.mark.parametrize("slice_bits", [64, 128, 512])


@pytest.mark.parametrize("memory_stall", STALLS)
@pytest.mark.parametrize("client_stall", STALLS)
@pytest.mark.parametrize("code", [0x8010_0074, 0x7FFF_FFFC, 0xFFFF_FF00 + 4, 0])
@SLICES
def test_instructions_come_in_order(slice_bits: int, code: int, client_stall: float, memory_stall: float) -> None:
    reader, generator = InstructionReader(outstanding=4, slice_bits=slice_bits), np.random.default_rng(2)
    numbers = [*range(12), INSTRUCTION_SLOTS - 1, *generator.integers(INSTRUCTION_SLOTS, size=15).tolist()]
    source, sink = (
        Source(reader.client.request, generator, client_stall),
        Sink(reader.client.response, generator, client_stall),
    )
    source.waiting = list(numbers)
    lines = Lines(reader, generator, memory_stall)
    addresses = [(code + INSTRUCTION_BYTES * number) % _SPACE for number in numbers]
    lines.error_lines = {address // LINE_BYTES for address in addresses[::6]}

    async def testbench(context: Any) -> None:
        context.set(reader.code, code)
        for _ in range(DEADLINE):
            await cycle(context, [source, sink, lines])
            assert not context.get(reader.idle) or len(sink.received) == len(source.taken)
            if len(sink.received) == len(numbers):
                break
        for _ in range(3):
            await cycle(context, [source, sink, lines])
        assert context.get(reader.idle)

    simulate(reader, testbench)
    for payload, address in zip(sink.received, addresses, strict=True):
        touched = {address // LINE_BYTES, (address + INSTRUCTION_BYTES - 1) % _SPACE // LINE_BYTES}
        error = bool(touched & lines.error_lines)
        assert payload >> 32 * WORDS == error
        words = [payload >> 32 * word & 0xFFFF_FFFF for word in range(WORDS)]
        assert error or words == memory_words(address, WORDS)
    assert lines.most <= 4


@SLICES
def test_neighbours_share_their_lines(slice_bits: int) -> None:
    reader, generator = InstructionReader(outstanding=8, slice_bits=slice_bits), np.random.default_rng(2)
    source, sink = Source(reader.client.request, generator, 0), Sink(reader.client.response, generator, 0)
    source.waiting = list(range(64))
    lines = Lines(reader, generator, 0)

    async def testbench(context: Any) -> None:
        context.set(reader.code, 0x4000)
        while len(sink.received) < 64:
            await cycle(context, [source, sink, lines])

    simulate(reader, testbench)
    assert lines.numbers == list(range(0x4000 // 64, 0x4000 // 64 + 64 * INSTRUCTION_BYTES // LINE_BYTES))


@SLICES
def test_as_many_lines_are_asked_for_as_may_be(slice_bits: int) -> None:
    reader, generator = InstructionReader(outstanding=8, slice_bits=slice_bits), np.random.default_rng(2)
    source, lines = Source(reader.client.request, generator, 0), Lines(reader, generator, 0)
    source.waiting = list(range(64))

    async def testbench(context: Any) -> None:
        for _ in range(160):
            await cycle(context, [source, lines])

    # No instruction is taken.
    simulate(reader, testbench)
    assert len(lines.numbers) >= 8


@SLICES
def test_lines_are_read_again_after_an_idle_cycle(slice_bits: int) -> None:
    reader, generator = InstructionReader(outstanding=8, slice_bits=slice_bits), np.random.default_rng(2)
    source, sink = Source(reader.client.request, generator, 0), Sink(reader.client.response, generator, 0)
    lines = Lines(reader, generator, 0)

    async def testbench(context: Any) -> None:
        for _ in range(2):
            source.waiting = [0]
            for _ in range(30):
                await cycle(context, [source, sink, lines])

    simulate(reader, testbench)
    assert lines.numbers == [0, 0]
