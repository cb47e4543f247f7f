"""WriteAssembler: what is written pass by pass is in the registers, in few writes, before anybody may rely on it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.registers.write_assembler import WriteAssembler
from ctm.tb.lib.streams import STALLS, Source, simulate

ROWS, INSTRUCTIONS = 16, 80
ONE = 0x3F800000


@dataclass
class Pass:
    """One pass of an instruction; with an error response it is not written."""

    row: int
    exists: bool
    number: int
    followed: bool
    selects: list[int]
    enable: int
    words: np.ndarray
    error: bool

    def apply(self, registers: np.ndarray) -> None:
        """Write it to registers[row][channel][pixel]."""
        lanes = len(self.words)
        for lane in range(lanes):
            for channel, select in enumerate(self.selects):
                if self.exists and self.enable >> lane & 1 and select != ComponentSelect.MASK.value:
                    source = self.words[lane][select] if select < CHANNELS else ONE * (select == 5)
                    registers[self.row][channel][self.number * lanes + lane] = source


class Bench:
    """The component, with passes of several wave slots, whose instructions follow each other.

    What it takes are passes of a slice: of `rate` pixels, up to four of them.
    """

    def __init__(self, wavefront: int, seed: int, stall: float, errors: float, *, rate: int = 0) -> None:
        self.config = ArrayConfig(instruction_set="r700", wavefront=wavefront, rate=rate, temporaries=2048)
        self.lanes, passes = self.config.at_once, min(4, Partition.of(self.config).passes)
        self.unit = WriteAssembler(self.config)
        self.generator = np.random.default_rng(seed)
        self.source, self.stall = Source(self.unit.write, self.generator, stall), stall
        self.registers = np.zeros((ROWS, CHANNELS, self.lanes * passes), np.uint64)
        self.expected = self.registers.copy()
        self.passes, self.errors = passes, errors
        self.offered: list[Pass] = []
        self.in_flight: list[Iterator[Pass]] = [iter(()) for _ in range(4)]
        self.begun = self.writes = self.settled = 0

    def _instruction(self, wave: int) -> Iterator[Pass]:
        draw = self.generator
        numbers = sorted(draw.choice(self.passes, draw.integers(1, self.passes + 1), replace=False).tolist())
        row, exists = wave * ROWS // 4 + int(draw.integers(ROWS // 4)), bool(draw.random() < 0.9)
        selects = [int(draw.choice([0, 1, 2, 3, 4, 5, 7])) for _ in range(CHANNELS)]
        for number in numbers:
            yield Pass(
                row=row, exists=exists, number=number, followed=number != numbers[-1], selects=selects,
                enable=int(draw.integers(1, 1 << self.lanes)),
                words=draw.integers(0, 1 << 32, (self.lanes, CHANNELS)),
                error=bool(draw.random() < self.errors),
            )  # fmt: skip

    def _next(self) -> Pass | None:
        """The next pass of some wave slot, most often of the one before; None if no instruction is left."""
        while True:
            wave = int(self.generator.integers(len(self.in_flight)))
            found = next(self.in_flight[wave], None)
            if found is not None:
                return found
            if self.begun < INSTRUCTIONS:
                self.begun += 1
                self.in_flight[wave] = self._instruction(wave)
            elif (remaining := next((each for waves in self.in_flight for each in waves), None)) is not None:
                return remaining
            else:
                return None

    def _payload(self, each: Pass) -> int:
        layout = self.unit.write.payload.shape()
        target = {
            "row": each.row, "exists": each.exists, "number": each.number, "followed": each.followed,
            "selects": each.selects, "enable": each.enable,
        }  # fmt: skip
        constant = layout.const({"target": target, "words": [[int(word) for word in lane] for lane in each.words]})
        return int(constant.as_bits())

    async def run(self, context: Any) -> None:
        """Offer passes until all are written."""
        unit, current, finished, idle = self.unit, None, False, 0
        while not (finished and idle > 8):
            if current is None and not finished:
                current = self._next()
                finished = current is None
                if current is not None and not current.error:
                    self.source.waiting.append(self._payload(current))
            self.source.drive(context)
            fails = current is not None and current.error
            context.set(unit.error, fails)
            ready = finished or bool(self.generator.random() >= self.stall)
            context.set(unit.file.ready, ready)
            if ready and context.get(unit.file.valid):
                self._write(context)
            taken = len(self.source.taken)
            self.source.finish(context)
            if current is not None and (fails or len(self.source.taken) > taken):
                if not fails:
                    current.apply(self.expected)
                last, current = current, None
            else:
                last = None
            idle += finished
            await context.tick()
            if last is not None and not last.followed and not context.get(unit.in_flight):
                self.settled += 1
                assert (self.registers[last.row] == self.expected[last.row]).all(), "read before it is written"
        assert (self.registers == self.expected).all()

    def _write(self, context: Any) -> None:
        self.writes += 1
        size = self.lanes * self.passes
        for channel in range(CHANNELS):
            write = self.unit.file.payload[channel]
            row, enable, words = (context.get(Value.cast(each)) for each in (write.row, write.enable, write.words))
            for pixel in range(size):
                if enable >> pixel & 1:
                    self.registers[row][channel][pixel] = words >> 32 * pixel & 0xFFFFFFFF


@pytest.mark.parametrize("errors", [0.0, 0.2])
@pytest.mark.parametrize("stall", STALLS)
@pytest.mark.parametrize(("wavefront", "rate"), [(4, 0), (8, 0), (16, 0), (16, 1), (16, 2)])
def test_passes_arrive(wavefront: int, rate: int, stall: float, errors: float) -> None:
    bench = Bench(wavefront, wavefront + rate, stall, errors, rate=rate)
    simulate(bench.unit, bench.run)
    assert bench.settled > INSTRUCTIONS // 4
    assert 0 < bench.writes < len(bench.source.taken) or bench.passes == 1


def test_a_wavefront_in_four_cycles() -> None:
    """The ALU leaves two of four cycles; each wavefront takes one of them."""
    bench = Bench(16, 1, 0.0, 0.0)
    rounds, target = 10, bench.unit.write.payload.target

    async def run(context: Any) -> None:
        writes = 0
        context.set(bench.unit.write.valid, 1)
        context.set(target.exists, 1)
        context.set(target.enable, 0b1111)
        number = row = 0
        for cycle in range(4 * rounds + 4):
            context.set(target.number, number)
            context.set(target.row, row)
            context.set(target.followed, number != 3)
            context.set(bench.unit.file.ready, cycle % 4 < 2)
            writes += context.get(bench.unit.file.valid) and context.get(bench.unit.file.ready)
            if context.get(bench.unit.write.ready):
                number, row = (number + 1) % 4, row + (number == 3)
            await context.tick()
        assert writes == rounds

    simulate(bench.unit, run)
