"""The rows of a shape's record, made word by word."""

from amaranth import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.draws import RECORD_ROWS, record_write_layout
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.lib.views import record

FILL = data.StructLayout({"valid": 1, "index": range(CHANNELS), "word": WORD_BITS})
ROW = data.StructLayout({"valid": 1, "payload": range(RECORD_ROWS)})


class RecordRows(wiring.Component):
    """Takes a record, collects the words of its rows and writes these.

    Words that were not given are 0. Nothing is given in the cycle in which a row is written.

    Members
    -------
    free : ``In(stream.Signature(range(records)))``
        The next record; taken in the cycle after the one in which the last one ends, or later.
    has_record : ``Out(1)``
    record : ``Out(range(records))``
        Both registered.
    end : ``In(1)``
        With the record's last row.
    clear : ``In(1)``
        Begin a row, as after each row that is written.
    fill : ``In(FILL)``
    row : ``In(ROW)``
        Write what was given until the cycle before as this row.
    write : ``Out({valid, payload})``
        As that of `RecordClient`.
    """

    def __init__(self, records: int) -> None:
        write = data.StructLayout({"valid": 1, "payload": record_write_layout(records)})
        super().__init__(
            {
                "free": In(stream.Signature(range(records))),
                "has_record": Out(1),
                "record": Out(range(records)),
                "end": In(1),
                "clear": In(1),
                "fill": In(FILL),
                "row": In(ROW),
                "write": Out(write),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        words = record(WORDS)
        m.d.comb += self.free.ready.eq(~self.has_record)
        with m.If(self.free.ready):
            m.d.sync += [self.has_record.eq(self.free.valid), self.record.eq(self.free.payload)]
        with m.Elif(self.end):
            m.d.sync += self.has_record.eq(0)
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
