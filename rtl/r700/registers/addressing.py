"""Addresses of a wavefront's registers in the file.

Source: R700-Family Instruction Set Architecture, section 2.7 (clause temporaries); docs/design/r700-core.md.
"""

from amaranth import Module, Mux, Signal, Value, signed
from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import REGISTER_BITS
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY
from ctm.rtl.lib.views import record
from ctm.rtl.r700.border.registers import register_address_layout, row_bits, rows_of
from ctm.rtl.r700.partition import Partition


def register_address(
    m: Module, config: ArrayConfig, number: Value, offset: Value, relative: Value, *, gprs: Value, base: Value
) -> data.View:
    """The address of a register, with `relative` of the one `offset` (signed) further.

    Clause temporaries have the rows after the `gprs` others; an offset cannot reach them.
    """
    layout = register_address_layout(config)
    found: data.View = record(layout, name="register_address")
    moved = Signal(signed(REGISTER_BITS + 4), name="moved")
    # A burst may count beyond the last register.
    is_temporary = ~relative & (number >> 2 == FIRST_CLAUSE_TEMPORARY >> 2)
    temporary = number[:2] + gprs
    m.d.comb += [
        moved.eq(number + Mux(relative, offset, 0)),
        found.exists.eq(is_temporary | ((moved >= 0) & (moved < gprs))),
        found.row.eq((base + Mux(is_temporary, temporary, moved.as_unsigned()))[: row_bits(config)]),
    ]
    return found


def slice_base(
    m: Module, partition: Partition, first: Value, number: Value, ends: Value, *, gprs: Value, name: str
) -> Value:
    """The row of register 0 of a slice, `first` that of slice 0; a cycle with `ends` advances to the next slice."""
    if partition.slices == 1:
        return first
    base, upcoming = Signal.like(first, name=f"{name}_base"), Signal.like(first, name=f"{name}_base_next")
    m.d.comb += base.eq(Mux(number == 0, first, upcoming))
    with m.If(ends):
        m.d.sync += upcoming.eq(base + rows_of(gprs))
    return base


assert FIRST_CLAUSE_TEMPORARY % 4 == 0
