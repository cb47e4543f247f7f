"""A table of functions: each reader has its own entry in each cycle."""

from typing import Any

import numpy as np
from amaranth.sim import Simulator

from ctm.rtl.fp.function_table import FunctionTable
from ctm.rtl.isa.coefficients import COEFFICIENTS


def test_two_readers_have_their_own_entries():
    table = FunctionTable(readers=2)
    addresses_of_cycles = np.random.default_rng(1).integers(0, len(COEFFICIENTS), (500, 2)).tolist()
    addresses_of_cycles += [[0, len(COEFFICIENTS) - 1], [len(COEFFICIENTS) - 1, 0]]

    async def read(context: Any) -> None:
        for addresses in addresses_of_cycles:
            for reader, address in zip(table.readers, addresses, strict=True):
                context.set(reader.address, address)
            await context.tick()
            for reader, address in zip(table.readers, addresses, strict=True):
                entry = context.get(reader.entry)
                assert (entry.c0, entry.c1, entry.c2) == COEFFICIENTS[address]

    simulator = Simulator(table)
    simulator.add_clock(1e-6)
    simulator.add_testbench(read)
    simulator.run()
