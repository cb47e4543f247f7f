"""The domain walk in hardware: one group after the other.

Work is issued in 2x2 quads aligned to even i and even j. A group is `lanes / 4` neighbouring quads of one quad row.
Groups follow each other in rows that go upward in j, or in tiles, which are walked in the same way inside larger tiles.
"""

from collections.abc import Iterator, Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.programs import group_layout
from ctm.rtl.isa.limits import COLUMN_BITS, COORDINATE_BITS, QUAD
from ctm.rtl.lib.views import record

DOMAIN = data.StructLayout({name: COORDINATE_BITS for name in ("i0", "j0", "i1", "j1")})
"""All pairs i0 <= i <= i1, j0 <= j <= j1."""


class DomainWalker(wiring.Component):
    """Gives the groups of a domain in order, one in each cycle, the first one two cycles behind `start`.

    `tiles` are the sides of the tiles in quads, log2, the smallest first: from the domain's first quad on its groups
    are divided into squares of the largest, these into squares of the next smaller one, and so on. The squares in a
    square are walked in rows, and so are the groups in the smallest. What lies beyond the domain costs no cycle.

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

    def __init__(self, lanes: int, tiles: Sequence[int] = ()) -> None:
        self._lanes, self._tiles = lanes, tiles
        self._width_log2 = (lanes // 2).bit_length() - 1
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
        left, bottom = (Cat(Const(0, 1), first[1:]) for first in (domain.i0, domain.j0))
        # Places of groups and of their rows, counted from the domain's first quad.
        column, row = Signal(COORDINATE_BITS - self._width_log2), Signal(COORDINATE_BITS - 1)
        last_column, last_row = Signal.like(column), Signal.like(row)
        next_column, next_row, ends = self._next(m, column, row, last_column, last_row)
        goes = Signal()
        m.d.comb += [goes.eq(walking & (~group.valid | group.ready)), self.busy.eq(walking | group.valid)]
        with m.If(goes):
            m.d.sync += [group.payload.i.eq(i), group.payload.j.eq(j), column.eq(next_column), row.eq(next_row)]
            m.d.sync += [i.eq(left + (next_column << self._width_log2)), j.eq(bottom + (next_row << 1))]
            m.d.sync += [group.payload.covered.eq(self._covered(m, domain, i, j)), walking.eq(~ends)]
        m.d.sync += group.valid.eq(goes | group.valid & ~group.ready)
        with m.If(self.start):
            begin = self.domain
            m.d.sync += [domain.eq(begin), walking.eq(1), column.eq(0), row.eq(0)]
            m.d.sync += [i.eq(Cat(Const(0, 1), begin.i0[1:])), j.eq(Cat(Const(0, 1), begin.j0[1:]))]
            m.d.sync += last_column.eq((begin.i1 - Cat(Const(0, 1), begin.i0[1:])) >> self._width_log2)
            m.d.sync += last_row.eq(begin.j1[1:] - begin.j0[1:])
        return m

    def _next(
        self, m: Module, column: Signal, row: Signal, last_column: Signal, last_row: Signal
    ) -> tuple[Value, Value, Value]:
        """The place behind one, and whether there is none: digits of columns and rows by turns, which carry."""
        following = Signal.like(column, name="next_column"), Signal.like(row, name="next_row")
        carry: Value = Const(1)
        for axis, low, high in self._digits(len(column), len(row)):
            place, last, result = ((column, last_column, following[0]), (row, last_row, following[1]))[axis]
            digit = place[low:high]
            # The last tile of a side may be cut off; the digits below, which have come to their ends, are so too.
            ends = place == last
            if high < len(place):
                ends |= digit.all()
            m.d.comb += result[low:high].eq(Mux(carry, Mux(ends, 0, digit + 1), digit))
            carry &= ends
        return *following, carry

    def _digits(self, columns: int, rows: int) -> Iterator[tuple[int, int, int]]:
        """0 for columns or 1 for rows, first bit, and the bit behind the last; that which changes first is first."""
        lows = [0, 0]
        for tile in (*self._tiles, None):
            # A group has several quads in a row.
            quads = self._width_log2 - 1
            highs = (columns, rows) if tile is None else (max(0, tile - quads), tile)
            for axis, high in enumerate(highs):
                if high > lows[axis]:
                    yield axis, lows[axis], high
                    lows[axis] = high

    def _covered(self, m: Module, domain: data.View, i: Signal, j: Signal) -> Signal:
        """The lanes of the group at (i, j) that are in the domain."""
        covered = Signal(self._lanes)
        columns = [(i + offset >= domain.i0) & (i + offset <= domain.i1) for offset in range(self._lanes // 2)]
        rows = [(j + offset >= domain.j0) & (j + offset <= domain.j1) for offset in range(2)]
        for lane in range(self._lanes):
            m.d.comb += covered[lane].eq(columns[2 * (lane // QUAD) + lane % 2] & rows[lane % QUAD // 2])
        return covered
