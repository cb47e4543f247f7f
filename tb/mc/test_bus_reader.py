"""BusReader: lines in order, bursts by the rules, and nothing left after a drain."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from ctm.rtl.mc.bus.axi import Response, line_beats
from ctm.rtl.mc.bus.reader import BusReader
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate
from ctm.tb.mc.bus_model import LINE_BYTES, BusModel, is_offered

TAG_BITS, OUTSTANDING, COUNT, DEADLINE = 5, 4, 60, 4000
WIDTHS = (64, 128, 256)


def requests(generator: np.random.Generator) -> list[tuple[int, int]]:
    """Lines and tags; the first and the last line among them."""
    lines = [0, (1 << 26) - 1, *generator.integers(1 << 26, size=COUNT - 2)]
    return [(int(line), int(generator.integers(1 << TAG_BITS))) for line in lines]


def responses(model: BusModel, requested: list[tuple[int, int]]) -> list[tuple[int, bytes | None, int]]:
    """Line, bytes (None: an error response) and tag of each response."""
    return [(line, None if line in model.error_lines else model.line(line), tag) for line, tag in requested]


def decoded(payload: int) -> tuple[int, bytes | None, int]:
    line, bits, error, tag = (
        payload & (1 << 26) - 1, payload >> 26 & (1 << 512) - 1, payload >> 538 & 1, payload >> 539,
    )  # fmt: skip
    return line, None if error else bits.to_bytes(LINE_BYTES, "little"), tag


@cache
def reader_of(data_bits: int) -> BusReader:
    """One for all benches, which `simulate` begins anew."""
    return BusReader(TAG_BITS, data_bits=data_bits, outstanding=OUTSTANDING)


class Bench:
    """A reader between a client and memory."""

    def __init__(self, data_bits: int, client_stall: float = 0, memory_stall: float = 0, seed: int = 1) -> None:
        generator = np.random.default_rng([seed, data_bits])
        self.reader = reader_of(data_bits)
        self.requested = requests(generator)
        self.source = Source(self.reader.request, generator, client_stall)
        self.source.waiting = [line | tag << 26 for line, tag in self.requested]
        self.sink = Sink(self.reader.response, generator, client_stall)
        self.model = BusModel(self.reader, generator, memory_stall, data_bits=data_bits)
        self.ends = [self.source, self.sink, self.model]


@pytest.mark.parametrize("memory_stall", STALLS)
@pytest.mark.parametrize("client_stall", STALLS)
@pytest.mark.parametrize("data_bits", WIDTHS)
def test_lines_come_whole_and_in_order(data_bits: int, client_stall: float, memory_stall: float) -> None:
    bench = Bench(data_bits, client_stall, memory_stall)
    bench.model.error_lines = {line for line, _ in bench.requested[::7]}

    async def testbench(context: Any) -> None:
        for _ in range(DEADLINE):
            await cycle(context, bench.ends)
            assert len(bench.model.reads) - len(bench.sink.received) <= OUTSTANDING + 1
            if len(bench.sink.received) == COUNT:
                break
        await context.tick()
        assert context.get(bench.reader.idle)

    simulate(bench.reader, testbench)
    assert [decoded(payload) for payload in bench.sink.received] == responses(bench.model, bench.requested)
    assert bench.model.reads == [(LINE_BYTES * line, line_beats(data_bits)) for line, _ in bench.requested]


@pytest.mark.parametrize("wrong", range(4))
def test_one_beat_with_an_error_is_enough(wrong: int) -> None:
    reader = BusReader(TAG_BITS, data_bits=128, outstanding=OUTSTANDING)
    found: list[int] = []

    async def testbench(context: Any) -> None:
        context.set(reader.ar.ready, 1)
        context.set(reader.response.ready, 1)
        for _ in range(2):
            context.set(reader.request.valid, 1)
            await context.tick()
            context.set(reader.request.valid, 0)
            for _ in range(3):
                await context.tick()
            for beat in range(4):
                # The second line has no error.
                context.set(reader.r.valid, 1)
                context.set(reader.r.payload.last, beat == 3)
                is_wrong = beat == wrong and not found
                context.set(reader.r.payload.response, Response.DECERR if is_wrong else Response.EXOKAY)
                assert context.get(reader.r.ready)
                await context.tick()
            context.set(reader.r.valid, 0)
            assert context.get(reader.response.valid)
            found.append(context.get(reader.response.payload.error))
            await context.tick()

    simulate(reader, testbench)
    assert found == [1, 0]


@pytest.mark.parametrize("data_bits", WIDTHS)
def test_a_burst_and_a_line_are_offered_in_the_next_cycle(data_bits: int) -> None:
    bench = Bench(data_bits)
    bench.source.waiting = bench.source.waiting[:1]
    seen: dict[str, list[int]] = {"burst": [], "beat": [], "line": []}

    async def testbench(context: Any) -> None:
        for now in range(20):
            for end in bench.ends:
                end.drive(context)
            for name, port in (("burst", bench.reader.ar), ("beat", bench.reader.r), ("line", bench.reader.response)):
                if is_offered(context, port):
                    seen[name].append(now)
            for end in bench.ends:
                end.finish(context)
            await context.tick()

    simulate(bench.reader, testbench)
    assert seen["burst"] == [1]
    assert len(seen["beat"]) == line_beats(data_bits)
    assert seen["line"] == [seen["beat"][-1] + 1]


@pytest.mark.parametrize("data_bits", WIDTHS)
def test_a_beat_is_taken_in_each_cycle(data_bits: int) -> None:
    bench = Bench(data_bits)
    beats, taken = line_beats(data_bits), []

    async def testbench(context: Any) -> None:
        for now in range(DEADLINE):
            for end in bench.ends:
                end.drive(context)
            if is_offered(context, bench.reader.r) and context.get(bench.reader.r.ready):
                taken.append(now)
            for end in bench.ends:
                end.finish(context)
            await context.tick()
            if len(taken) == COUNT * beats:
                return

    simulate(bench.reader, testbench)
    pauses = taken[-1] - taken[0] + 1 - COUNT * beats
    # Four lines in flight hide the latency of memory where a line has four beats.
    assert pauses == 0 if beats >= 4 else pauses <= COUNT


@pytest.mark.parametrize("memory_stall", STALLS)
@pytest.mark.parametrize("begin", [1, 7, 20, 33])
def test_a_drain_takes_nothing_ends_bursts_and_drops_their_lines(begin: int, memory_stall: float) -> None:
    bench = Bench(128, 0.3, memory_stall, seed=begin)
    reader, later = bench.reader, []

    async def testbench(context: Any) -> None:
        for _ in range(begin):
            await cycle(context, bench.ends)
        context.set(reader.drain, 1)
        taken = len(bench.source.taken)
        # The reader's client is reset: it takes nothing and holds no payload.
        ends = [bench.source, bench.model]
        for now in range(DEADLINE):
            await cycle(context, ends)
            assert len(bench.source.taken) == taken, "nothing is taken"
            if now:
                assert not context.get(reader.response.valid), "lines are dropped"
            if context.get(reader.idle):
                break
        else:
            raise AssertionError("it never drains")
        assert bench.model.is_drained and len(bench.model.reads) == taken
        context.set(reader.drain, 0)
        sink = Sink(reader.response, np.random.default_rng(1), 0.3)
        for _ in range(DEADLINE):
            await cycle(context, [bench.source, sink, bench.model])
            if len(sink.received) == COUNT - taken:
                break
        later.extend(sink.received)
        assert [decoded(payload) for payload in later] == responses(bench.model, bench.requested[taken:])

    simulate(reader, testbench)
    assert later
