"""Registers as instructions name them."""

from typing import Any

import numpy as np
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import REGISTER_BITS, TEMPORARIES
from ctm.rtl.isa.r5xx.limits import LOOP_INDEX_BITS
from ctm.rtl.r5xx.addressing import register_number
from ctm.sim.compiled import CompiledUnit


class Number(wiring.Component):
    """The number as a unit."""

    address: In(REGISTER_BITS)
    relative: In(1)
    loop_index: In(LOOP_INDEX_BITS)
    number: Out(REGISTER_BITS)

    latency = 0

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.d.comb += self.number.eq(register_number(m, self.address, self.relative, self.loop_index))
        return m


def test_relative_addresses_wrap_inside_the_file():
    unit = CompiledUnit(Number())
    index, address = (axis.ravel() for axis in np.meshgrid(np.arange(1 << LOOP_INDEX_BITS), np.arange(TEMPORARIES)))
    for relative in (0, 1):
        result = unit(address=address, relative=relative, loop_index=index)
        assert (result["number"] == (address + relative * index) % TEMPORARIES).all()
