"""Ends of strips whose outputs are added to targets.

Source: docs/design/draws.md, order.
"""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

_COUNT_BITS = 8
"""Outputs that are taken and not written are far fewer than half of what these bits count."""


class BlendOrder(wiring.Component):
    """Passes ends of strips on; with `adds` when all outputs that were taken before an end are in memory.

    An end is passed on in the same cycle, with `adds` two cycles later at the earliest.

    Members
    -------
    adds : ``In(1)``
        Only changes while no strip is in flight.
    ended, ends : ``In({valid, ticket})``, ``Out({valid, ticket})``
    taken, written : ``In(1)``
        An output was taken; the next one of them is in memory.
    """

    def __init__(self, tickets: int) -> None:
        self._tickets = tickets
        end = data.StructLayout({"valid": 1, "ticket": range(tickets)})
        super().__init__({"adds": In(1), "ended": In(end), "ends": Out(end), "taken": In(1), "written": In(1)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        layout = data.StructLayout({"ticket": range(self._tickets), "count": _COUNT_BITS})
        m.submodules.waiting = waiting = SyncFIFOBuffered(width=layout.size, depth=self._tickets)
        entering, first = Signal(layout), data.View(layout, waiting.r_data)
        taken, written = Signal(_COUNT_BITS, name="taken_count"), Signal(_COUNT_BITS, name="written_count")
        m.d.sync += [taken.eq(taken + self.taken), written.eq(written + self.written)]
        missing = (first.count - written)[:_COUNT_BITS]
        is_written = (missing == 0) | missing[-1]
        m.d.comb += [
            entering.ticket.eq(self.ended.ticket),
            entering.count.eq(taken),
            waiting.w_data.eq(entering),
            waiting.w_en.eq(self.ended.valid & self.adds),
            waiting.r_en.eq(waiting.r_rdy & is_written),
            self.ends.valid.eq(Mux(self.adds, waiting.r_en, self.ended.valid)),
            self.ends.ticket.eq(Mux(self.adds, first.ticket, self.ended.ticket)),
        ]
        return m
