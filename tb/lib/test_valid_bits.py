"""ValidBits against a set of rows."""

from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.lib.valid_bits import ROWS_TOGETHER, ValidBits

READERS = 3
CYCLES = 500


@pytest.mark.parametrize("rows", [32, 64, 512])
def test_rows_are_written_until_they_are_forgotten(rows):
    generator = np.random.default_rng(rows)
    unit, written = ValidBits(rows, READERS), set()
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
