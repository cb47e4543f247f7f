"""Outputs: wavefronts of all formats against the golden model's writes; responses of uncached writes in time."""

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.lines import line_write_layout
from ctm.rtl.isa.formats import ELEMENTS, DataFormat, Tiling
from ctm.rtl.isa.word import unpack
from ctm.rtl.mc.outputs.array_writes import Outputs
from ctm.sim.golden.mc.address import element_address
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import write
from ctm.sim.memory import Memory
from ctm.sim.runtime import Layout
from ctm.tb.lib.random_values import random_floats
from ctm.tb.lib.streams import STALLS, Sink, Source, cycle, simulate
from ctm.tb.mc.buffers import buffer_bits

SLOT_BITS, ENTRIES, DEADLINE = 5, 16, 8000
LINE_BYTES = 64
Wavefront = dict[str, Any]


def random_outputs(generator: np.random.Generator) -> list[Buffer]:
    """Four buffers far apart; output 0 is FLOAT32_1, as uncached writes need it, the last one at memory's end."""
    formats = [DataFormat.FLOAT32_1, *generator.choice(np.array(list(DataFormat)), 3)]
    found = []
    for number, data_format in enumerate(formats):
        tiling = Tiling.LINEAR if generator.random() < 0.5 else Tiling.TILED
        width, height = (int(generator.integers(1, 60)) for _ in range(2))
        layout = Layout(width=width, height=height, format=data_format, tiling=tiling)
        end = -layout.size // 2048 * 2048
        found.append(layout.at((0x100_0000 * (number + 1) if number < 3 else end) % (1 << 32)))
    return found


@cache
def outputs_of(lanes: int, banks: int, slice_bits: int) -> Outputs:
    """One for all benches, which `simulate` begins anew."""
    return Outputs(lanes, SLOT_BITS, entries=ENTRIES, banks=banks, slice_bits=slice_bits)


