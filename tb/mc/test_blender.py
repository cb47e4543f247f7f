"""The blender: what it passes on, and its sums, against the golden model's elements and additions."""

from collections import deque
from typing import Any

import numpy as np
import pytest
from amaranth.lib import data

from ctm.rtl.border.lines import LINE_BYTES
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.mc.outputs.blender import Blender
from ctm.sim.golden import fp
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import read
from ctm.sim.memory import Memory
from ctm.sim.runtime import Layout
from ctm.tb.lib.random_values import random_floats
from ctm.tb.lib.seeds import seeds
from ctm.tb.lib.streams import STALLS, Sink, Source, simulate
from ctm.tb.mc.buffers import buffer_bits

LANES, OUTPUTS, CHANNELS, WIDTH, HEIGHT = 4, 8, 4, 21, 14
FORMATS = (DataFormat.FLOAT32_1, DataFormat.FLOAT32_2, DataFormat.FLOAT32_4)
PASSENGER = data.StructLayout({"acquires": 1, "wave": 4, "blends": 1})
_DEADLINE = 6000


class Bench:
    """Outputs of wavefronts to targets of all formats, with a memory that responds after many cycles."""

    def __init__(self, unit: Any, seed: int, *, adds: bool) -> None:
        self.unit, self.adds, self.draw = unit, adds, np.random.default_rng(seed)
        self.stall, self.mask = STALLS[seed % len(STALLS)], int(self.draw.choice([15, 15, 5]))
        self.buffers = [self._buffer(number) for number in range(OUTPUTS)]
        self.memory = Memory()
        for buffer in self.buffers:
            size = Layout(width=WIDTH, height=HEIGHT, format=buffer.format, tiling=buffer.tiling).size
            self.memory.write(buffer.base, random_floats(self.draw, size // 4).tobytes())
        self.outputs = [self._output() for _ in range(40)]
        self.lines: deque[tuple[int, int]] = deque()
        self.cycles = self.taken = 0

    def _buffer(self, number: int) -> Buffer:
        form, tiling = FORMATS[number % 3], (Tiling.LINEAR, Tiling.TILED)[int(self.draw.integers(2))]
        return Layout(width=WIDTH, height=HEIGHT, format=form, tiling=tiling).at(0x10_0000 * (number + 1))

    def _output(self) -> dict[str, Any]:
        draw = self.draw
        return {
            "i": int(draw.choice([0, 2, 8, 18, 20, 22])), "j": int(draw.choice([0, 4, 12, 14])),
            "target": int(draw.integers(OUTPUTS)),
            "words": random_floats(draw, (LANES, CHANNELS)).view(np.uint32).tolist(),
            "mask": [int(mask) for mask in draw.choice([0, 15, 15, 6], LANES)],
        }  # fmt: skip

    async def run(self, context: Any) -> None:
        """Give all outputs, and take what becomes of them."""
        unit, draw = self.unit, self.draw
        context.set(unit.adds, int(self.adds))
        context.set(unit.output_mask, self.mask)
        shape = unit.outputs[0].shape()
        context.set(unit.outputs, [shape.from_bits(buffer_bits(buffer)) for buffer in self.buffers])
        source, sink = (
            Source(unit.output, draw, self.stall),
            Sink(unit.sums if self.adds else unit.passed, draw, self.stall),
        )
        payload = unit.output.payload.shape()
        source.waiting = [payload.const(output).as_bits() for output in self.outputs]
        flushes = 0
        while len(sink.received) < len(self.outputs):
            context.set(unit.flushed, int(bool(context.get(unit.flush)) and draw.random() < 0.2))
            flushes += context.get(unit.flush) and context.get(unit.flushed)
            self._memory(context)
            for end in (source, sink):
                end.drive(context)
            self.taken += context.get(unit.taken)
            for end in (source, sink):
                end.finish(context)
            await context.tick()
            self.cycles += 1
            assert self.cycles < _DEADLINE
        assert (flushes, self.taken) == ((1, len(self.outputs)) if self.adds else (0, 0))
        context.set(sink.port.ready, 0)
        self._compare([sink.port.payload.shape().from_bits(bits) for bits in sink.received])

    def _memory(self, context: Any) -> None:
        """A cycle of the memory that has the targets."""
        lines = self.unit.lines
        context.set(lines.request.ready, int(self.draw.random() >= self.stall))
        offers = bool(self.lines) and self.lines[0][1] <= self.cycles
        context.set(lines.response.valid, int(offers))
        if offers:
            address = self.lines[0][0] * LINE_BYTES
            content = self.memory.bytes[address : address + LINE_BYTES]
            context.set(lines.response.payload, {"bits": int.from_bytes(content, "little"), "error": 0})
            if context.get(lines.response.ready):
                self.lines.popleft()
        if context.get(lines.request.valid) and context.get(lines.request.ready):
            self.lines.append((context.get(lines.request.payload.line), self.cycles + int(self.draw.integers(1, 30))))

    def _compare(self, received: list[Any]) -> None:
        for output, found in zip(self.outputs, received, strict=True):
            if not self.adds:
                assert {name: found[name] for name in ("i", "j", "target")} == {
                    k: output[k] for k in ("i", "j", "target")
                }
                assert [list(lane) for lane in found.words] == output["words"] and list(found.mask) == output["mask"]
                continue
            buffer = self.buffers[output["target"]]
            assert found.buffer.as_bits() == buffer_bits(buffer) and found.passenger.acquires and found.passenger.blends
            for lane in range(LANES):
                x, y = output["i"] + (lane & 1), output["j"] + (lane >> 1)
                assert (found.x[lane], found.y[lane]) == (x, y) and found.mask[lane] == output["mask"][lane] & self.mask
                if x >= WIDTH or y >= HEIGHT or not found.mask[lane]:
                    continue
                element = read(self.memory, buffer, np.array([x]), np.array([y]))[:, 0]
                words = np.array(output["words"][lane], np.uint32).view(np.float32)
                wanted = fp.add(element, words).view(np.uint32)[: buffer.element.channels]
                assert list(found.words[lane])[: buffer.element.channels] == wanted.tolist()


@pytest.fixture(scope="module")
def unit() -> Any:
    return Blender(LANES, OUTPUTS, PASSENGER, memory=False)


@pytest.mark.parametrize("seed", seeds(6, 60))
def test_sums_are_those_of_the_golden_model(unit: Any, seed: int) -> None:
    simulate(unit, Bench(unit, seed, adds=True).run)


@pytest.mark.parametrize("seed", range(3))
def test_outputs_that_are_not_added_pass(unit: Any, seed: int) -> None:
    simulate(unit, Bench(unit, seed, adds=False).run)


@pytest.mark.slow
def test_the_output_cache_is_emptied_again_after_other_outputs(unit: Any) -> None:
    async def run(context: Any) -> None:
        for seed, adds in enumerate((True, False, True)):
            await Bench(unit, seed, adds=adds).run(context)

    simulate(unit, run)
