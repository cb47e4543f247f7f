"""The domain walk in hardware: wavefronts in order, and the core of each.

Work is issued in 2x2 quads aligned to even i and even j. A wavefront is `lanes / 4` neighbouring quads of one quad row.
Wavefronts follow each other in rows that go upward in j, or in tiles, of which each core has its own.
"""

from collections.abc import Iterator, Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.programs import DOMAIN, wavefront_layout
from ctm.rtl.isa.limits import COORDINATE_BITS, QUAD
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.ram import DistributedRam

_Position = tuple[Value, Value]
"""Column and row of a wavefront, counted from the domain's first one."""


class DomainWalker(wiring.Component):
    """Gives the wavefronts of a domain, one in each cycle, the first one two cycles after `start`.

    The domain is all pairs i0 <= i <= i1, j0 <= j <= j1. `tiles` are the sides of the tiles in quads, log2, the
    smallest first. From its first quad on the domain is divided into the largest tiles, these into the next smaller
    ones, and so on. Tiles are walked in rows inside their tile, and so are wavefronts inside a smallest tile. Without
    `tiles` each wavefront is a tile. Positions outside the domain cost no cycle.

    A core gets the wavefronts of one smallest tile, then of the next tile that no core has begun. When all tiles are
    begun it gets wavefronts of other cores' tiles. So a single core gets all wavefronts in the order of the walk.

    Members
    -------
    start : ``In(1)``
        Only while not `busy`, with a domain that is not empty.
    domain : ``In(DOMAIN)``
        In the cycle of `start`.
    walked : ``Out(DOMAIN)``
        The domain that was begun last.
    busy : ``Out(1)``
        Wavefronts remain.
    core : ``In(stream.Signature(range(cores)))``
        The core of the next wavefront.
    wavefront : ``Out(stream.Signature(wavefront_layout(lanes, cores)))``
        Every wavefront has a covered lane.
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
                "wavefront": Out(stream.Signature(wavefront_layout(lanes, cores))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        wavefront, walking = self.wavefront, Signal()
        domain = self.walked
        base_i, base_j = _even(domain.i0), _even(domain.j0)
        last = Signal(self._column_bits, name="last_column"), Signal(self._row_bits, name="last_row")
        advances = Signal()
        column, row, ends = self._choose(m, advances, last)
        m.d.comb += [
            advances.eq(walking & self.core.valid & (~wavefront.valid | wavefront.ready)),
            self.core.ready.eq(walking & (~wavefront.valid | wavefront.ready)),
            self.busy.eq(walking | wavefront.valid),
        ]
        with m.If(advances):
            m.d.sync += [
                wavefront.payload.i.eq(base_i + (column << self._width_log2)),
                wavefront.payload.j.eq(base_j + (row << 1)),
                wavefront.payload.covered.eq(self._covered(m, domain, (column, row), last)),
                wavefront.payload.core.eq(self.core.payload),
                walking.eq(~ends),
            ]
        m.d.sync += wavefront.valid.eq(advances | wavefront.valid & ~wavefront.ready)
        with m.If(self.start):
            begin = self.domain
            m.d.sync += [
                domain.eq(begin),
                walking.eq(1),
                last[0].eq((begin.i1 - _even(begin.i0)) >> self._width_log2),
                last[1].eq(begin.j1[1:] - begin.j0[1:]),
            ]
        return m

    def _choose(self, m: Module, advances: Value, last: _Position) -> tuple[Value, Value, Value]:
        """Column and row of the next wavefront of the granted core, and whether it is the last one of all."""
        # `next_positions` has the next wavefront of each core's tile; `new` is the first position of the next tile.
        m.submodules.next_positions = next_positions = DistributedRam(
            data.StructLayout({"column": self._column_bits, "row": self._row_bits}), self._cores
        )
        begun, new, more = Signal(self._cores), [Signal.like(side) for side in last], Signal()
        own = begun.bit_select(self.core.payload, 1)
        owner = Signal(range(self._cores))
        m.d.comb += owner.eq(Mux(own | more, self.core.payload, one_hot_index(lowest_one(begun))))
        position = next_positions.read(m, owner)
        fresh = more & ~own
        column, row = (
            Mux(fresh, first, next_one) for first, next_one in zip(new, (position.column, position.row), strict=True)
        )
        levels = list(self._levels())
        following, tile_ends = self._next(m, "wavefront", (column, row), last, levels[:1])
        next_new, tiles_end = self._next(m, "tile", new, last, levels[1:])
        next_positions.write(m, owner, Cat(following), advances)
        more_remaining, begun_remaining = Signal(), Signal(self._cores)
        m.d.comb += [
            more_remaining.eq(more & ~(fresh & tiles_end)),
            begun_remaining.eq(begun),
            begun_remaining.bit_select(owner, 1).eq(~tile_ends),
        ]
        with m.If(advances):
            m.d.sync += [more.eq(more_remaining), begun.eq(begun_remaining)]
            with m.If(fresh):
                m.d.sync += [side.eq(next_side) for side, next_side in zip(new, next_new, strict=True)]
        with m.If(self.start):
            m.d.sync += [more.eq(1), *(side.eq(0) for side in new)]
        return column, row, ~more_remaining & ~begun_remaining.any()

    def _next(
        self,
        m: Module,
        name: str,
        position: _Position | list[Signal],
        last: _Position,
        levels: list[list[tuple[int, int, int]]],
    ) -> tuple[list[Signal], Value]:
        """The next position in these levels, and whether there is none: a counter of alternating digits."""
        following = [Signal.like(side, name=f"next_{name}_{axis}") for axis, side in enumerate(last)]
        m.d.comb += [result.eq(side) for result, side in zip(following, position, strict=True)]
        carry: Value = Const(1)
        for axis, low, high in (digit for level in levels for digit in level):
            digit = position[axis][low:high]
            # The last tile of a side may be cut off, and so may be its lower digits, which are at their ends.
            ends = position[axis][low:] == last[axis][low:]
            if high < len(position[axis]):
                ends |= digit.all()
            m.d.comb += following[axis][low:high].eq(Mux(carry, Mux(ends, 0, digit + 1), digit))
            carry &= ends
        return following, carry

    def _levels(self) -> Iterator[list[tuple[int, int, int]]]:
        """The digits of a position: in a smallest tile, of that in the next larger one, and so on.

        A digit is 0 for columns or 1 for rows, its first bit, and the bit after its last. The digit that changes first
        is first.
        """
        # A wavefront has several quads in a row.
        quads = self._width_log2 - 1
        sides = [(max(0, tile - quads), tile) for tile in self._tiles or (0,)]
        lows = (0, 0)
        for highs in (*sides, (self._column_bits, self._row_bits)):
            yield [(axis, low, high) for axis, (low, high) in enumerate(zip(lows, highs, strict=True)) if high > low]
            lows = highs

    def _covered(self, m: Module, domain: data.View, position: _Position, last: _Position) -> Signal:
        """The lanes of a wavefront that are in the domain; only wavefronts at its sides have other lanes."""
        columns_bits = self._width_log2
        # The last column's offset in its wavefront, counted from the domain's first wavefront.
        end = (domain.i1 - _even(domain.i0))[:columns_bits]
        at_first = [side == 0 for side in position]
        at_last = [side == end_side for side, end_side in zip(position, last, strict=True)]
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
