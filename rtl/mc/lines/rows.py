"""Rows of memories for lines that come in parts."""

from amaranth import Cat, Module, Value
from amaranth.lib import data
from amaranth.lib.memory import Memory

from ctm.rtl.border.lines import LINE_BITS, LINE_RESPONSE


def row_of_parts(slice_bits: int) -> data.ArrayLayout:
    """A row for a line of which a part is written at a time. Whether it was refused is said with the last part."""
    return data.ArrayLayout(data.StructLayout({"bits": slice_bits, "error": 1}), LINE_BITS // slice_bits)


def is_last_part(response: data.View) -> Value:
    """Whether a line is whole with what comes."""
    is_last: Value = response.part == LINE_BITS // len(response.bits) - 1
    return is_last


def write_part(m: Module, memory: Memory, row: Value, response: data.View, valid: Value) -> Value:
    """Write what comes into a row at the end of a cycle with `valid`; whether the line is whole then."""
    port = memory.write_port(granularity=1)
    m.d.comb += [port.addr.eq(row), port.en.eq(Value.cast(valid) << response.part)]
    for part in port.data:
        m.d.comb += [part.bits.eq(response.bits), part.error.eq(response.error)]
    return valid & is_last_part(response)


def line_of(row: data.View) -> data.View:
    """A row that was read, as a `LINE_RESPONSE`."""
    parts = list(row)
    return LINE_RESPONSE(Cat(*(part.bits for part in parts), parts[-1].error))