class Bench:
    """`Outputs` with a memory; `cached` and `uncached` wavefronts in the order in which they are sent."""

    def __init__(
        self,
        lanes: int,
        seed: int,
        *,
        banks: int = 1,
        wavefronts: int = 40,
        stalls: tuple[float, float] = (0, 0),
        slice_bits: int = 8 * LINE_BYTES,
    ) -> None:
        self.generator = generator = np.random.default_rng([seed, lanes])
        self.lanes, self.outputs = lanes, random_outputs(generator)
        self.mask = int(generator.choice([15, 15, int(generator.integers(16))]))
        self.design, self._layout = outputs_of(lanes, banks, slice_bits), line_write_layout(slice_bits)
        self.cached = [self._output() for _ in range(wavefronts)]
        self.uncached = [self._uncached() for _ in range(wavefronts // 2)]
        self.sources = [Source(port, generator, stalls[0]) for port in (self.design.output, self.design.uncached.write)]
        for source, each in zip(self.sources, (self.cached, self.uncached), strict=True):
            shape = source._port.payload.shape()
            source.waiting = [shape.const(fields).as_bits() for fields in each]
        ports = (*self.design.lines, self.design.uncached_line, self.design.uncached.done)
        self.sinks = [Sink(port, generator, stalls[1]) for port in ports]
        *_, self.past, self.done = self.sinks
        self.memory, self.responded, self.in_flight = Memory(), 0, 0
        self._stall = stalls[1]

    def _output(self) -> Wavefront:
        generator, lanes = self.generator, self.lanes
        masks = generator.choice([0, 15, 15, int(generator.integers(16))], lanes)
        target = int(generator.integers(1, 4))
        output = self.outputs[target]
        # Often at an edge of the buffer, whose last row may be the first of a quad.
        columns = [0, 2, 4, 30, 4096, *(output.width_limit + step for step in (-4, -2, 0))]
        rows = [0, 2, 28, 4094, *(output.height_limit // 2 * 2 + step for step in (-2, 0))]
        return {
            "i": max(0, int(generator.choice(columns))),
            "j": max(0, int(generator.choice(rows))),
            "target": target,
            "words": random_floats(generator, (lanes, 4)).view(np.uint32).tolist(),
            "mask": [int(mask) for mask in masks],
        }

    def _uncached(self) -> Wavefront:
        generator, lanes = self.generator, self.lanes
        # Some lanes meet, some are outside.
        limit = int(generator.choice([2, 16, 80, 4096]))
        return {
            "wave": int(generator.integers(1 << SLOT_BITS)),
            "acquires": int(generator.random() < 0.4),
            "x": generator.integers(limit, size=lanes).tolist(),
            "y": generator.integers(min(limit, 30), size=lanes).tolist(),
            "values": generator.integers(1 << 32, size=lanes).tolist(),
            "mask": int(generator.choice([0, (1 << lanes) - 1, int(generator.integers(1 << lanes))])),
        }

    def expected(self) -> tuple[Memory, list[int]]:
        """Memory after all wavefronts, and how many lines the uncached ones up to each write."""
        memory, lanes = Memory(), np.arange(self.lanes)
        written: list[int] = []
        channels = np.array([self.mask >> channel & 1 for channel in range(4)], bool)[:, None]
        for wavefront in self.cached:
            x, y = wavefront["i"] + lanes // 4 * 2 + lanes % 2, wavefront["j"] + lanes // 2 % 2
            masks = (np.array(wavefront["mask"]) >> np.arange(4)[:, None] & 1).astype(bool)
            values = np.array(wavefront["words"], np.uint32).T.view(np.float32)
            write(memory, self.outputs[wavefront["target"]], x, y, values, masks & channels)
        output = self.outputs[0]
        for wavefront in self.uncached:
            x, y = np.array(wavefront["x"]), np.array(wavefront["y"])
            values = np.zeros((4, self.lanes), np.uint32)
            values[0] = wavefront["values"]
            enabled = (wavefront["mask"] >> lanes & 1).astype(bool) & channels[0]
            write(memory, output, x, y, values.view(np.float32), np.array([enabled, *[np.zeros_like(enabled)] * 3]))
            exists = enabled & (x < output.width_limit) & (y < output.height_limit)
            lines = {int(address) // LINE_BYTES for address in element_address(output, x[exists], y[exists])}
            written.append(len(lines) + (written[-1] if written else 0))
        return memory, written

    async def clock(self, context: Any) -> None:
        """One cycle; memory responds to uncached lines in order, some cycles later."""
        responses = self.in_flight > 0 and self.generator.random() >= max(self._stall, 0.3)
        context.set(self.design.uncached_written.valid, responses)
        counts, ended = [len(sink.received) for sink in self.sinks], 0
        await cycle(context, [*self.sources, *self.sinks])
        self.responded += responses
        for bank, (sink, count) in enumerate(zip(self.sinks[:-1], counts, strict=False)):
            for payload in sink.received[count:]:
                self._store(payload)
                banks = len(self.design.lines)
                assert sink is self.past or (payload & (1 << 26) - 1) % banks == bank, "a line of another bank"
                ended += sink is self.past and not unpack(self._layout, payload)["remaining"]
        self.in_flight += ended - responses

    def _store(self, payload: int) -> None:
        fields, size = unpack(self._layout, payload), len(self.design.uncached_line.payload.mask)
        assert fields["mask"] or fields["remaining"], "a line without a byte is not handed on"
        for byte in range(size):
            if fields["mask"] >> byte & 1:
                at = LINE_BYTES * fields["line"] + size * fields["slice"] + byte
                self.memory.bytes[at] = fields["bits"] >> 8 * byte & 0xFF

    def set_up(self, context: Any) -> None:
        """What commands have set."""
        for number, buffer in enumerate(self.outputs):
            context.set(self.design.outputs[number].as_value(), buffer_bits(buffer))
        context.set(self.design.output_mask, self.mask)

    def same_memory(self, expected: Memory) -> bool:
        """Whether all that may be written is as it should be, and what lies around it."""
        ranges = [(output.base - 64, output.base + 0x10_0000) for output in self.outputs]
        return all(
            np.array_equal(self.memory.bytes[low : min(high, 1 << 32)], expected.bytes[low : min(high, 1 << 32)])
            for low, high in ranges
        )


async def run(context: Any, bench: Bench, written: list[int]) -> None:
    """Send everything, flush, and check when acquiring writes get their responses."""
    acquiring = [number for number, wavefront in enumerate(bench.uncached) if wavefront["acquires"]]
    done = bench.done.received
    for _ in range(DEADLINE):
        responded, count = bench.responded, len(done)
        await bench.clock(context)
        # What came in this cycle counts.
        responded = max(responded, bench.responded)
        if len(done) > count:
            assert responded >= written[acquiring[len(done) - 1]], "a response before all is in memory"
        if not any(source.waiting for source in bench.sources) and context.get(bench.design.idle):
            break
    else:
        raise AssertionError("it is never idle")
    assert bench.responded == written[-1], "idle means that all uncached writes have their responses"
    assert done == [bench.uncached[number]["wave"] for number in acquiring]
    context.set(bench.design.flush, 1)
    for _ in range(DEADLINE):
        if context.get(bench.design.empty):
            break
        await bench.clock(context)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lanes", "banks", "slice_bits", "wavefront_stall", "line_stall"),
    [
        *((4, 1, 512, wavefront, line) for wavefront in STALLS for line in STALLS),
        *((8, 1, 512, 0, 0), (8, 1, 512, 0, 0.8), (4, 2, 512, 0.3, 0.3), (4, 4, 512, 0, 0.8), (8, 4, 512, 0, 0)),
        *((1, 1, 128, 0, 0), (1, 1, 64, 0.3, 0.3), (4, 1, 128, 0, 0.8), (1, 2, 128, 0.3, 0), (1, 1, 512, 0, 0.3)),
    ],
)
def test_wavefronts_leave_what_the_golden_model_writes(
    lanes: int, banks: int, slice_bits: int, wavefront_stall: float, line_stall: float
) -> None:
    seed = int(10 * wavefront_stall + 100 * line_stall)
    bench = Bench(lanes, seed, banks=banks, stalls=(wavefront_stall, line_stall), slice_bits=slice_bits)
    expected, written = bench.expected()

    async def testbench(context: Any) -> None:
        bench.set_up(context)
        await run(context, bench, written)

    simulate(bench.design, testbench)
    assert bench.same_memory(expected)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 60))
def test_many_wavefronts_leave_what_the_golden_model_writes(seed: int) -> None:
    bench = Bench(
        4 << seed % 3, seed, banks=1 << seed // 9 % 3, wavefronts=200, stalls=(STALLS[seed % 3], STALLS[seed // 3 % 3])
    )
    expected, written = bench.expected()

    async def testbench(context: Any) -> None:
        bench.set_up(context)
        await run(context, bench, written)

    simulate(bench.design, testbench)
    assert bench.same_memory(expected)


@pytest.mark.parametrize(("data_format", "banks"), [*product(DataFormat, [1]), (DataFormat.FLOAT32_4, 2)])
def test_a_line_is_written_in_each_cycle(data_format: DataFormat, banks: int) -> None:
    bench, count = Bench(4, 1, banks=banks, wavefronts=0), 100
    bench.outputs[1] = Layout(width=32, height=2, format=data_format, tiling=Tiling.TILED).at(0x100_0000)
    bench.mask = 15
    fields = {"words": [[1] * 4] * 4, "mask": [15] * 4, "target": 1, "j": 0}
    shape = bench.design.output.payload.shape()
    bench.sources[0].waiting = [shape.const({**fields, "i": 2 * each % 32}).as_bits() for each in range(count)]
    cycles = []

    async def testbench(context: Any) -> None:
        bench.set_up(context)
        for now in range(DEADLINE):
            if not bench.sources[0].waiting:
                cycles.append(now)
                return
            await bench.clock(context)

    simulate(bench.design, testbench)
    # A tiled quad is in one line, but of the largest elements in two, which are in two banks.
    lines = count * (1 if ELEMENTS[data_format].element_bytes < 16 else 2) // banks
    assert lines - 3 <= cycles[0] <= lines + 2


@pytest.mark.slow
def test_a_wavefront_goes_to_a_bank_once_while_another_is_full() -> None:
    bench = Bench(4, 1, banks=2, wavefronts=0)
    bench.mask = 15
    bench.outputs[:2] = [
        Layout(width=32, height=64, format=DataFormat.FLOAT32_1, tiling=Tiling.LINEAR).at(0x100_0000 * number)
        for number in (1, 2)
    ]
    # A row has two lines, of which these write the second.
    full = {"i": 16, "words": [[1] * 4] * 4, "mask": [1, 0, 0, 0], "target": 1}
    past = {"wave": 0, "acquires": 0, "x": [0] * 4, "y": [0] * 4, "values": [7] * 4, "mask": 1}
    shapes = [source._port.payload.shape() for source in bench.sources]
    rows = range(0, 64, 2)
    bench.sources[0].waiting = [shapes[0].const({**full, "j": row}).as_bits() for row in rows]
    # Alternating, so that one of these is after the wavefront that waits.
    bench.sources[1].waiting = [shapes[1].const(past).as_bits()] * len(rows)
    banks = bench.sinks[:2]

    async def testbench(context: Any) -> None:
        bench.set_up(context)
        for sink in banks:
            sink.stall = 1
        for _ in range(30):
            await bench.clock(context)
        assert bench.sources[0].waiting, "the bank is full"
        for sink in banks:
            sink.stall = 0
        for _ in range(DEADLINE):
            await bench.clock(context)
            if not any(source.waiting for source in bench.sources) and context.get(bench.design.idle):
                break
        assert len(bench.past.received) == len(rows)
        assert all(len(sink.received) == len({*sink.received}) for sink in banks)

    simulate(bench.design, testbench)
