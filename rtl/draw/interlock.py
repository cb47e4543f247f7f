"""Keeps the order of shapes at every pixel.

Source: docs/draws.md, order; docs/design/draws.md.
"""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import strip_layout
from ctm.rtl.border.shading import RECORDS
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.limits import COLUMN_BITS, COORDINATE_BITS
from ctm.rtl.lib.encoding import lowest_one, one_hot_index

_PAIR = data.StructLayout({"i": COLUMN_BITS, "j": COORDINATE_BITS})


class Interlock(wiring.Component):
    """Holds a strip back while an earlier one with a pixel of its own is in flight, from its grant to its end.

    Triangles beside each other cover different pixels of the strips that they share, so these do not wait. A strip has
    a ticket, which its end returns. Latency is a cycle, throughput one strip in each cycle; a strip with pixels of one
    that ended follows a cycle after that end.

    Members
    -------
    strip : ``In(stream.Signature(strip_layout(lanes, vertices, records)))``
        Aligned: lanes of two strips are the same pixels, lane by lane, or all different ones.
    granted : ``Out(stream.Signature({strip, ticket}))``
    ended : ``In({valid, ticket})``
    record_ended : ``Out({valid, record})``
        A strip with this record has ended.
    idle : ``Out(1)``
        No strip is in flight or offered.
    waits : ``Out(1)``
        A strip waits for an earlier one with a pixel of its own.

    `busy` are the tickets of strips in flight, `pairs` and `lanes` the first pixels of these and the covered lanes, for
    an observer.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._tickets = tickets = config.array.threads
        self.busy = Signal(tickets)
        self.pairs = [Signal(_PAIR, name=f"pair_{ticket}") for ticket in range(tickets)]
        self.lanes = [Signal(config.array.wavefront_lanes, name=f"lanes_{ticket}") for ticket in range(tickets)]
        strip = strip_layout(config.array.wavefront_lanes, config.pipeline.vertices, RECORDS)
        of_record = data.StructLayout({"valid": 1, "record": range(RECORDS)})
        super().__init__(
            {
                "strip": In(stream.Signature(strip)),
                "granted": Out(stream.Signature(data.StructLayout({"strip": strip, "ticket": range(tickets)}))),
                "ended": In(data.StructLayout({"valid": 1, "ticket": range(tickets)})),
                "record_ended": Out(of_record),
                "idle": Out(1),
                "waits": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        strip, granted, tickets = self.strip, self.granted, self._tickets
        busy, pairs = self.busy, self.pairs
        records = [Signal(range(RECORDS), name=f"record_{ticket}") for ticket in range(tickets)]
        own, record = Cat(strip.payload.i, strip.payload.j), strip.payload.constants.record
        covered = strip.payload.covered
        conflicts = Cat(
            taken & (Value.cast(pair) == own) & (lanes & covered).any()
            for taken, pair, lanes in zip(busy, pairs, self.lanes, strict=True)
        ).any()
        free, grants = lowest_one(~busy), Signal()
        m.d.comb += [
            grants.eq(strip.valid & ~conflicts & free.any() & (~granted.valid | granted.ready)),
            strip.ready.eq(grants),
            self.idle.eq(~busy.any() & ~strip.valid),
            self.waits.eq(strip.valid & conflicts),
            self.record_ended.valid.eq(self.ended.valid),
            self.record_ended.record.eq(Array(records)[self.ended.ticket]),
        ]
        ends = Mux(self.ended.valid, (1 << self.ended.ticket)[:tickets], 0)
        m.d.sync += [
            busy.eq((busy | Mux(grants, free, 0)) & ~ends),
            granted.valid.eq(grants | (granted.valid & ~granted.ready)),
        ]
        with m.If(grants):
            m.d.sync += [granted.payload.strip.eq(strip.payload), granted.payload.ticket.eq(one_hot_index(free))]
            for ticket, (pair, lanes, of) in enumerate(zip(pairs, self.lanes, records, strict=True)):
                with m.If(free[ticket]):
                    m.d.sync += [Value.cast(pair).eq(own), lanes.eq(covered), of.eq(record)]
        return m
