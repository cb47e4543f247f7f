"""Registers as R5xx instructions name them.

Source: CTM Guide pp. 26, 38.
"""

from amaranth import Module, Mux, Signal, Value

from ctm.rtl.isa.limits import REGISTER_BITS
from ctm.rtl.isa.r5xx.limits import LOOP_INDEX_BITS


def register_number(m: Module, address: Value, relative: Value, loop_index: Value) -> Signal:
    """The register that an instruction names; with `relative` aL is added, modulo the register file's size."""
    number = Signal(REGISTER_BITS, name="register")
    m.d.comb += number.eq(address + Mux(relative, loop_index[:LOOP_INDEX_BITS], 0))
    return number
