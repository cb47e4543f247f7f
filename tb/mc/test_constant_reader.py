"""Fills: instructions and constants, in order, from lines that come when they like."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.r5xx.limits import INSTRUCTION_BYTES, INSTRUCTION_SLOTS
from ctm.rtl.mc.constant_reader import ConstantReader, InstructionReader
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate

LINE_BYTES, WORDS, DEADLINE = 64, 6, 6000
_SPACE = 1 << 32


def line(number: int) -> bytes:
    """What memory holds."""
    return np.random.default_rng(number).bytes(LINE_BYTES)


def memory_words(address: int, count: int) -> list[int]:
    """Words of memory; addresses wrap."""
    places = [(address + 4 * word) % _SPACE for word in range(count)]
    return [
        int.from_bytes(line(place // LINE_BYTES)[place % LINE_BYTES :][:4], "little") for place in places
    ]  # fmt: skip


class Lines:
    """Answers requests for lines in order; `always_ready` if the reader takes every answer."""

    def __init__(self, reader: Any, generator: np.random.Generator, stall: float) -> None:
        self._asked = Sink(reader.line_request, generator, stall)
        self._source = Source(reader.line_response, generator, stall)
        self._is_always_ready = reader.line_response.signature.always_ready
        self._taken = 0
        self._reader = reader
        self.refused: set[int] = set()
        self.most = 0

    @property
    def numbers(self) -> list[int]:
        return [payload & (1 << 26) - 1 for payload in self._asked.received]

    def drive(self, context: Any) -> None:
        """Set the ports for this cycle."""
        self._asked.drive(context)
        self._source.drive(context)

    def finish(self, context: Any) -> None:
        """Take requests and queue their answers."""
        self._asked.finish(context)
        self._source.finish(context)
        for number in self.numbers[self._taken :]:
            bits = int.from_bytes(line(number), "little")
            self._source.waiting.append(bits | (number in self.refused) << 512)
        self._taken = len(self._asked.received)
        self.most = max(self.most, len(self._source.waiting))


@pytest.mark.parametrize("memory_stall", STALLS)
@pytest.mark.parametrize("client_stall", STALLS)
@pytest.mark.parametrize("code", [0x8010_0074, 0x7FFF_FFFC, 0xFFFF_FF00 + 4, 0])
def test_instructions_come_in_order(code: int, client_stall: float, memory_stall: float) -> None:
    reader, generator = InstructionReader(outstanding=4), np.random.default_rng(2)
    slots = [*range(12), INSTRUCTION_SLOTS - 1, *generator.integers(INSTRUCTION_SLOTS, size=15).tolist()]
    source, sink = Source(reader.request, generator, client_stall), Sink(reader.response, generator, client_stall)
    source.waiting = list(slots)
    lines = Lines(reader, generator, memory_stall)
    addresses = [(code + INSTRUCTION_BYTES * slot) % _SPACE for slot in slots]
    lines.refused = {address // LINE_BYTES for address in addresses[::6]}

    async def testbench(context: Any) -> None:
        context.set(reader.code, code)
        for _ in range(DEADLINE):
            await cycle(context, [source, sink, lines])
            assert not context.get(reader.idle) or len(sink.received) == len(source.taken)
            if len(sink.received) == len(slots):
                break
        for _ in range(3):
            await cycle(context, [source, sink, lines])
        assert context.get(reader.idle)

    simulate(reader, testbench)
    for payload, address in zip(sink.received, addresses, strict=True):
        touched = {address // LINE_BYTES, (address + INSTRUCTION_BYTES - 1) % _SPACE // LINE_BYTES}
        refused = bool(touched & lines.refused)
        assert payload >> 32 * WORDS == refused
        words = [payload >> 32 * word & 0xFFFF_FFFF for word in range(WORDS)]
        assert refused or words == memory_words(address, WORDS)
    assert lines.most <= 4


def test_neighbours_share_their_lines() -> None:
    reader, generator = InstructionReader(outstanding=8), np.random.default_rng(2)
    source, sink = Source(reader.request, generator, 0), Sink(reader.response, generator, 0)
    source.waiting = list(range(64))
    lines = Lines(reader, generator, 0)

    async def testbench(context: Any) -> None:
        context.set(reader.code, 0x4000)
        while len(sink.received) < 64:
            await cycle(context, [source, sink, lines])

    simulate(reader, testbench)
    assert lines.numbers == list(range(0x4000 // 64, 0x4000 // 64 + 64 * INSTRUCTION_BYTES // LINE_BYTES))


def test_behind_a_pause_memory_is_asked_again() -> None:
    reader, generator = InstructionReader(outstanding=8), np.random.default_rng(2)
    source, sink = Source(reader.request, generator, 0), Sink(reader.response, generator, 0)
    lines = Lines(reader, generator, 0)

    async def testbench(context: Any) -> None:
        for _ in range(2):
            source.waiting = [0]
            for _ in range(30):
                await cycle(context, [source, sink, lines])

    simulate(reader, testbench)
    assert lines.numbers == [0, 0]


@pytest.mark.parametrize("memory_stall", STALLS)
@pytest.mark.parametrize("client_stall", STALLS)
def test_constants_come_in_beats(client_stall: float, memory_stall: float) -> None:
    reader, generator = ConstantReader(banks=3, line_bits=6, beat_words=4), np.random.default_rng(3)
    bases = [0x8000_0000 // 2048, 0xFFFF_F800 // 2048, 17]
    asked = [(int(generator.integers(3)), int(generator.integers(64))) for _ in range(40)]
    source, sink = Source(reader.request, generator, client_stall), Sink(reader.response, generator, client_stall)
    source.waiting = [bank | number << 2 for bank, number in asked]
    lines = Lines(reader, generator, memory_stall)
    numbers = [(bases[bank] * 32 + number) % (1 << 26) for bank, number in asked]
    lines.refused = set(numbers[::7])

    async def testbench(context: Any) -> None:
        for bank, base in enumerate(bases):
            context.set(reader.bases[bank], base)
        for _ in range(DEADLINE):
            await cycle(context, [source, sink, lines])
            if len(sink.received) == 4 * len(asked):
                return

    simulate(reader, testbench)
    expected = [(number, beat) for number in numbers for beat in range(4)]
    assert len(sink.received) == len(expected)
    for payload, (number, beat) in zip(sink.received, expected, strict=True):
        assert payload >> 128 == (number in lines.refused)
        found = [payload >> 32 * word & 0xFFFF_FFFF for word in range(4)]
        assert number in lines.refused or found == memory_words(number * LINE_BYTES + 16 * beat, 4)
