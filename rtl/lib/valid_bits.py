"""Valid bits of a memory's rows; a row without one reads 0."""

from amaranth import Module
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
