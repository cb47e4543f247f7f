"""Table against a list: several writers and readers, reads before the cycle's writes."""

from typing import Any

import numpy as np
import pytest
from amaranth import Module, Signal
from amaranth.lib import data

from ctm.rtl.lib.ram import DistributedRam
from ctm.tb.lib.streams import simulate

CYCLES = 200
ROW = data.StructLayout({"low": 5, "high": 7})


@pytest.mark.parametrize(("depth", "writers", "readers"), [(2, 1, 1), (8, 1, 3), (16, 3, 2), (5, 2, 2)])
def test_reads_give_what_earlier_cycles_wrote(depth, writers, readers):
    generator = np.random.default_rng(depth)
    m = Module()
    m.submodules.table = table = DistributedRam(ROW, depth)
    write_ports = [(Signal(range(depth)), Signal(ROW), Signal()) for _ in range(writers)]
    read_rows = [Signal(range(depth)) for _ in range(readers)]
    found = [table.read(m, row) for row in read_rows]
    for row, contents, enable in write_ports:
        table.write(m, row, contents, enable)
    model = [{"low": 0, "high": 0} for _ in range(depth)]

    async def testbench(context: Any) -> None:
        for _ in range(CYCLES):
            rows = generator.permutation(depth)[:writers].tolist()
            changes = {}
            for (row, contents, enable), number in zip(write_ports, rows, strict=True):
                words = {"low": int(generator.integers(1 << 5)), "high": int(generator.integers(1 << 7))}
                enabled = bool(generator.integers(2))
                context.set(row, number)
                context.set(contents, words)
                context.set(enable, enabled)
                if enabled:
                    changes[number] = words
            for row, view in zip(read_rows, found, strict=True):
                number = int(generator.integers(depth))
                context.set(row, number)
                assert {name: context.get(view[name]) for name in ("low", "high")} == model[number]
            await context.tick()
            for number, words in changes.items():
                model[number] = words

    simulate(m, testbench)
