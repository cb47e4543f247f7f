"""ReadPorts, WritePorts and MemoryPorts together: each client gets its lines in order, from whichever port."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.lines import LINE_BITS
from ctm.rtl.isa.limits import ADDRESS_SPACE, SYSTEM_MEMORY
from ctm.rtl.mc.bus.routing import Routing
from ctm.tb.lib.some import pairs
from ctm.tb.lib.streams import Source, cycle, simulate
from ctm.tb.mc.bus_model import LINE_BYTES
from ctm.tb.mc.line_slices import sliced
from ctm.tb.mc.ports_bench import PortsBench, TaggedReader

CLIENTS, ORDERED = (6, 2, 1), (False, True, True)
EACH, DEADLINE = 20, 6000
ROUTES = {
    "two": Routing(split=SYSTEM_MEMORY),
    "low split": Routing(split=4096),
    "one": Routing(split=ADDRESS_SPACE),
    "one in slices": Routing(split=ADDRESS_SPACE),
    "two local": Routing(split=SYSTEM_MEMORY, local=2),
    "four local": Routing(split=ADDRESS_SPACE, local=4),
}
SLICE_BITS = {"one in slices": 128}
"""Bits of a slice, by the routings without whole lines."""
STALLS = ((0, 0), (0.3, 0.3), (0.8, 0), (0, 0.8))
"""Of clients and of memory."""
ROUTED_AND_STALLED = pytest.mark.parametrize(("routing", "stalls"), pairs(ROUTES, STALLS))
_MASK = (1 << LINE_BYTES) - 1


async def run(
    context: Any, bench: PortsBench, *, reads: int = 0, writes: int = 0, watch: Any = lambda context: None
) -> int:
    """Clock until every client has so many responses; the cycles. `watch` is called before each clock edge."""
    for now in range(DEADLINE):
        if all(len(end.received) == reads for end in bench.lines) and all(
            len(end.received) == writes for end in bench.written
        ):
            return now
        for end in bench.ends:
            end.drive(context)
        watch(context)
        for end in bench.ends:
            end.finish(context)
        await context.tick()
    raise AssertionError("responses are missing")


@pytest.mark.slow
@ROUTED_AND_STALLED
def test_each_client_gets_its_lines_in_order(routing: str, stalls: tuple[float, float]) -> None:
    bench = PortsBench(
        CLIENTS, ORDERED, routing=ROUTES[routing], slice_bits=SLICE_BITS.get(routing, LINE_BITS),
        stalls=stalls,
    )  # fmt: skip
    requested = [[bench.any_line() for _ in range(EACH)] for _ in CLIENTS]
    bench.respond_with_errors({line for lines in requested for line in lines[::5]})
    for source, lines in zip(bench.reading, requested, strict=True):
        source.waiting = lines[:]
    error: list[tuple[int, int]] = []
    reads = bench.design.reads

    async def testbench(context: Any) -> None:
        for _ in range(DEADLINE):
            failed = context.get(reads.error)
            error.extend((client, context.get(reads.error_line)) for client in range(3) if failed >> client & 1)
            told = sum(payload >> 512 for sink in bench.lines for payload in sink.received)
            assert told <= len(error), "an error is reported no later than to the client"
            if all(len(end.received) == EACH for end in bench.lines):
                return
            await cycle(context, bench.ends)

    simulate(bench.design, testbench)
    for client, (sink, lines) in enumerate(zip(bench.lines, requested, strict=True)):
        wrong = bench.memory[0].error_lines
        assert [payload >> 512 for payload in sink.received] == [int(line in wrong) for line in lines]
        for payload, line in zip(sink.received, lines, strict=True):
            bits = int.from_bytes(bench.memory[0].line(line), "little")
            assert line in wrong or payload == bits
        assert sorted(line for source, line in error if source == client) == sorted(
            line for line in lines if line in wrong
        )
    bench.check_ports()


@pytest.mark.slow
@ROUTED_AND_STALLED
@pytest.mark.parametrize("data_bits", [64, 512])
def test_writes_are_made_and_their_client_gets_the_responses(
    data_bits: int, routing: str, stalls: tuple[float, float]
) -> None:
    slice_bits = data_bits if routing in SLICE_BITS else LINE_BITS
    bench = PortsBench(
        CLIENTS, ORDERED, routing=ROUTES[routing], data_bits=data_bits, slice_bits=slice_bits, stalls=stalls
    )  # fmt: skip
    # Every client has lines of its own.
    writes = [
        [(bench.any_line() // 4 * 4 + client, bench.generator.bytes(LINE_BYTES)) for _ in range(EACH)]
        for client in range(3)
    ]
    bench.respond_with_errors({line for each in writes for line, _ in each[::5]})
    wrong = bench.memory[0].error_lines
    for source, each in zip(bench.writing, writes, strict=True):
        source.waiting = [payload for line, data in each for payload in sliced(line, data, _MASK, slice_bits)]

    told: list[list[int]] = [[], [], []]
    ports = bench.design.writes

    def watch(context: Any) -> None:
        for client, port in enumerate(ports.written):
            if context.get(port.valid) and context.get(port.ready):
                told[client].append(context.get(ports.written_line))

    async def testbench(context: Any) -> None:
        await run(context, bench, writes=EACH, watch=watch)
        await context.tick()
        assert context.get(bench.design.writes.idle) == 7
        assert context.get(bench.design.ports.idle)

    simulate(bench.design, testbench)
    for sink, lines, each, ordered in zip(bench.written, told, writes, ORDERED, strict=True):
        assert sink.received == [int(line in wrong) for line in lines]
        expected = [line for line, _ in each]
        assert lines == expected if ordered else sorted(lines) == sorted(expected)
    found = {line: data for memory in bench.memory for line, data in memory.lines.items()}
    assert found == {line: data for each in writes for line, data in each if line not in wrong}
    bench.check_ports()


@pytest.mark.slow
@pytest.mark.parametrize("writers", [1, 3])
@pytest.mark.parametrize(("routing", "bursts"), [("one", 1), ("one", 2), ("two", 4), ("four local", 1)])
def test_a_client_is_busy_until_its_last_write_response(routing: str, bursts: int, writers: int) -> None:
    stalls = (0.3, 0.8) if writers > 1 else (0, 0.8)
    bench = PortsBench(CLIENTS, ORDERED, routing=ROUTES[routing], bursts=bursts, stalls=stalls)
    for source in bench.writing[:writers]:
        source.waiting = [bench.any_line() | _MASK << 538 for _ in range(EACH)]

    async def testbench(context: Any) -> None:
        for _ in range(DEADLINE):
            idle = context.get(bench.design.writes.idle)
            for client, (source, sink) in enumerate(zip(bench.writing, bench.written, strict=True)):
                assert idle >> client & 1 == (len(source.taken) == len(sink.received))
            if all(len(sink.received) == EACH for sink in bench.written[:writers]):
                return
            await cycle(context, bench.ends)
        raise AssertionError("responses are missing")

    simulate(bench.design, testbench)


@pytest.mark.slow
def test_two_ports_read_at_the_same_time() -> None:
    """A line takes four beats at a port of 128 bits; two ports bring two in that time."""
    cycles = {}
    for routing in ("one", "one in slices", "two", "two local"):
        bench = PortsBench((16,), (True,), routing=ROUTES[routing], slice_bits=SLICE_BITS.get(routing, LINE_BITS))
        # Alternating odd and even ones, of both halves if there is a port for each.
        upper = 1 << 25 if routing == "two" else 0
        bench.reading[0].waiting = [number % 2 * upper + number for number in range(60)]

        async def testbench(context: Any, bench: PortsBench = bench, routing: str = routing) -> None:
            cycles[routing] = await run(context, bench, reads=60)

        simulate(bench.design, testbench)
    assert 240 <= cycles["one"] <= 250
    # Whole lines of four rows, one in each cycle and two more.
    assert 360 <= cycles["one in slices"] <= 370
    assert 120 <= cycles["two"] <= 130
    assert 120 <= cycles["two local"] <= 130


@pytest.mark.slow
@ROUTED_AND_STALLED
def test_others_get_each_line_when_it_comes(routing: str, stalls: tuple[float, float]) -> None:
    bench = PortsBench(
        (2,), ORDERED, tagged=(6, 1), routing=ROUTES[routing], slice_bits=SLICE_BITS.get(routing, LINE_BITS),
        stalls=stalls,
    )  # fmt: skip
    requested = [[bench.any_line() for _ in range(EACH)] for _ in range(3)]
    bench.respond_with_errors({line for lines in requested for line in lines[::5]})
    sources: list[Source | TaggedReader] = [*bench.reading, *bench.tagged]
    for source, lines in zip(sources, requested, strict=True):
        source.waiting = lines[:]

    async def testbench(context: Any) -> None:
        for _ in range(DEADLINE):
            received = [*(end.received for end in bench.lines), *(end.received for end in bench.tagged)]
            if all(len(each) == EACH for each in received):
                return
            await cycle(context, bench.ends)

    simulate(bench.design, testbench)
    wrong = bench.memory[0].error_lines
    for reader, lines in zip(bench.tagged, requested[1:], strict=True):
        for number, line in enumerate(lines):
            payload = reader.received[number]
            assert payload >> 512 == (line in wrong)
            assert line in wrong or payload == int.from_bytes(bench.memory[0].line(line), "little")
    bench.check_ports()


def test_lines_of_512_bits_come_in_each_cycle() -> None:
    bench = PortsBench((), ORDERED, tagged=(32,), routing=ROUTES["one"], data_bits=512)
    bench.tagged[0].waiting = list(range(100))

    async def testbench(context: Any) -> None:
        for _ in range(112):
            await cycle(context, bench.ends)

    simulate(bench.design, testbench)
    assert len(bench.tagged[0].received) == 100


@pytest.mark.parametrize("begin", [2, 9, 30, 77])
def test_a_drain_leaves_nothing_in_flight(begin: int) -> None:
    """Clients and what is in front of the ports are reset meanwhile, as in the machine."""
    bench = PortsBench(CLIENTS, ORDERED, routing=ROUTES["two"], stalls=(0, 0.3), seed=begin)
    for source in bench.reading:
        source.waiting = [bench.any_line() for _ in range(EACH)]
    for source in bench.writing:
        source.waiting = [bench.any_line() | _MASK << 538 for _ in range(EACH)]
    ports = bench.design.ports

    async def testbench(context: Any) -> None:
        for _ in range(begin):
            await cycle(context, bench.ends)
        context.set(ports.drain, 1)
        begun = [(len(memory.reads), len(memory.writes)) for memory in bench.memory]
        for _ in range(DEADLINE):
            await cycle(context, bench.memory)
            if context.get(ports.idle):
                break
        else:
            raise AssertionError("it never drains")
        assert all(memory.is_drained for memory in bench.memory)
        for memory, (reads, writes) in zip(bench.memory, begun, strict=True):
            # One burst of each kind may have been offered already, and bursts at memory may wait for their data.
            assert len(memory.reads) <= reads + 1 and len(memory.writes) <= writes + 2
        for _ in range(50):
            await cycle(context, bench.memory)
            assert context.get(ports.idle)
        assert np.sum([len(memory.reads) for memory in bench.memory]) > 0

    simulate(bench.design, testbench)
