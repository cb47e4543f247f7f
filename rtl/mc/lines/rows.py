"""Rows of memories for lines that come in slices."""

from amaranth import Cat, Module, Value
from amaranth.lib import data
from amaranth.lib.memory import Memory

from ctm.rtl.border.lines import LINE_BITS, LINE_RESPONSE, is_last_slice


def row_of_slices(slice_bits: int) -> data.ArrayLayout:
    """A row for a line of which a slice is written at a time. The last slice has the line's error."""
    return data.ArrayLayout(data.StructLayout({"bits": slice_bits, "error": 1}), LINE_BITS // slice_bits)


def write_slice(m: Module, memory: Memory, row: Value, response: data.View, valid: Value) -> Value:
    """Write a slice into a row at the end of a cycle with `valid`. Returns whether the line is complete then."""
    port = memory.write_port(granularity=1)
    m.d.comb += [port.addr.eq(row), port.en.eq(Value.cast(valid) << response.slice)]
    for each in port.data:
        m.d.comb += [each.bits.eq(response.bits), each.error.eq(response.error)]
    return valid & is_last_slice(response)


def line_of(row: data.View) -> data.View:
    """A row that was read, as a `LINE_RESPONSE`."""
    slices = list(row)
    return LINE_RESPONSE(Cat(*(each.bits for each in slices), slices[-1].error))
