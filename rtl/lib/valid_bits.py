"""Valid bits of a memory's rows; a row without one reads 0."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.ram import DistributedRam

ROWS_TOGETHER = 32
"""Rows that can be invalidated together: a block that starts at a multiple of this."""
INDEX_BITS = (ROWS_TOGETHER - 1).bit_length()
"""Width of a row's index in its block."""


class ValidBits(wiring.Component):
    """A bit for each row, in distributed memory. All are 0 after power-up.

    Members
    -------
    row : ``In(range(rows))``
    write : ``In(1)``
        The row is written in this cycle.
    invalidates : ``In(ROWS_TOGETHER)``
        Rows of its block, lowest first, that become invalid; only with `write`, whose row becomes valid all the same.
    is_fresh : ``Out(1)``
        The row was not valid.
    reads : ``In(ArrayLayout(range(rows), readers))``
    written : ``Out(readers)``
        Whether those rows are valid, a cycle later; writes of the same cycle do not count.
    """

    def __init__(self, rows: int, readers: int) -> None:
        self._rows = rows
        super().__init__(
            {
                "row": In(range(rows)),
                "write": In(1),
                "invalidates": In(ROWS_TOGETHER),
                "is_fresh": Out(1),
                "reads": In(data.ArrayLayout(range(rows), readers)),
                "written": Out(readers),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.blocks = blocks = DistributedRam(ROWS_TOGETHER, self._rows // ROWS_TOGETHER)
        block, position = self.row[INDEX_BITS:], self.row[:INDEX_BITS]
        valid = blocks.read(m, block)
        blocks.write(m, block, (valid & ~self.invalidates) | (1 << position)[:ROWS_TOGETHER], self.write)
        m.d.comb += self.is_fresh.eq(~valid.bit_select(position, 1))
        for reader, bit in enumerate(self.written):
            row = self.reads[reader]
            m.d.comb += bit.eq(delay(m, blocks.read(m, row[INDEX_BITS:]).bit_select(row[:INDEX_BITS], 1)))
        return m


class SlicedValidBits(wiring.Component):
    """The same for rows that are written slice by slice: a row is valid when all of its slices have been written.

    Readers so have one bit for a row, and not one for each slice. All slices are 0 after power-up. `slices` is a power
    of two.

    Members
    -------
    row : ``In(range(rows))``
    slice : ``In(range(slices))``
    write : ``In(1)``
        The slice of the row is written in this cycle.
    clears : ``In(1)``
        All slices of the row are written so, one after the other. After that rows of its block are invalid, and the
        row itself is valid. `is_fresh` may then be anything.
    invalidates : ``In(ROWS_TOGETHER // slices)``
        With `clears` which rows become invalid, lowest first: of the line in the block that has the slice's number.
    is_fresh : ``Out(1)``
        The slice of the row was not valid.
    reads : ``In(ArrayLayout(range(rows), readers))``
    written : ``Out(readers)``
        Whether those rows are valid, a cycle later; writes of the same cycle do not count.
    """

    def __init__(self, rows: int, slices: int, readers: int) -> None:
        self._rows, self._slices = rows, slices
        super().__init__(
            {
                "row": In(range(rows)),
                "slice": In(range(slices)),
                "write": In(1),
                "clears": In(1),
                "invalidates": In(ROWS_TOGETHER // slices),
                "is_fresh": Out(1),
                "reads": In(data.ArrayLayout(range(rows), readers)),
                "written": Out(readers),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        slices, in_line = self._slices, ROWS_TOGETHER // self._slices
        # A line has all slices of some rows; a block has as many lines as a row has slices, one to clear with each.
        m.submodules.lines = lines = DistributedRam(ROWS_TOGETHER, self._rows // in_line)
        m.submodules.whole = whole = DistributedRam(in_line, self._rows // in_line)
        index_bits = (in_line - 1).bit_length()
        index, own_line = self.row[:index_bits], self.row[index_bits:INDEX_BITS]
        line = Cat(Mux(self.clears, self.slice, own_line), self.row[INDEX_BITS:])
        valid, upcoming = lines.read(m, line), Signal(ROWS_TOGETHER)
        is_row = (1 << index)[:in_line]
        sets = Mux(self.clears, Mux(self.slice == own_line, ~0, 0), 1 << self.slice)[:slices]
        kept = ~Mux(self.clears, self.invalidates, 0)
        m.d.comb += [
            upcoming.eq(
                Cat(
                    (valid.word_select(number, slices) & kept[number].replicate(slices))
                    | (sets & is_row[number].replicate(slices))
                    for number in range(in_line)
                )
            ),
            self.is_fresh.eq(~valid.bit_select(Cat(self.slice, index), 1)),
        ]
        lines.write(m, line, upcoming, self.write)
        whole.write(m, line, Cat(upcoming.word_select(number, slices).all() for number in range(in_line)), self.write)
        for reader, bit in enumerate(self.written):
            row = self.reads[reader]
            m.d.comb += bit.eq(delay(m, whole.read(m, row[index_bits:]).bit_select(row[:index_bits], 1)))
        return m
