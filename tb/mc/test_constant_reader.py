"""Constants come in order, from lines that come when they like."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.mc.constant_reader import ConstantReader
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate
from ctm.tb.mc.line_memory import LINE_BYTES, Lines, memory_words

DEADLINE = 6000


@pytest.mark.parametrize("memory_stall", STALLS)
@pytest.mark.parametrize("client_stall", STALLS)
def test_constants_come_in_beats(client_stall: float, memory_stall: float) -> None:
    reader, generator = ConstantReader(), np.random.default_rng(3)
    bases = [0x8000_0000 // 2048, 0xFFFF_F800 // 2048, 17]
    requested = [(int(generator.integers(3)), int(generator.integers(64))) for _ in range(40)]
    source, sink = (
        Source(reader.client.request, generator, client_stall),
        Sink(reader.client.response, generator, client_stall),
    )
    source.waiting = [bank | number << 2 for bank, number in requested]
    lines = Lines(reader, generator, memory_stall)
    numbers = [(bases[bank] * 32 + number) % (1 << 26) for bank, number in requested]
    lines.error_lines = set(numbers[::7])

    async def testbench(context: Any) -> None:
        for bank, base in enumerate(bases):
            context.set(reader.bases[bank], base)
        for _ in range(DEADLINE):
            await cycle(context, [source, sink, lines])
            if len(sink.received) == 4 * len(requested):
                return

    simulate(reader, testbench)
    expected = [(number, beat) for number in numbers for beat in range(4)]
    assert len(sink.received) == len(expected)
    for payload, (number, beat) in zip(sink.received, expected, strict=True):
        assert payload >> 128 == (number in lines.error_lines)
        found = [payload >> 32 * word & 0xFFFF_FFFF for word in range(4)]
        assert number in lines.error_lines or found == memory_words(number * LINE_BYTES + 16 * beat, 4)
