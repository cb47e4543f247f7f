"""The rows of a shape's record, made word by word."""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.draws import RECORD_ROWS, record_write_layout
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.lib.views import record

FILL = data.StructLayout({"valid": 1, "index": range(CHANNELS), "word": WORD_BITS})
ROW = data.StructLayout({"valid": 1, "payload": range(RECORD_ROWS)})


class RecordRows(wiring.Component):
    """Collects the words of a row and writes it.

    Words that were not given are 0. Nothing is given in the cycle in which a row is written.

    Members
    -------
    clear : ``In(1)``
        Begin a row, as after each row that is written.
    fill : ``In(FILL)``
    row : ``In(ROW)``
        Write what was given until the cycle before as this row.
    record : ``In(range(records))``
    write : ``Out({valid, payload})``
        As that of `RecordClient`.
    """

    def __init__(self, records: int) -> None:
        write = data.StructLayout({"valid": 1, "payload": record_write_layout(records)})
        super().__init__(
            {"clear": In(1), "fill": In(FILL), "row": In(ROW), "record": In(range(records)), "write": Out(write)}
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        words = record(WORDS)
        with m.If(self.clear | self.row.valid):
            m.d.sync += words.eq(0)
        with m.Elif(self.fill.valid):
            m.d.sync += words[self.fill.index].eq(self.fill.word)
        m.d.comb += [
            self.write.valid.eq(self.row.valid),
            self.write.payload.record.eq(self.record),
            self.write.payload.row.eq(self.row.payload),
            self.write.payload.words.eq(words),
        ]
        return m
