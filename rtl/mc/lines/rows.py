"""Memories of lines that come in parts."""

from amaranth import Cat, Module, Value
from amaranth.lib import data

from ctm.rtl.border.lines import LINE_BITS, LINE_RESPONSE
from ctm.rtl.lib.table import Rows


class LineRows(Rows):
    """Rows of lines, of which a part is written at a time. Whether a line was refused is said with its last part."""

    def __init__(self, depth: int, part_bits: int = LINE_BITS) -> None:
        part = data.StructLayout({"bits": part_bits, "refused": 1})
        super().__init__(data.ArrayLayout(part, LINE_BITS // part_bits), depth)

    def fill(self, m: Module, row: Value, response: data.View, valid: Value) -> Value:
        """Write what comes, at the end of a cycle with `valid`; whether the line is whole then."""
        port = self.write_port(granularity=1)
        m.d.comb += [port.addr.eq(row), port.en.eq(Value.cast(valid) << response.part)]
        for part in port.data:
            m.d.comb += [part.bits.eq(response.bits), part.refused.eq(response.refused)]
        is_whole: Value = valid & (response.part == len(port.en) - 1)
        return is_whole

    def line(self, row: data.View) -> data.View:
        """A row that was read, as a `LINE_RESPONSE`."""
        parts = list(row)
        return LINE_RESPONSE(Cat(*(part.bits for part in parts), parts[-1].refused))
