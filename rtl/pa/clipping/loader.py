"""What the clipper takes of a primitive's vertices.

Source: docs/draws.md.
"""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import AXES, CORNERS, DISTANCES, RASTER_STATE, PositionReader
from ctm.rtl.fp.number import ONE
from ctm.rtl.fp.selection import is_nan
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.pa.clipping.planes import is_negative, is_outside
from ctm.rtl.pa.clipping.polygon import KEPT_SIZE, WEIGHTS, WRITE, address, kept_distance, kept_w

_POSITION, _SIZE, _DISTANCES = 0, 1, 2


class VertexLoader(wiring.Component):
    """Writes a primitive's vertices as polygon 0, and what is kept of them.

    A triangle takes 27 cycles, and 30 more if it has distances; a point 33. `done` is high in the last cycle.

    Members
    -------
    state : ``In(RASTER_STATE)``
    corners : ``In(data.ArrayLayout(range(vertices), CORNERS))``
        Entries of the vertices; constant until `done`.
    start : ``In(1)``
        High until `done`.
    positions : ``Out(PositionReader(vertices))``
    write : ``Out(WRITE)``
    done : ``Out(1)``
    nan : ``Out(1)``
        A position has a NaN. Valid a cycle after `done`, as those that follow.
    outside, negative : ``Out(8)``
        The distances that are not at least 0 at a vertex, and those that are negative at all of them.
    """

    def __init__(self, vertices: int) -> None:
        super().__init__(
            {
                "state": In(RASTER_STATE),
                "corners": In(data.ArrayLayout(range(vertices), CORNERS)),
                "start": In(1),
                "positions": Out(PositionReader(vertices)),
                "write": Out(WRITE),
                "done": Out(1),
                "nan": Out(1),
                "outside": Out(DISTANCES),
                "negative": Out(DISTANCES),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        state, words = self.state, self.positions.words
        corner, vector, step, comes = Signal(2), Signal(2), Signal(3), Signal()
        word, ends, last_vector = words[step[:2]], Signal(), Signal(2)
        has_distances = (state.clip_distances | state.cull_distances).any() & ~state.points
        m.d.comb += [
            self.positions.entry.eq(self.corners[corner]),
            self.positions.vector.eq(vector),
            last_vector.eq(Mux(has_distances, 3, Mux(state.points, _SIZE, _POSITION))),
        ]
        # A vector's words are there in the cycle after its address, as long as that is held.
        m.d.sync += comes.eq(self.start & ~ends)
        with m.If(comes):
            m.d.comb += self.write.valid.eq(1)
            with m.Switch(vector):
                with m.Case(_POSITION):
                    self._keep_position(m, corner, step, word)
                    m.d.comb += ends.eq(step == 7)
                with m.Case(_SIZE):
                    m.d.comb += [self.write.address.eq(KEPT_SIZE), self.write.word.eq(words[0]), ends.eq(1)]
                with m.Default():
                    m.d.comb += [
                        self.write.address.eq(kept_distance(corner, Cat(step[:2], vector[0]))),
                        self.write.word.eq(word),
                        ends.eq(step == CHANNELS - 1),
                    ]
            m.d.sync += step.eq(Mux(ends, 0, step + 1))
        is_last = vector == last_vector
        m.d.comb += self.done.eq(ends & is_last & (corner == CORNERS - 1))
        with m.If(ends):
            m.d.sync += vector.eq(Mux(is_last, _POSITION, Mux(has_distances & (vector == _POSITION), 2, vector + 1)))
            with m.If(is_last):
                m.d.sync += corner.eq(Mux(self.done, 0, corner + 1))
        self._judge(m, corner, vector, comes)
        return m

    def _keep_position(self, m: Module, corner: Signal, step: Signal, word: Signal) -> None:
        """Four coordinates, three weights, and w once more."""
        write, points = self.write, self.state.points
        m.d.comb += [write.address.eq(address(0, corner, step)), write.word.eq(word)]
        with m.If(step == WEIGHTS + AXES):
            m.d.comb += write.address.eq(kept_w(corner))
            with m.If(points & (corner != 0)):
                m.d.comb += write.word.eq(0)
        with m.Elif(step[2]):
            m.d.comb += write.word.eq(Mux((step[:2] == corner) & ~points, ONE, 0))

    def _judge(self, m: Module, corner: Signal, vector: Signal, comes: Signal) -> None:
        """Look at the four words at once."""
        words = [self.positions.words[index] for index in range(CHANNELS)]
        with m.If(comes & (vector == _POSITION)):
            m.d.sync += self.nan.eq(Cat(is_nan(word) for word in words).any() | (self.nan & (corner != 0)))
            with m.If(corner == 0):
                m.d.sync += [self.outside.eq(0), self.negative.eq((1 << DISTANCES) - 1)]
        for half in range(2):
            own = slice(CHANNELS * half, CHANNELS * half + CHANNELS)
            with m.If(comes & (vector == _DISTANCES + half)):
                m.d.sync += self.outside[own].eq(self.outside[own] | Cat(is_outside(word) for word in words))
                m.d.sync += self.negative[own].eq(self.negative[own] & Cat(is_negative(word) for word in words))
