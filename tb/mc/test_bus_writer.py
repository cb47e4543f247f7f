"""BusWriter: the bytes of the mask and no others, responses in order, no bubble, and nothing left after a drain."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.lines import line_write_layout
from ctm.rtl.isa.word import unpack
from ctm.rtl.mc.bus.writer import BusWriter
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate
from ctm.tb.mc.bus_model import LINE_BYTES, BusModel, is_offered
from ctm.tb.mc.line_slices import sliced as slices

TAG_BITS, OUTSTANDING, COUNT, DEADLINE = 5, 4, fewer(60), 4000
WIDTHS = (64, 128, 256)
SLICED = pytest.mark.parametrize("sliced", [False, True], ids=["lines", "slices"])
"""What the client gives."""
Write = tuple[int, bytes, int, int]


def random_mask(generator: np.random.Generator) -> int:
    """Bytes of a line: all, one, a run or any, but at least one."""
    kind, first = int(generator.integers(4)), int(generator.integers(LINE_BYTES))
    if kind == 0:
        return (1 << LINE_BYTES) - 1
    if kind == 1:
        return 1 << first
    if kind == 2:
        return (1 << int(generator.integers(1, LINE_BYTES - first + 1))) - 1 << first
    return int.from_bytes(generator.bytes(8), "little") or 1


def random_writes(generator: np.random.Generator) -> list[Write]:
    """Line, bytes, mask and tag; many writes meet in few lines, the last line of memory among them."""
    lines = [0, 1, 2, (1 << 26) - 1]
    return [
        (int(generator.choice(lines)), generator.bytes(LINE_BYTES), random_mask(generator), int(generator.integers(32)))
        for _ in range(COUNT)
    ]


def expected_lines(model: BusModel, writes: list[Write]) -> dict[int, bytes]:
    """Memory after the writes."""
    found: dict[int, bytes] = {}
    for line, data, mask, _ in writes:
        if line not in model.error_lines:
            old = found.get(line, np.random.default_rng(line).bytes(LINE_BYTES))
            found[line] = bytes(data[at] if mask >> at & 1 else old[at] for at in range(LINE_BYTES))
    return found


def bursts(writes: list[Write], beat_bytes: int) -> list[tuple[int, int]]:
    """Address and beats from the first to the last beat with a byte that is written."""
    result = []
    for line, _, mask, _ in writes:
        used = [byte // beat_bytes for byte in range(LINE_BYTES) if mask >> byte & 1]
        result.append((LINE_BYTES * line + used[0] * beat_bytes, used[-1] - used[0] + 1))
    return result


@cache
def writer_of(data_bits: int, slice_bits: int) -> BusWriter:
    """One for all benches, which `simulate` begins anew."""
    return BusWriter(TAG_BITS, data_bits=data_bits, outstanding=OUTSTANDING, slice_bits=slice_bits)


class Bench:
    """A writer between a client and memory."""

    def __init__(
        self,
        data_bits: int,
        client_stall: float = 0,
        memory_stall: float = 0,
        seed: int = 1,
        *,
        sliced: bool = False,
    ) -> None:
        generator = np.random.default_rng([seed, data_bits])
        self.slice_bits = data_bits if sliced else 8 * LINE_BYTES
        self.writer = writer_of(data_bits, self.slice_bits)
        self.writes = random_writes(generator)
        self.source = Source(self.writer.request, generator, client_stall)
        layout = line_write_layout(self.slice_bits)
        payloads = [slices(line, data, mask, self.slice_bits) for line, data, mask, _ in self.writes]
        # After which slices lines end.
        self._ends = np.cumsum([len(own) for own in payloads])
        self.source.waiting = [
            payload | write[3] << layout.size
            for write, own in zip(self.writes, payloads, strict=True)
            for payload in own
        ]
        self.sink = Sink(self.writer.response, generator, client_stall)
        self.model = BusModel(self.writer, generator, memory_stall, data_bits=data_bits)
        self.ends = [self.source, self.sink, self.model]

    @property
    def begun(self) -> int:
        """Lines of which a slice was taken."""
        taken = len(self.source.taken)
        return int(np.searchsorted(self._ends, taken)) + (taken > 0)

    def mask_taken(self, number: int) -> int:
        """The bytes of a line's slices that were taken."""
        line, data, mask, _ = self.writes[number]
        first = int(self._ends[number]) - len(slices(line, data, mask, self.slice_bits))
        layout, size = line_write_layout(self.slice_bits), self.slice_bits // 8
        payloads = [unpack(layout, payload) for payload in self.source.taken[first : int(self._ends[number])]]
        return sum(own["mask"] << size * own["slice"] for own in payloads)

    def drop_remaining(self) -> None:
        """Do not offer the slices of the line that was begun that were not taken."""
        taken, end = len(self.source.taken), self._ends[self.begun - 1] if self.begun else 0
        del self.source.waiting[: max(0, int(end) - taken)]
        self.source.offered = False

    def responses(self, writes: list[Write]) -> list[int]:
        return [line | (line in self.model.error_lines) << 26 | tag << 27 for line, _, _, tag in writes]


