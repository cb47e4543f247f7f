"""Rows of memories for lines that come in slices."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_BITS, LINE_RESPONSE, is_last_slice, slice_layout
from ctm.rtl.lib.ram import BlockRam


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


def fill_layout(rows: int, slice_bits: int) -> data.StructLayout:
    """A slice of a row's line, if there is one; the last one has the line's error."""
    return data.StructLayout({"valid": 1, "row": range(rows), **slice_layout(slice_bits)})


class LineRows(wiring.Component):
    """The data RAM of a cache: lines that are filled in slices, and read whole or in sectors.

    Members
    -------
    fill : ``In(fill_layout(rows, slice_bits))``
    read : ``In({valid, row, sector})``
        In a cycle in which the row is not filled.
    bits, error : ``Out(sector_bits)``, ``Out(1)``
        What was read last, from the next cycle on.
    """

    def __init__(self, rows: int, slice_bits: int, sector_bits: int) -> None:
        self._rows, self._slice_bits, self._sector_bits = rows, slice_bits, sector_bits
        row, sector = range(rows), range(LINE_BITS // sector_bits)
        super().__init__(
            {
                "fill": In(fill_layout(rows, slice_bits)),
                "read": In(data.StructLayout({"valid": 1, "row": row, "sector": sector})),
                "bits": Out(sector_bits),
                "error": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        if self._sector_bits == LINE_BITS:
            self._keep_lines(m)
        else:
            self._keep_sectors(m)
        return m

    def _keep_lines(self, m: Module) -> None:
        """A row of memory for each line."""
        m.submodules.memory = memory = BlockRam(row_of_slices(self._slice_bits), self._rows)
        reader = memory.read_port()
        line = line_of(reader.data)
        write_slice(m, memory, self.fill.row, self.fill, self.fill.valid)
        m.d.comb += [
            reader.addr.eq(self.read.row),
            reader.en.eq(self.read.valid),
            self.bits.eq(line.bits),
            self.error.eq(line.error),
        ]

    def _keep_sectors(self, m: Module) -> None:
        """A row of memory for each sector; errors are beside it."""
        slices, fill, read = self._sector_bits // self._slice_bits, self.fill, self.read
        m.submodules.memory = memory = BlockRam(self._sector_bits, self._rows * (LINE_BITS // self._sector_bits))
        reader, writer = memory.read_port(), memory.write_port(granularity=self._slice_bits)
        low, errors = (slices - 1).bit_length(), Signal(self._rows)
        m.d.comb += [
            writer.addr.eq(Cat(fill.slice[low:], fill.row)),
            writer.data.eq(fill.bits.replicate(slices)),
            writer.en.eq(Mux(fill.valid, 1 << fill.slice[:low], 0)),
            reader.addr.eq(Cat(read.sector, read.row)),
            reader.en.eq(read.valid),
            self.bits.eq(reader.data),
        ]
        with m.If(fill.valid & is_last_slice(fill)):
            m.d.sync += errors.bit_select(fill.row, 1).eq(fill.error)
        with m.If(read.valid):
            m.d.sync += self.error.eq(errors.bit_select(read.row, 1))
