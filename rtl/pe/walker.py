"""The domain walk in hardware: one group after the other.

Work is issued in 2x2 quads aligned to even i and even j. A group is `lanes / 4` neighbouring quads of one quad row;
rows go upward in j.
"""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.programs import group_layout
from ctm.rtl.isa.limits import COLUMN_BITS, COORDINATE_BITS, QUAD
from ctm.rtl.lib.views import record

DOMAIN = data.StructLayout({name: COORDINATE_BITS for name in ("i0", "j0", "i1", "j1")})
"""All pairs i0 <= i <= i1, j0 <= j <= j1."""


class DomainWalker(wiring.Component):
    """Gives the groups of a domain in order, one in each cycle, the first one two cycles behind `start`.

    Members
    -------
    start : ``In(1)``
        Only while not `busy`, with a domain that is not empty.
    domain : ``In(DOMAIN)``
        In the cycle of `start`.
    busy : ``Out(1)``
        Groups are still to be taken.
    group : ``Out(stream.Signature(group_layout(lanes)))``
        Every group has a covered processor.
    """

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        super().__init__(
            {
                "start": In(1),
                "domain": In(DOMAIN),
                "busy": Out(1),
                "group": Out(stream.Signature(group_layout(lanes))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        group = self.group
        domain, walking = record(DOMAIN), Signal()
        i, j = Signal(COLUMN_BITS), Signal(COORDINATE_BITS)
        left = Cat(Const(0, 1), domain.i0[1:])
        next_i, next_j = i + 2 * (self._lanes // QUAD), j + 2
        row_ends = next_i > domain.i1
        goes = Signal()
        m.d.comb += [goes.eq(walking & (~group.valid | group.ready)), self.busy.eq(walking | group.valid)]
        with m.If(goes):
            m.d.sync += [group.payload.i.eq(i), group.payload.j.eq(j), i.eq(Mux(row_ends, left, next_i))]
            m.d.sync += group.payload.covered.eq(self._covered(m, domain, i, j))
            with m.If(row_ends):
                m.d.sync += [j.eq(next_j), walking.eq(next_j <= domain.j1)]
        m.d.sync += group.valid.eq(goes | group.valid & ~group.ready)
        with m.If(self.start):
            m.d.sync += [domain.eq(self.domain), walking.eq(1)]
            m.d.sync += [i.eq(Cat(Const(0, 1), self.domain.i0[1:])), j.eq(Cat(0, self.domain.j0[1:]))]
        return m

    def _covered(self, m: Module, domain: data.View, i: Signal, j: Signal) -> Signal:
        """The lanes of the group at (i, j) that are in the domain."""
        covered = Signal(self._lanes)
        columns = [(i + offset >= domain.i0) & (i + offset <= domain.i1) for offset in range(self._lanes // 2)]
        rows = [(j + offset >= domain.j0) & (j + offset <= domain.j1) for offset in range(2)]
        for lane in range(self._lanes):
            m.d.comb += covered[lane].eq(columns[2 * (lane // QUAD) + lane % 2] & rows[lane % QUAD // 2])
        return covered
