"""CommandFetcher: the words of buffers in order, at any stalls."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.pe.fetcher import CommandFetcher
from ctm.tb.lib.planting import Fault, planted
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import Sink, simulate
from ctm.tb.mc.line_memory import LINE_BYTES, Lines, memory_words

BUFFERS, MOST_WORDS, DEADLINE, LINES = fewer(25), 700, 4000, 1 << 16
WORD_BYTES = WORD_BITS // 8


class Bench:
    """A fetcher, a memory with errors for every seventh line, and a consumer of the words."""

    def __init__(self, stall: float, word_stall: float, seed: int, slice_bits: int = 512) -> None:
        self.generator, self.unit = np.random.default_rng(seed), CommandFetcher(slice_bits)
        self.lines = Lines(self.unit, self.generator, stall)
        self.lines.error_lines.update(range(0, LINES + MOST_WORDS, 7))
        self.words = Sink(self.unit.words, self.generator, word_stall)
        self._deadline = round(DEADLINE / (1 - max(stall, word_stall)))

    async def _cycle(self, context: Any, *ends: Any) -> None:
        for end in (self.lines, *ends):
            end.drive(context)
        for end in (self.lines, *ends):
            end.finish(context)
        await context.tick()

    async def read(self, context: Any, address: int, dwords: int, count: int) -> None:
        """Begin a buffer, take `count` of its words, and drop the others."""
        self.words = Sink(self.unit.words, self.generator, self.words.stall)
        context.set(self.unit.buffers.begin, {"valid": 1, "buffer": {"address": address, "dwords": dwords}})
        context.set(self.unit.words.ready, 0)
        await self._cycle(context)
        context.set(self.unit.buffers.begin.valid, 0)
        for _ in range(self._deadline):
            if len(self.words.received) == count:
                break
            await self._cycle(context, self.words)
        assert len(self.words.received) == count, "no word comes"
        context.set(self.unit.words.ready, 0)
        context.set(self.unit.buffers.drop, 1)
        await self._cycle(context)
        context.set(self.unit.buffers.drop, 0)
        for _ in range(self._deadline):
            assert not context.get(self.unit.words.valid)
            if context.get(self.unit.idle):
                return
            await self._cycle(context)
        raise AssertionError("lines are in flight for ever")

    async def wait(self, context: Any, cycles: int) -> None:
        """Begin a long buffer, whose words are not taken."""
        context.set(self.unit.buffers.begin, {"valid": 1, "buffer": {"address": LINE_BYTES, "dwords": MOST_WORDS}})
        for _ in range(cycles):
            await self._cycle(context)
            context.set(self.unit.buffers.begin.valid, 0)


@pytest.mark.parametrize("word_stall", [0.0, 0.4, 0.95])
@pytest.mark.parametrize("stall", [0.0, 0.8])
@pytest.mark.parametrize("slice_bits", [512, 128])
def test_words_come_in_order_and_no_line_twice(slice_bits: int, stall: float, word_stall: float) -> None:
    bench = Bench(stall, word_stall, round(100 * word_stall + 10 * stall), slice_bits)
    generator, lines = bench.generator, bench.lines

    async def testbench(context: Any) -> None:
        for _ in range(BUFFERS):
            address = WORD_BYTES * int(generator.integers(LINES * LINE_BYTES // WORD_BYTES))
            dwords = int(generator.integers(1, MOST_WORDS if word_stall < 0.9 else 50))
            count = dwords if generator.random() < 0.5 else int(generator.integers(dwords))
            before = len(lines.numbers)
            await bench.read(context, address, dwords, count)
            for index, (found, word) in enumerate(zip(bench.words.received, memory_words(address, count), strict=True)):
                error = (address + WORD_BYTES * index) // LINE_BYTES in lines.error_lines
                assert found >> WORD_BITS == error and (error or found == word)
            first, last = address // LINE_BYTES, (address + WORD_BYTES * dwords - 1) // LINE_BYTES
            requested = lines.numbers[before:]
            assert requested == [*range(first, first + len(requested))] and first + len(requested) - 1 <= last

    simulate(bench.unit, testbench)


def test_a_request_is_held_while_lines_that_come_take_the_space() -> None:
    """No words are taken; lines are offered while there is space, and taken when there is hardly any."""
    bench = Bench(0.95, 0.0, 0)

    async def testbench(context: Any) -> None:
        await bench.wait(context, 3000)
        assert 8 < len(bench.lines.numbers) <= 16
        assert context.get(Value.cast(bench.unit.words.valid))

    simulate(bench.unit, testbench)


def test_nothing_is_requested_of_a_buffer_that_is_dropped_at_once() -> None:
    bench = Bench(0.0, 0.0, 0)

    async def testbench(context: Any) -> None:
        await bench.read(context, LINE_BYTES, MOST_WORDS, 0)
        await bench.read(context, 2 * LINE_BYTES, 1, 1)
        assert bench.lines.numbers == [2]

    simulate(bench.unit, testbench)


FAULTS = {
    "an offered request waits for space": Fault(
        "rtl.pe.fetcher", "~request.ready, (remaining", "~request.ready & credit, (remaining"
    ),
    "lines are requested without space": Fault(
        "rtl.pe.fetcher", "& credit & ~self.buffers.drop", "& ~self.buffers.drop"
    ),
    "a line is offered as its buffer is dropped": Fault("rtl.pe.fetcher", "& credit & ~self.buffers.drop", "& credit"),
    "words of a dropped buffer come": Fault("rtl.pe.fetcher", "queue.r_rdy & ~dropping", "queue.r_rdy"),
    "a line is taken with its first word": Fault("rtl.pe.fetcher", "| index[:inside].all()", "| 1"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_found(name: str) -> None:
    with planted(FAULTS[name], "ctm.tb.pe.test_fetcher", ("ctm.rtl.pe", "ctm.tb.pe")) as tests:
        with pytest.raises(AssertionError):
            tests.test_a_request_is_held_while_lines_that_come_take_the_space()
            tests.test_words_come_in_order_and_no_line_twice(512, 0.8, 0.4)
            tests.test_nothing_is_requested_of_a_buffer_that_is_dropped_at_once()
