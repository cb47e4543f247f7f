"""WriteCombiner: bytes are handed on once, in order, when a line is full, when room is short, and at a flush."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from ctm.rtl.mc.outputs.write_combiner import WriteCombiner
from ctm.tb.lib.some import pairs
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate

ENTRIES, DEADLINE = 16, 4000
KEPT_FREE = 2
"""With so many free entries the oldest leaves."""
_LINE_BYTES = 64
Line = tuple[int, bytes, int]


def packed(line: int, data: bytes, mask: int) -> int:
    return line | int.from_bytes(data, "little") << 26 | mask << 538


def unpacked(payload: int) -> Line:
    data = (payload >> 26 & (1 << 512) - 1).to_bytes(_LINE_BYTES, "little")
    return payload & (1 << 26) - 1, data, payload >> 538


def applied(lines: list[Line]) -> dict[tuple[int, int], int]:
    """Memory after the writes: line and byte to value."""
    return {
        (line, byte): data[byte] for line, data, mask in lines for byte in range(_LINE_BYTES) if mask >> byte & 1
    }  # fmt: skip


def random_writes(seed: int, count: int, lines: int) -> list[Line]:
    """Writes of four bytes or more to some lines."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        size = int(generator.choice([4, 16, 32, 64], p=[0.5, 0.3, 0.15, 0.05]))
        index = int(generator.integers(_LINE_BYTES // size)) * size
        found.append((int(generator.integers(lines)), generator.bytes(64), (1 << size) - 1 << index))
    return found


@cache
def combiner_of(entries: int) -> WriteCombiner:
    """One for all benches, which `simulate` begins anew."""
    return WriteCombiner(entries=entries)


class Bench:
    """A combiner with its streams."""

    def __init__(self, writes: list[Line], stalls: tuple[float, float] = (0, 0), entries: int = ENTRIES) -> None:
        generator = np.random.default_rng(7)
        self.combiner = combiner_of(entries)
        self.source = Source(self.combiner.write, generator, stalls[0])
        self.source.waiting = [packed(*write) for write in writes]
        self.sink = Sink(self.combiner.line, generator, stalls[1])

    @property
    def lines(self) -> list[Line]:
        return [unpacked(payload) for payload in self.sink.received]

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


@pytest.mark.parametrize(("write_stall", "line_stall"), pairs(STALLS, STALLS[1:] + STALLS[:1]))
@pytest.mark.parametrize("lines", [3, 18, 200])
def test_what_is_handed_on_is_what_was_written(lines: int, write_stall: float, line_stall: float) -> None:
    writes = random_writes(lines, 300, lines)
    bench = Bench(writes, (write_stall, line_stall))

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        await bench.flush(context)

    simulate(bench.combiner, testbench)
    assert applied(bench.lines) == applied(writes)
    assert all(mask for _, _, mask in bench.lines)
    # Nothing was handed on more often than it was written.
    assert sum(mask.bit_count() for *_, mask in bench.lines) <= sum(mask.bit_count() for *_, mask in writes)


def test_a_full_line_leaves_and_a_part_of_one_stays() -> None:
    quarters = [(5, bytes([quarter] * 64), 0xFFFF << 16 * quarter) for quarter in range(4)]
    bench = Bench([(9, bytes(64), 1), *quarters])

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        await bench.wait(context, 100)
        assert bench.lines == [(5, bytes(quarter for quarter in range(4) for _ in range(16)), (1 << 64) - 1)]
        assert not context.get(bench.combiner.empty)

    simulate(bench.combiner, testbench)


def test_a_line_that_is_written_while_it_is_to_leave_has_all_bytes() -> None:
    """The oldest line is to leave as soon as entries are short, and is written in each cycle from then on."""
    writes = [(number, bytes([number] * 64), 1) for number in range(ENTRIES - KEPT_FREE)]
    writes += [(0, bytes([byte] * 64), 1 << byte) for byte in range(1, 40)]
    bench = Bench(writes)

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        await bench.flush(context)

    simulate(bench.combiner, testbench)
    assert applied(bench.lines) == applied(writes)


@pytest.mark.parametrize("entries", [16, 32])
def test_the_oldest_leaves_when_room_is_short(entries: int) -> None:
    held = entries - KEPT_FREE - 1
    # The first line is written again: it is no younger for that.
    writes = [(number, bytes([number] * 64), 2) for number in range(held)] + [(0, bytes(64), 4)]
    bench = Bench(writes, entries=entries)

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        await bench.wait(context, 20)
        assert not bench.lines
        for number in range(10):
            bench.source.waiting = [packed(held + number, bytes(64), 1)]
            await bench.write_all(context)
            await bench.wait(context, 5)
            # A second one may be chosen before the first has made room.
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


def test_a_flush_hands_on_a_line_in_each_cycle() -> None:
    bench, found = Bench([(number, bytes(64), 1) for number in range(10)]), []

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        found.append(await bench.flush(context))
        found.append(await bench.flush(context))

    simulate(bench.combiner, testbench)
    assert [line for line, *_ in bench.lines] == list(range(10))
    assert 10 <= found[0] <= 12 and found[1] == 0


def test_a_write_to_a_line_that_leaves_comes_behind_it() -> None:
    """The bus takes nothing while the line leaves and is written again."""
    bench = Bench([(3, bytes([1] * 64), (1 << 64) - 1)], (0, 1.0))

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        await bench.wait(context, 5)
        bench.source.waiting = [packed(3, bytes([2] * 64), 1)]
        await bench.write_all(context)
        bench.sink.stall = 0
        await bench.flush(context)

    simulate(bench.combiner, testbench)
    assert [(data[0], mask) for _, data, mask in bench.lines] == [(1, (1 << 64) - 1), (2, 1)]


@pytest.mark.parametrize("waits", range(6))
def test_a_line_that_becomes_full_as_all_leave_leaves_once(waits: int) -> None:
    """As one that is full or as the oldest one, in whichever cycle it becomes full."""
    halves = [(3, bytes([half] * 64), 0xFFFF_FFFF << 32 * half) for half in range(2)]
    bench = Bench(halves[:1])

    async def testbench(context: Any) -> None:
        await bench.write_all(context)
        await bench.wait(context, 5)
        bench.source.waiting = [packed(*halves[1])]
        await bench.wait(context, waits)
        await bench.flush(context)
        await bench.write_all(context)
        await bench.flush(context)
        await bench.wait(context, 5)

    simulate(bench.combiner, testbench)
    assert applied(bench.lines) == applied(halves)
    assert sum(mask.bit_count() for *_, mask in bench.lines) == _LINE_BYTES


def test_too_few_entries_are_illegal() -> None:
    with pytest.raises(ValueError, match="more than 2"):
        WriteCombiner(entries=2)
