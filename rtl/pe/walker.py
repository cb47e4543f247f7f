"""The domain walk in hardware: one group after the other, and the core that gets it.

Work is issued in 2x2 quads aligned to even i and even j. A group is `lanes / 4` neighbouring quads of one quad row.
Groups follow each other in rows that go upward in j, or in tiles, of which each core has its own.
"""

from collections.abc import Iterator, Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.programs import DOMAIN, wavefront_layout
from ctm.rtl.isa.limits import COORDINATE_BITS, QUAD
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.ram import DistributedRam

"""All pairs i0 <= i <= i1, j0 <= j <= j1."""

_Place = tuple[Value, Value]
"""Column and row of a group, counted from the domain's first one."""


class DomainWalker(wiring.Component):
    """Gives the groups of a domain, one in each cycle, the first one two cycles behind `start`.

    `tiles` are the sides of the tiles in quads, log2, the smallest first: from the domain's first quad on its groups
    are divided into squares of the largest, these into squares of the next smaller one, and so on. The squares in a
    square are walked in rows, and so are the groups in the smallest; without tiles each group is one. What lies beyond
    the domain costs no cycle.

    A core is given the groups of one smallest tile, then of the next one that no core has begun. When there is none
    left it is given what is left of others' tiles. So one core gets the groups in the order of the walk.

    Members
    -------
    start : ``In(1)``
        Only while not `busy`, with a domain that is not empty.
    domain : ``In(DOMAIN)``
        In the cycle of `start`.
    walked : ``Out(DOMAIN)``
        The domain that was begun last.
    busy : ``Out(1)``
        Groups are still to be taken.
    core : ``In(stream.Signature(range(cores)))``
        Who is given the next group.
    group : ``Out(stream.Signature(wavefront_layout(lanes, cores)))``
        Every group has a covered processor.
    """

    def __init__(self, lanes: int, tiles: Sequence[int] = (), cores: int = 1) -> None:
        self._lanes, self._tiles, self._cores = lanes, tiles, cores
        self._width_log2 = (lanes // 2).bit_length() - 1
        self._column_bits, self._row_bits = COORDINATE_BITS - self._width_log2, COORDINATE_BITS - 1
        super().__init__(
            {
                "start": In(1),
                "domain": In(DOMAIN),
                "walked": Out(DOMAIN),
                "busy": Out(1),
                "core": In(stream.Signature(range(cores))),
                "group": Out(stream.Signature(wavefront_layout(lanes, cores))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        group, walking = self.group, Signal()
        domain = self.walked
        left, bottom = _even(domain.i0), _even(domain.j0)
        last = Signal(self._column_bits, name="last_column"), Signal(self._row_bits, name="last_row")
        goes = Signal()
        column, row, ends = self._choose(m, goes, last)
        m.d.comb += [
            goes.eq(walking & self.core.valid & (~group.valid | group.ready)),
            self.core.ready.eq(walking & (~group.valid | group.ready)),
            self.busy.eq(walking | group.valid),
        ]
        with m.If(goes):
            m.d.sync += [
                group.payload.i.eq(left + (column << self._width_log2)),
                group.payload.j.eq(bottom + (row << 1)),
                group.payload.covered.eq(self._covered(m, domain, (column, row), last)),
                group.payload.core.eq(self.core.payload),
                walking.eq(~ends),
            ]
        m.d.sync += group.valid.eq(goes | group.valid & ~group.ready)
        with m.If(self.start):
            begin = self.domain
            m.d.sync += [
                domain.eq(begin),
                walking.eq(1),
                last[0].eq((begin.i1 - _even(begin.i0)) >> self._width_log2),
                last[1].eq(begin.j1[1:] - begin.j0[1:]),
            ]
        return m

    def _choose(self, m: Module, goes: Value, last: _Place) -> tuple[Value, Value, Value]:
        """Column and row of the group for the core whose turn it is, and whether it is the last one of all."""
        # Of each core's tile, the place of its next group; and the first place of the next tile.
        m.submodules.rest = rest = DistributedRam(
            data.StructLayout({"column": self._column_bits, "row": self._row_bits}), self._cores
        )
        begun, new, more = Signal(self._cores), [Signal.like(side) for side in last], Signal()
        own = begun.bit_select(self.core.payload, 1)
        whose = Signal(range(self._cores))
        m.d.comb += whose.eq(Mux(own | more, self.core.payload, one_hot_index(lowest_one(begun))))
        place = rest.read(m, whose)
        fresh = more & ~own
        column, row = (
            Mux(fresh, first, next_one) for first, next_one in zip(new, (place.column, place.row), strict=True)
        )
        levels = list(self._levels())
        following, tile_ends = self._next(m, "group", (column, row), last, levels[:1])
        next_new, tiles_end = self._next(m, "tile", new, last, levels[1:])
        rest.write(m, whose, Cat(following), goes)
        more_left, begun_left = Signal(), Signal(self._cores)
        m.d.comb += [
            more_left.eq(more & ~(fresh & tiles_end)),
            begun_left.eq(begun),
            begun_left.bit_select(whose, 1).eq(~tile_ends),
        ]
        with m.If(goes):
            m.d.sync += [more.eq(more_left), begun.eq(begun_left)]
            with m.If(fresh):
                m.d.sync += [side.eq(next_side) for side, next_side in zip(new, next_new, strict=True)]
        with m.If(self.start):
            m.d.sync += [more.eq(1), *(side.eq(0) for side in new)]
        return column, row, ~more_left & ~begun_left.any()

    def _next(
        self, m: Module, name: str, place: _Place | list[Signal], last: _Place, levels: list[list[tuple[int, int, int]]]
    ) -> tuple[list[Signal], Value]:
        """The place behind one in these levels, and whether there is none: digits by turns, which carry."""
        following = [Signal.like(side, name=f"next_{name}_{axis}") for axis, side in enumerate(last)]
        m.d.comb += [result.eq(side) for result, side in zip(following, place, strict=True)]
        carry: Value = Const(1)
        for axis, low, high in (digit for level in levels for digit in level):
            digit = place[axis][low:high]
            # The last tile of a side may be cut off; the digits below, which have come to their ends, are so too.
            ends = place[axis][low:] == last[axis][low:]
            if high < len(place[axis]):
                ends |= digit.all()
            m.d.comb += following[axis][low:high].eq(Mux(carry, Mux(ends, 0, digit + 1), digit))
            carry &= ends
        return following, carry

    def _levels(self) -> Iterator[list[tuple[int, int, int]]]:
        """Of places in a smallest tile, of these in the next larger ones, and so on: their digits.

        A digit is 0 for columns or 1 for rows, its first bit, and the bit behind its last; that which changes first is
        first.
        """
        # A group has several quads in a row.
        quads = self._width_log2 - 1
        sides = [(max(0, tile - quads), tile) for tile in self._tiles or (0,)]
        lows = (0, 0)
        for highs in (*sides, (self._column_bits, self._row_bits)):
            yield [(axis, low, high) for axis, (low, high) in enumerate(zip(lows, highs, strict=True)) if high > low]
            lows = highs

    def _covered(self, m: Module, domain: data.View, place: _Place, last: _Place) -> Signal:
        """The lanes of a group that are in the domain: only groups at its sides have others."""
        columns_bits = self._width_log2
        # Counted from the domain's first group: where in its group the last column is.
        end = (domain.i1 - _even(domain.i0))[:columns_bits]
        at_first = [side == 0 for side in place]
        at_last = [side == end_side for side, end_side in zip(place, last, strict=True)]
        columns = [~(at_last[0] & (end < offset)) for offset in range(1 << columns_bits)]
        columns[0] = ~(at_first[0] & domain.i0[0])
        rows = [~(at_first[1] & domain.j0[0]), ~(at_last[1] & ~domain.j1[0])]
        covered = Signal(self._lanes)
        for lane in range(self._lanes):
            m.d.comb += covered[lane].eq(columns[2 * (lane // QUAD) + lane % 2] & rows[lane % QUAD // 2])
        return covered


def _even(index: Value) -> Value:
    """The index rounded down to a quad's."""
    return Cat(Const(0, 1), index[1:])