@pytest.mark.parametrize("memory_stall", STALLS)
@pytest.mark.parametrize("client_stall", STALLS)
@pytest.mark.parametrize("data_bits", WIDTHS)
@SLICED
def test_memory_has_the_bytes_and_the_client_its_responses(
    sliced: bool, data_bits: int, client_stall: float, memory_stall: float
) -> None:
    bench = Bench(data_bits, client_stall, memory_stall, sliced=sliced)
    bench.model.error_lines = {2}

    async def testbench(context: Any) -> None:
        for _ in range(DEADLINE):
            await cycle(context, bench.ends)
            assert bench.begun - len(bench.sink.received) <= OUTSTANDING + 1
            if len(bench.sink.received) == COUNT:
                break
        await context.tick()
        assert context.get(bench.writer.idle)

    simulate(bench.writer, testbench)
    assert bench.sink.received == bench.responses(bench.writes)
    assert bench.model.lines == expected_lines(bench.model, bench.writes)
    assert bench.model.writes == [(address, beats) for address, beats in bursts(bench.writes, data_bits // 8)]


@pytest.mark.parametrize("data_bits", WIDTHS)
@SLICED
def test_bursts_follow_each_other_without_a_bubble(sliced: bool, data_bits: int) -> None:
    bench = Bench(data_bits, sliced=sliced)
    seen: dict[str, list[int]] = {"address": [], "beat": []}

    async def testbench(context: Any) -> None:
        for now in range(DEADLINE):
            for end in bench.ends:
                end.drive(context)
            for name, port in (("address", bench.writer.aw), ("beat", bench.writer.w)):
                if is_offered(context, port) and context.get(port.ready):
                    seen[name].append(now)
            for end in bench.ends:
                end.finish(context)
            await context.tick()
            if len(bench.sink.received) == COUNT:
                return

    simulate(bench.writer, testbench)
    beats = sum(length for _, length in bursts(bench.writes, data_bits // 8))
    # The request is offered in cycle 0.
    assert seen["address"][0] == seen["beat"][0] == 1
    assert seen["beat"] == list(range(1, 1 + beats))


@pytest.mark.parametrize("memory_stall", STALLS)
@pytest.mark.parametrize("begin", [1, 7, 20, 33])
@SLICED
def test_a_drain_takes_nothing_ends_bursts_and_drops_their_responses(
    sliced: bool, begin: int, memory_stall: float
) -> None:
    bench = Bench(128, 0.3, memory_stall, seed=begin, sliced=sliced)
    writer, received, expected = bench.writer, [], []

    async def testbench(context: Any) -> None:
        for _ in range(begin):
            await cycle(context, bench.ends)
        context.set(writer.drain, 1)
        slices_taken, taken = len(bench.source.taken), bench.begun
        for _ in range(DEADLINE):
            await cycle(context, [bench.source, bench.model])
            assert len(bench.source.taken) == slices_taken, "nothing is taken"
            assert not context.get(writer.response.valid), "responses are dropped"
            if context.get(writer.idle):
                break
        else:
            raise AssertionError("it never drains")
        assert bench.model.is_drained and len(bench.model.writes) == taken
        whole = [*bench.writes]
        if taken:
            # Of the last line what was taken is written.
            line, data, mask, tag = whole[taken - 1]
            whole[taken - 1] = line, data, bench.mask_taken(taken - 1), tag
        assert bench.model.lines == expected_lines(bench.model, whole[:taken])
        bench.drop_remaining()
        context.set(writer.drain, 0)
        sink = Sink(writer.response, np.random.default_rng(1), 0.3)
        for _ in range(DEADLINE):
            await cycle(context, [bench.source, sink, bench.model])
            if len(sink.received) == COUNT - taken:
                break
        received.extend(sink.received)
        assert received == bench.responses(bench.writes[taken:])
        expected.append(expected_lines(bench.model, whole))

    simulate(writer, testbench)
    assert received
    assert bench.model.lines == expected[0]
