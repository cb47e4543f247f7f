"""RegisterFile and its addresses: a register has its last write, and 0 in channels that were not written."""

from typing import Any

import numpy as np
import pytest
from amaranth import Module, Signal, signed
from amaranth.sim import Simulator

from ctm.rtl.config import ArrayConfig
from ctm.rtl.r700.border.registers import depth_of
from ctm.rtl.r700.registers.addressing import register_address
from ctm.rtl.r700.registers.file import RegisterFile
from ctm.tb.lib.machines import r700_array
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

CHANNELS, BLOCK = 4, 32
CYCLES = fewer(300)
MACHINES = [{"wavefront": 4}, {"wavefront": 16, "rate": 1}]


class Bench:
    """The file, and what its registers hold: [row][channel][pixel]."""

    def __init__(self, seed: int, **settings: int) -> None:
        self.config = r700_array(temporaries=512, **settings)
        self.unit: Any = RegisterFile(self.config)
        self.size = 4
        self.rows, self.draw = depth_of(self.config), np.random.default_rng(seed)
        self.contents = np.zeros((self.rows, CHANNELS, self.size), np.uint64)
        self.invalidated = self.compared = 0

    def _row(self) -> int:
        """Of two blocks, so that rows meet."""
        return int(self.draw.integers(BLOCK)) + int(self.draw.choice([0, self.rows - BLOCK]))

    async def run(self, context: Any, cycles: int) -> None:
        """Read and write."""
        unit, draw = self.unit, self.draw
        for _ in range(cycles):
            reads = [{"row": self._row(), "exists": int(draw.random() < 0.9)} for _ in range(CHANNELS)]
            invalidates = int(draw.integers(1 << BLOCK)) if draw.random() < 0.05 else 0
            rows = [self._row()] * CHANNELS if invalidates else [self._row() for _ in range(CHANNELS)]
            words = draw.integers(0, 1 << 32, (CHANNELS, self.size))
            enables = [
                (1 << self.size) - 1 if invalidates else int(draw.integers(1 << self.size)) for _ in range(CHANNELS)
            ]
            context.set(unit.reads, reads)
            context.set(unit.invalidates, invalidates)
            context.set(
                unit.writes,
                [
                    {
                        "row": row,
                        "words": [int(word) * (enable >> pixel & 1) for pixel, word in enumerate(own)],
                        "enable": enable,
                    }
                    for row, own, enable in zip(rows, words, enables, strict=True)
                ],
            )
            expected = [
                self.contents[read["row"]][channel].copy() * read["exists"] for channel, read in enumerate(reads)
            ]
            if invalidates:
                self._invalidate(rows[0], invalidates)
            for channel, (row, enable) in enumerate(zip(rows, enables, strict=True)):
                for pixel in range(self.size):
                    if enable >> pixel & 1:
                        self.contents[row][channel][pixel] = words[channel][pixel]
            await context.tick()
            # What is read next makes no difference.
            context.set(unit.reads, [{"row": 0, "exists": 0}] * CHANNELS)
            for channel, read in enumerate(reads):
                if read["row"] == rows[channel] and read["exists"] and enables[channel]:
                    continue
                if invalidates and read["row"] // BLOCK == rows[0] // BLOCK:
                    continue
                valid = context.get(unit.words_valid) >> channel & 1
                found = [context.get(unit.words[channel][pixel]) * valid for pixel in range(self.size)]
                assert found == expected[channel].tolist(), f"row {read['row']}, channel {channel}"
                self.compared += any(found)

    def _invalidate(self, row: int, rows: int) -> None:
        first = row // BLOCK * BLOCK
        for address_ in range(BLOCK):
            if rows >> address_ & 1:
                self.contents[first + address_] = 0
                self.invalidated += 1


def check(seed: int, cycles: int, **settings: int) -> None:
    """A file of a machine."""
    bench = Bench(seed, **settings)
    simulate(bench.unit, lambda context: bench.run(context, cycles))
    assert bench.invalidated and bench.compared > cycles // 2


def check_registers(seed: int, count: int) -> None:
    """Registers of programs of all sizes, relative ones too."""
    config = ArrayConfig(instruction_set="r700", wavefront=16, temporaries=2048)
    m, draw = Module(), np.random.default_rng(seed)
    number, offset, relative = Signal(8), Signal(signed(10)), Signal()
    gprs, base = Signal(8), Signal(range(depth_of(config)))
    found = register_address(m, config, number, offset, relative, gprs=gprs, base=base)

    async def run(context: Any) -> None:
        for _ in range(count):
            size, first = int(draw.integers(1, 125)), int(draw.integers(depth_of(config) - 128))
            wanted = int(draw.choice([size - 1, size, 123, 124, 127, 128, int(draw.integers(143))]))
            distance = int(draw.choice([0, -wanted, -wanted - 1, size - 1 - wanted, size - wanted, 255, -256, 511]))
            is_relative = bool(draw.random() < 0.5)
            for signal, value in ((number, wanted), (offset, distance), (relative, is_relative)):
                context.set(signal, value)
            context.set(gprs, size)
            context.set(base, first)
            at = wanted + distance * is_relative
            row = first + at if 0 <= at < size else None
            if 124 <= wanted < 128 and not is_relative:
                row = first + size + wanted - 124
            exists = bool(context.get(found.exists))
            assert exists == (row is not None), (wanted, distance, is_relative, size)
            assert row is None or context.get(found.row) == row, (wanted, distance, is_relative, size)

    simulator = Simulator(m)
    simulator.add_testbench(run)
    simulator.run()


def compare() -> None:
    """What the ordinary suite compares."""
    for seed, machine in enumerate(MACHINES):
        check(seed, CYCLES, **machine)
    check_registers(1, 1000)


def test_registers_hold_what_was_written() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_more_cycles(seed: int) -> None:
    check(seed, 20_000, **MACHINES[seed % 2])
    check_registers(seed, 50_000)
