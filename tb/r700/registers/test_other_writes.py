"""OtherWrites: clears, first registers and fetched words reach the file in free cycles, each once and in its order."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.registers.other_writes import OtherWrites
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import STALLS, Source, simulate

ROWS, REGISTERS, CLEARS = 48, 40, fewer(30)
CONFIG = ArrayConfig(instruction_set="r700", wavefront=16, rate=2, temporaries=2048)


class Bench:
    """The component between three sources and a model of the register file, which the ALU often keeps busy.

    Each source has rows of its own, so only the order of its own writes matters.
    """

    def __init__(self, seed: int, stall: float) -> None:
        self.unit: Any = OtherWrites(CONFIG)
        self.draw, self.stall = np.random.default_rng(seed), stall
        self.passes, self.lanes = Partition.of(CONFIG).slice_passes, CONFIG.at_once
        self.clears = Source(self.unit.clear, self.draw, stall)
        self.r0 = Source(self.unit.r0, self.draw, stall)
        self.fetched = Source(self.unit.fetched, self.draw, stall)
        pixels = self.passes * self.lanes
        self.registers = self.draw.integers(1, 1 << 32, (ROWS, CHANNELS, pixels), np.uint64)
        self.expected = self.registers.copy()
        self.invalidated: list[tuple[int, int]] = []
        for source, rows in ((self.r0, range(16)), (self.fetched, range(16, 32))):
            for _ in range(REGISTERS):
                self._offer_register(source, int(self.draw.choice(rows)))
        layout = self.unit.clear.payload.shape()
        for _ in range(CLEARS):
            row, invalidates = int(self.draw.integers(32, ROWS)), int(self.draw.integers(1, 1 << 32))
            self.clears.waiting.append(layout.const({"row": row, "invalidates": invalidates}).as_bits())
            self.invalidated.append((row, invalidates))
            self.expected[row] = 0

    def _offer_register(self, source: Source, row: int) -> None:
        """All passes of a register, of which the last one says so."""
        layout = self.unit.r0.payload.shape()
        for number in range(self.passes):
            words = self.draw.integers(0, 1 << 32, (self.lanes, CHANNELS))
            target = {
                "row": row, "exists": 1, "number": number, "followed": number != self.passes - 1,
                "selects": list(range(CHANNELS)), "enable": (1 << self.lanes) - 1,
            }  # fmt: skip
            source.waiting.append(layout.const({"target": target, "words": words.tolist()}).as_bits())
            first = number * self.lanes
            self.expected[row, :, first : first + self.lanes] = words.T

    async def run(self, context: Any) -> None:
        """Until all that was offered is written."""
        unit, was_free, sources = self.unit, False, (self.clears, self.r0, self.fetched)
        found: list[tuple[int, int]] = []
        for _ in range(5000):
            for source in sources:
                source.drive(context)
            is_free = bool(self.draw.random() >= self.stall)
            context.set(unit.free, is_free)
            # What is no longer in flight has been written before this cycle.
            if not any(source.waiting for source in sources) and not context.get(unit.in_flight):
                break
            self._write(context, found, was_free=was_free)
            assert not (context.get(unit.fetched.ready) and self.r0.offered), "a new wavefront goes first"
            for source in sources:
                source.finish(context)
            was_free = is_free
            await context.tick()
        assert not any(source.waiting for source in sources), "nothing goes on"
        assert (self.registers == self.expected).all()
        assert found == self.invalidated

    def _write(self, context: Any, found: list[tuple[int, int]], *, was_free: bool) -> None:
        """The file's write in this cycle."""
        invalidates = context.get(self.unit.invalidates)
        for channel in range(CHANNELS):
            write = self.unit.writes[channel]
            row, enable, words = (context.get(Value.cast(each)) for each in (write.row, write.enable, write.words))
            assert was_free or not (enable or words or invalidates), "the ALU writes in this cycle"
            for pixel in range(self.registers.shape[2]):
                word = words >> 32 * pixel & 0xFFFFFFFF
                assert enable >> pixel & 1 or not word, "words of other pixels are 0"
                if enable >> pixel & 1:
                    self.registers[row, channel, pixel] = word
        if invalidates:
            found.append((context.get(self.unit.writes[0].row), invalidates))


def compare() -> None:
    """What the ordinary suite compares."""
    for seed, stall in enumerate(STALLS):
        bench = Bench(seed, stall)
        simulate(bench.unit, bench.run)


@pytest.mark.slow
def test_every_write_reaches_the_file_once() -> None:
    compare()
