"""The records of shapes: which are free.

Source: docs/design/draws.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.shading import RECORDS
from ctm.rtl.lib.encoding import lowest_one, one_hot_index


class Records(wiring.Component):
    """Gives a shape a record that no pixel needs: all strips of the shape that had it were given, and have ended.

    Members
    -------
    free : ``Out(stream.Signature(range(RECORDS)))``
    made : ``In({valid, payload})``
        All strips of the shape with this record were given, perhaps none.
    begun, ended : ``In({valid, record})``
        A strip with this record was given, with `made` at the latest; it has ended.
    """

    def __init__(self, strips: int) -> None:
        self._strips = strips
        of_record = data.StructLayout({"valid": 1, "record": range(RECORDS)})
        super().__init__(
            {
                "free": Out(stream.Signature(range(RECORDS))),
                "made": In(data.StructLayout({"valid": 1, "payload": range(RECORDS)})),
                "begun": In(of_record),
                "ended": In(of_record),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        used, made = Signal(RECORDS), Signal(RECORDS)
        counts = [Signal(range(self._strips + 1), name=f"strips_{record}") for record in range(RECORDS)]
        free = lowest_one(~used)
        m.d.comb += [
            self.free.valid.eq(free.any()),
            self.free.payload.eq(one_hot_index(free)),
        ]
        taken = Mux(self.free.valid & self.free.ready, free, 0)
        done = Signal(RECORDS)
        for record, count in enumerate(counts):
            begins, ends = (_is(event, record) for event in (self.begun, self.ended))
            m.d.sync += count.eq(count + begins - ends)
            m.d.comb += done[record].eq(made[record] & (count == 0) & ~begins)
        now_made = Cat(self.made.valid & (self.made.payload == record) for record in range(RECORDS))
        m.d.sync += [used.eq((used | taken) & ~done), made.eq((made | now_made) & ~done)]
        return m


def _is(event: data.View, record: int) -> Value:
    """Whether an event is of a record."""
    found: Value = event.valid & (event.record == record)
    return found
