"""WriteCombiner: bytes are handed on once, in order, when a line is full, when few entries are free, and at a flush."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from ctm.rtl.mc.outputs.write_combiner import WriteCombiner
from ctm.tb.lib.some import pairs
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate
from ctm.tb.mc.line_slices import Line, joined, sliced

ENTRIES, DEADLINE = 16, 4000
SLICES = {"lines": (512, 512), "elements": (128, 128), "half elements": (128, 64), "beats": (512, 128)}
"""Bits in which lines are written, and in which they leave."""
KEPT_FREE = 2
"""With so many free entries the oldest leaves."""
_LINE_BYTES = 64


def applied(lines: list[Line]) -> dict[tuple[int, int], int]:
    """Memory after the writes: line and byte to value."""
    return {
        (line, byte): data[byte] for line, data, mask in lines for byte in range(_LINE_BYTES) if mask >> byte & 1
    }  # fmt: skip


def random_writes(seed: int, count: int, lines: int, written: int) -> list[Line]:
    """Writes of four bytes or more to some lines, each in one slice."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        size = int(generator.choice([4, 16, 32, 64], p=[0.5, 0.3, 0.15, 0.05]))
        size = min(size, written // 8)
        index = int(generator.integers(_LINE_BYTES // size)) * size
        found.append((int(generator.integers(lines)), generator.bytes(64), (1 << size) - 1 << index))
    return found


@cache
def combiner_of(entries: int, slices: tuple[int, int]) -> WriteCombiner:
    """One for all benches, which `simulate` begins anew."""
    return WriteCombiner(entries=entries, written=slices[0], slice_bits=slices[1])


class Bench:
    """A combiner with its streams."""

    def __init__(
        self,
        writes: list[Line],
        stalls: tuple[float, float] = (0, 0),
        entries: int = ENTRIES,
        slices: tuple[int, int] = SLICES["lines"],
    ) -> None:
        generator = np.random.default_rng(7)
        self.combiner, (self._written, self._slice_bits) = combiner_of(entries, slices), slices
        self.source = Source(self.combiner.write, generator, stalls[0])
        self.offer(writes)
        self.sink = Sink(self.combiner.line, generator, stalls[1])

    def offer(self, writes: list[Line]) -> None:
        """Write these next."""
        self.source.waiting = [payload for write in writes for payload in sliced(*write, self._written)]

    @property
    def lines(self) -> list[Line]:
        return joined(self.sink.received, self._slice_bits)

    async def wait(self, context: Any, cycles: int) -> None:
        """Clock so many cycles, whatever is written or handed on in them."""
        for _ in range(cycles):
            await cycle(context, [self.source, self.sink])

    async def write_all(self, context: Any) -> int:
        """Clock until all writes are taken; the cycles."""
        for now in range(DEADLINE):
            if not self.source.waiting:
                return now
            await cycle(context, [self.source, self.sink])
        raise AssertionError("a write is never taken")

    async def flush(self, context: Any) -> int:
        """Flush; the cycles until it is empty."""
        context.set(self.combiner.flush, 1)
        for now in range(DEADLINE):
            if context.get(self.combiner.empty):
                context.set(self.combiner.flush, 0)
                return now
            await cycle(context, [self.source, self.sink])
        raise AssertionError("it is never empty")


@pytest.mark.slow
@pytest.mark.parametrize(("write_stall", "line_stall"), pairs(STALLS, STALLS[1:] + STALLS[:1]))
@pytest.mark.parametrize("lines", [3, 18, 200])
@pytest.mark.parametrize("slices", SLICES.values(), ids=SLICES)
def test_what_is_handed_on_is_what_was_written(
    slices: tuple[int, int], lines: int, write_stall: float, line_stall: float
) -> None:
    writes = random_writes(lines, 300, lines, slices[0])
    bench = Bench(writes, (write_stall, line_stall), slices=slices)

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        await bench.flush(context)

    simulate(bench.combiner, testbench)
    assert applied(bench.lines) == applied(writes)
    assert all(mask for _, _, mask in bench.lines)
    # Nothing was handed on more often than it was written.
    assert sum(mask.bit_count() for *_, mask in bench.lines) <= sum(mask.bit_count() for *_, mask in writes)


@pytest.mark.parametrize("slices", SLICES.values(), ids=SLICES)
def test_a_full_line_leaves_and_a_partial_one_is_kept(slices: tuple[int, int]) -> None:
    quarters = [(5, bytes([quarter] * 64), 0xFFFF << 16 * quarter) for quarter in range(4)]
    bench = Bench([(9, bytes(64), 1), *quarters], slices=slices)

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        await bench.wait(context, 100)
        assert bench.lines == [(5, bytes(quarter for quarter in range(4) for _ in range(16)), (1 << 64) - 1)]
        assert not context.get(bench.combiner.empty)

    simulate(bench.combiner, testbench)


@pytest.mark.parametrize("slices", SLICES.values(), ids=SLICES)
def test_a_line_that_is_written_while_it_is_to_leave_has_all_bytes(slices: tuple[int, int]) -> None:
    """The oldest line is to leave as soon as entries are short, and is written in each cycle from then on."""
    writes = [(number, bytes([number] * 64), 1) for number in range(ENTRIES - KEPT_FREE)]
    writes += [(0, bytes([byte] * 64), 1 << byte) for byte in range(1, 40)]
    bench = Bench(writes, slices=slices)

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        await bench.flush(context)

    simulate(bench.combiner, testbench)
    assert applied(bench.lines) == applied(writes)


@pytest.mark.slow
@pytest.mark.parametrize("entries", [16, 32])
def test_the_oldest_leaves_when_few_entries_are_free(entries: int) -> None:
    held = entries - KEPT_FREE - 1
    # The first line is written again: it is no younger for that.
    writes = [(number, bytes([number] * 64), 2) for number in range(held)] + [(0, bytes(64), 4)]
    bench = Bench(writes, entries=entries)

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        await bench.wait(context, 20)
        assert not bench.lines
        for number in range(10):
            bench.offer([(held + number, bytes(64), 1)])
            await bench.write_all(context)
            await bench.wait(context, 5)
            # A second one may be chosen before the first has left.
            assert len(bench.lines) in (number + 1, number + 2)
            assert [line for line, *_ in bench.lines] == list(range(len(bench.lines)))
        assert bench.lines[0][2] == 6

    simulate(bench.combiner, testbench)


@pytest.mark.parametrize("lines", [1, 1000], ids=["one line", "many lines"])
def test_a_write_is_taken_in_each_cycle(lines: int) -> None:
    writes = [(number % lines, bytes(64), 1 << number % 64) for number in range(200)]
    bench, found = Bench(writes), []

    async def testbench(context: Any) -> None:
        found.append(await bench.write_all(context))

    simulate(bench.combiner, testbench)
    assert found == [200]


@pytest.mark.parametrize("slices", SLICES.values(), ids=SLICES)
def test_a_flush_hands_on_a_line_in_each_cycle(slices: tuple[int, int]) -> None:
    bench, found = Bench([(number, bytes(64), 1) for number in range(10)], slices=slices), []

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        found.append(await bench.flush(context))
        found.append(await bench.flush(context))

    simulate(bench.combiner, testbench)
    assert [line for line, *_ in bench.lines] == list(range(10))
    assert 10 <= found[0] <= 13 and found[1] == 0


@pytest.mark.parametrize("slices", SLICES.values(), ids=SLICES)
def test_a_write_to_a_line_that_leaves_comes_after_it(slices: tuple[int, int]) -> None:
    """The bus takes nothing while the line leaves and is written again."""
    bench = Bench([(3, bytes([1] * 64), (1 << 64) - 1)], (0, 1.0), slices=slices)

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        await bench.wait(context, 5)
        bench.offer([(3, bytes([2] * 64), 1)])
        await bench.write_all(context)
        bench.sink.stall = 0
        await bench.flush(context)

    simulate(bench.combiner, testbench)
    assert [(data[0], mask) for _, data, mask in bench.lines] == [(1, (1 << 64) - 1), (2, 1)]


@pytest.mark.parametrize("waits", range(6))
@pytest.mark.parametrize("slices", SLICES.values(), ids=SLICES)
def test_a_line_that_becomes_full_as_all_leave_leaves_once(slices: tuple[int, int], waits: int) -> None:
    """As one that is full or as the oldest one, in whichever cycle it becomes full."""
    halves = [(3, bytes([half] * 64), 0xFFFF_FFFF << 32 * half) for half in range(2)]
    bench = Bench(halves[:1], slices=slices)

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        await bench.wait(context, 5)
        bench.offer(halves[1:])
        await bench.wait(context, waits)
        await bench.flush(context)
        await bench.write_all(context)
        await bench.flush(context)
        await bench.wait(context, 5)

    simulate(bench.combiner, testbench)
    assert applied(bench.lines) == applied(halves)
    assert sum(mask.bit_count() for *_, mask in bench.lines) == _LINE_BYTES


def test_whole_lines_leave_in_a_slice_in_each_cycle() -> None:
    lines = [(number, bytes(range(64)), (1 << 64) - 1) for number in range(10)]
    bench, found = Bench([], slices=(128, 128)), []

    async def testbench(context: Any) -> None:
        bench.offer(lines)
        found.append(await bench.write_all(context))
        found.append(await bench.flush(context))

    simulate(bench.combiner, testbench)
    assert bench.lines == lines
    assert found[0] == 40 and found[1] <= 8


def test_illegal_sizes() -> None:
    with pytest.raises(ValueError, match="more than 2"):
        WriteCombiner(entries=2)
    with pytest.raises(ValueError, match="128 at most, not 512"):
        WriteCombiner(entries=16, written=128)
