"""ValidBits and SlicedValidBits against sets of rows."""

from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.lib.valid_bits import ROWS_TOGETHER, SlicedValidBits, ValidBits
from ctm.tb.lib.planting import Fault, planted
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

READERS = 3
CYCLES = fewer(500)


@pytest.mark.parametrize("rows", [32, 64, 512])
def test_rows_are_valid_until_they_are_cleared(rows):
    generator = np.random.default_rng(rows)
    unit = ValidBits(rows, READERS)
    written: set[int] = set()
    seen = {"fresh": 0, "known": 0}

    async def testbench(context: Any) -> None:
        for _ in range(CYCLES):
            row, writes = int(generator.integers(rows)), bool(generator.random() < 0.7)
            size = 1 << int(generator.integers(6))
            first = row % ROWS_TOGETHER // size * size
            invalidates = ((1 << size) - 1) << first if generator.random() < 0.3 else 0
            reads = generator.integers(rows, size=READERS).tolist()
            expected = [read in written for read in reads]
            context.set(unit.row, row)
            context.set(unit.write, writes)
            context.set(unit.invalidates, invalidates)
            context.set(unit.reads, reads)
            assert bool(context.get(unit.is_fresh)) == (row not in written)
            seen["known" if row in written else "fresh"] += writes
            if writes:
                block = row // ROWS_TOGETHER * ROWS_TOGETHER
                written.difference_update(block + index for index in range(ROWS_TOGETHER) if invalidates >> index & 1)
                written.add(row)
            await context.tick()
            assert [bool(context.get(unit.written) >> reader & 1) for reader in range(READERS)] == expected

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    simulator.run()
    assert min(seen.values()) > 10


class Rows:
    """Slices that have been written, and what is being written slice by slice."""

    def __init__(self, generator: np.random.Generator, rows: int, slices: int) -> None:
        self._generator, self._rows, self._slices = generator, rows, slices
        self.written: set[tuple[int, int]] = set()
        self.started: list[tuple[int, int, list[int]]] = []
        """Row, the mask of rows that it invalidates, and slices that are to come."""

    def busy(self) -> set[int]:
        """Rows of which it is not said whether they are valid."""
        return {row for row, mask, _ in self.started if mask} | {
            row // ROWS_TOGETHER * ROWS_TOGETHER + index
            for row, mask, _ in self.started
            for index in range(ROWS_TOGETHER)
            if mask >> index & 1
        }

    def start(self) -> None:
        """Another row is to be written; rows that become invalid are not."""
        row, mask = int(self._generator.integers(self._rows)), 0
        if self._generator.random() < 0.3:
            size = 1 << int(self._generator.integers(6))
            mask = ((1 << size) - 1) << row % ROWS_TOGETHER // size * size
        busy, others = self.busy(), [row for row, _, _ in self.started]
        block = row // ROWS_TOGETHER * ROWS_TOGETHER
        own = {row} | {block + index for index in range(ROWS_TOGETHER) if mask >> index & 1}
        if not own & busy and not own.intersection(others):
            self.started.append((row, mask, list(range(self._slices))))

    def step(self) -> tuple[int, int, int]:
        """Write a slice of one of the rows: the row, the slice, and the mask."""
        index = int(self._generator.integers(len(self.started)))
        row, mask, slices = self.started[index]
        number = slices.pop(0)
        if not mask:
            self.written.add((row, number))
        if not slices:
            if mask:
                gone = self.busy() & self._of(row, mask)
                self.written = {each for each in self.written if each[0] not in gone}
                self.written |= {(row, each) for each in range(self._slices)}
            self.started.pop(index)
        return row, number, mask

    def _of(self, row: int, mask: int) -> set[int]:
        block = row // ROWS_TOGETHER * ROWS_TOGETHER
        return {block + index for index in range(ROWS_TOGETHER) if mask >> index & 1}

    def is_valid(self, row: int) -> bool:
        """Whether all slices have been written."""
        return all((row, number) in self.written for number in range(self._slices))


def check_slices(make: type[SlicedValidBits], rows: int, slices: int) -> None:
    """Rows are written slice by slice, up to three at a time.

    Raises
    ------
    AssertionError
        A row is valid and should not be, or is not and should be.
    """
    generator = np.random.default_rng(rows + slices)
    unit, model = make(rows, slices, READERS), Rows(generator, rows, slices)
    seen = {"fresh": 0, "known": 0, "valid": 0, "invalid": 0}

    async def testbench(context: Any) -> None:
        for _ in range(4 * CYCLES):
            reads = generator.integers(rows, size=READERS).tolist()
            expected = [None if read in model.busy() else model.is_valid(read) for read in reads]
            context.set(unit.reads, reads)
            if len(model.started) < 3:
                model.start()
            writes = bool(model.started and generator.random() < 0.9)
            before = set(model.written)
            row, number, mask = model.step() if writes else (0, 0, 0)
            context.set(unit.write, writes)
            context.set(unit.row, row)
            context.set(unit.slice, number)
            in_line = ROWS_TOGETHER // slices
            context.set(unit.clears, mask != 0)
            context.set(unit.invalidates, mask >> number * in_line & (1 << in_line) - 1)
            if writes and not mask:
                assert bool(context.get(unit.is_fresh)) == ((row, number) not in before)
                seen["known" if (row, number) in before else "fresh"] += 1
            await context.tick()
            for reader, valid in enumerate(expected):
                if valid is not None:
                    assert bool(context.get(unit.written) >> reader & 1) == valid
                    seen["valid" if valid else "invalid"] += 1

    simulate(unit, testbench)
    assert min(seen.values()) > 10


@pytest.mark.parametrize(("rows", "slices"), [(64, 2), (128, 4), (64, 8), (32, 16), (64, 16)])
def test_rows_are_valid_when_all_their_slices_have_been_written(rows, slices):
    check_slices(SlicedValidBits, rows, slices)


FAULTS = {
    "one slice is enough": (".all() for number", ".any() for number"),
    "rows are not invalidated": ("& kept[number].replicate(slices)", ""),
    "another line is cleared": ("Mux(self.clears, self.slice, own_line)", "own_line"),
    "the row itself becomes invalid": ("Mux(self.slice == own_line, ~0, 0)", "0"),
    "the row is set in each line": ("Mux(self.slice == own_line, ~0, 0)", "~0"),
    "one slice of the row itself is valid": ("Mux(self.slice == own_line, ~0, 0)", "1 << self.slice"),
    "each slice is fresh": ("Cat(self.slice, index), 1", "Cat(~self.slice, index), 1"),
    "another row's slice is set": ("1 << index)[:in_line]", "2 << index)[:in_line]"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_of_slices_is_found(name):
    with planted(Fault("rtl.lib.valid_bits", *FAULTS[name]), "ctm.rtl.lib.valid_bits") as module:
        with pytest.raises(AssertionError):
            check_slices(module.SlicedValidBits, 64, 4)
