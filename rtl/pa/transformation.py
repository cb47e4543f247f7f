"""From clip space to window coordinates: the operations on the three vertices of a piece.

Source: docs/draws.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.hdl import ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import AXES, CORNERS, RASTER_STATE
from ctm.rtl.fp.number import HALF, ONE
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.pa.arithmetic import LATENCY, TAG_BITS
from ctm.rtl.pa.registers import DEPTH, REGISTER_BITS, ROW_WORD, SIZE, SNAPPED, SPARE, W

MINUS_ZERO = 1 << WORD_BITS - 1
"""The addend with which a multiply-add is a product, also where that is a zero."""
MULTIPLY_ADD = data.StructLayout(
    {"valid": 1, "register": REGISTER_BITS, "b": WORD_BITS, "c": WORD_BITS, "tag": TAG_BITS}
)
"""The word of a register * b + c."""
_DIFFERENCES = 2
assert LATENCY < CORNERS * AXES


class Transformation(wiring.Component):
    """Four passes over the coordinates, one in each cycle: x 1 / w, x scale, + offset, - half a pixel.

    Nine coordinates take longer than an operation, so none waits for its last result. Depths are not snapped: in the
    last pass the first one is a word of row 1, and so is the second's difference from it. After the last pass come the
    differences of 1 / w, or the size of a point. Takes 38 cycles.

    Members
    -------
    state : ``In(RASTER_STATE)``
    enable : ``In(1)``
        High until `done`.
    other : ``Out(REGISTER_BITS)``
        Another register whose word is wanted.
    word : ``In(32)``
        That word, in the same cycle.
    operation : ``Out(MULTIPLY_ADD)``
    done : ``Out(1)``
        In the last cycle.
    """

    state: In(RASTER_STATE)
    enable: In(1)
    other: Out(REGISTER_BITS)
    word: In(WORD_BITS)
    operation: Out(MULTIPLY_ADD)
    done: Out(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        phase, vertex, axis = Signal(3), Signal(2), Signal(2)
        viewport, register, is_point = self.state.viewport, Cat(axis, vertex), self.state.points
        m.d.comb += self.other.eq(Mux(phase[2], W, Mux(phase[0], W - 1, Cat(Const(W, 2), vertex))))
        negative = self.word ^ MINUS_ZERO
        with m.Switch(phase):
            with m.Case(0):
                self._ask(m, register, self.word, MINUS_ZERO, register)
            with m.Case(1):
                self._ask(m, register, viewport.scale[axis], MINUS_ZERO, register)
            with m.Case(2):
                self._ask(m, register, ONE, viewport.offset[axis], register)
            with m.Case(3):
                self._ask(m, register, ONE, HALF | MINUS_ZERO, Cat(vertex, axis[0], Const(SNAPPED >> 3, 2)))
                with m.If(axis == AXES - 1):
                    row_word = Cat(vertex[0], Const(ROW_WORD >> 1 | 1, TAG_BITS - 1))
                    difference = Mux(vertex == 0, MINUS_ZERO, negative)
                    self._ask(m, register, ONE, difference, Mux(vertex[1], DEPTH, row_word), is_point & (vertex != 0))
            with m.Default():
                row_word = Cat(axis[0], Const(ROW_WORD >> 1, TAG_BITS - 1))
                self._ask(m, Cat(Const(W, 2), ~axis[0], axis[0]), ONE, negative, row_word)
                with m.If(is_point):
                    is_given = ~self.state.raster.program_point_size
                    self._ask(m, SIZE, HALF, MINUS_ZERO, SNAPPED | SPARE, is_given | axis[0])
        m.d.comb += self.done.eq(phase[2] & (axis == _DIFFERENCES - 1))
        with m.If(self.enable):
            m.d.sync += axis.eq(axis + 1)
            with m.If(self.done):
                m.d.sync += [axis.eq(0), phase.eq(0)]
            with m.Elif(axis == AXES - 1):
                m.d.sync += [axis.eq(0), vertex.eq(vertex + 1)]
                with m.If(vertex == CORNERS - 1):
                    m.d.sync += [vertex.eq(0), phase.eq(phase + 1)]
        return m

    def _ask(
        self, m: Module, register: ValueLike, b: ValueLike, c: ValueLike, tag: ValueLike, needless: ValueLike = 0
    ) -> None:
        operation = self.operation
        m.d.comb += [
            operation.register.eq(register),
            operation.b.eq(b),
            operation.c.eq(c),
            operation.tag.eq(tag),
            operation.valid.eq(self.enable & ~Mux(needless, 1, 0)),
        ]
