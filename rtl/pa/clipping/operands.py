"""Operations on pairs of words of a polygon.

Source: docs/draws.md.
"""

import struct

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import RASTER_STATE
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.pa.arithmetic import REQUEST, RESULT, TAG_BITS, Operation
from ctm.rtl.pa.clipping.planes import Plane
from ctm.rtl.pa.clipping.polygon import ADDRESS, READ

SIGN = 1 << WORD_BITS - 1


def _word(number: float) -> int:
    found: int = struct.unpack("<I", struct.pack("<f", number))[0]
    return found


PER_GUARD = _word(1 / 16367)
LEAST_W = _word(2.0**-100)


class Form(enum.Enum, shape=3):
    """What is done with a pair (p, q), and with another word t."""

    PLANE = 0
    """The distance from a plane of w in p and a coordinate in q."""
    WEIGHT = 1
    """p q + t."""
    INVERSE = 2
    """1 / p."""
    DIFFERENCE = 3
    """p - q."""
    PRODUCT = 4
    """p t."""
    SUM = 5
    """p + q."""
    GUARD_X = 6
    GUARD_Y = 7
    """k of the guard band."""


PAIR = data.StructLayout({"p": ADDRESS, "q": ADDRESS, "keeps_p": 1, "form": Form, "plane": Plane, "tag": TAG_BITS})
"""With `keeps_p` p is that of the pair before, and only q is read."""


class Operands(wiring.Component):
    """Reads two words for each operation and asks for it: one in two cycles, in one where p is kept.

    Members
    -------
    state : ``In(RASTER_STATE)``
    pair : ``In(stream.Signature(PAIR))``
    t : ``In(32)``
    guards : ``In(32).array(2)``
        All used when the operation is requested.
    read : ``Out(READ)``
        The word is held while it is not valid.
    word : ``In(32)``
    request : ``Out(stream.Signature(REQUEST))``
    result : ``In(RESULT)``
    idle : ``Out(1)``
        All results of what was taken are there.
    """

    state: In(RASTER_STATE)
    pair: In(stream.Signature(PAIR))
    t: In(WORD_BITS)
    guards: In(WORD_BITS).array(2)
    read: Out(READ)
    word: In(WORD_BITS)
    request: Out(stream.Signature(REQUEST))
    result: In(RESULT)
    idle: Out(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        pair, second, waits, moves, is_q = self.pair, Signal(), Signal(), Signal(), Signal()
        p, form, plane = Signal(WORD_BITS, reset_less=True), Signal(Form), Signal(Plane)
        tag, pending = Signal(TAG_BITS), Signal(TAG_BITS)
        m.d.comb += [
            moves.eq(~waits | self.request.ready),
            is_q.eq(second | pair.payload.keeps_p),
            self.read.valid.eq(pair.valid & moves),
            self.read.address.eq(Mux(pair.valid, Mux(is_q, pair.payload.q, pair.payload.p), 0)),
            pair.ready.eq(moves & is_q),
            self.request.valid.eq(waits),
            self.idle.eq(~waits & ~second & (pending == 0)),
        ]
        with m.If(moves):
            m.d.sync += [second.eq(pair.valid & ~is_q), waits.eq(pair.valid & is_q)]
            m.d.sync += [form.eq(pair.payload.form), plane.eq(pair.payload.plane), tag.eq(pair.payload.tag)]
        with m.If(second):
            m.d.sync += p.eq(self.word)
        m.d.sync += pending.eq(pending + (waits & self.request.ready) - self.result.valid)
        request = self.request.payload
        m.d.comb += [
            request.operation.eq(Mux(form == Form.INVERSE, Operation.RECIPROCAL, Operation.MULTIPLY_ADD)),
            request.tag.eq(tag),
        ]
        self._choose(m, form, plane, p)
        return m

    def _choose(self, m: Module, form: Value, plane: Value, p: Value) -> None:
        """The operands of a form."""
        q, request, scale = self.word, self.request.payload, self.state.viewport.scale
        one, zero, factor, addend = Value.cast(ONE), Value.cast(SIGN), Signal(WORD_BITS), Signal(WORD_BITS)
        self._set_plane(m, plane, p, factor, addend)
        forms = {
            Form.PLANE: (q, factor, addend),
            Form.WEIGHT: (p, q, self.t),
            Form.INVERSE: (p, one, zero),
            Form.DIFFERENCE: (p, one, q ^ SIGN),
            Form.PRODUCT: (p, self.t, zero),
            Form.SUM: (p, one, q),
            Form.GUARD_X: (scale[0][:-1], Value.cast(PER_GUARD), zero),
            Form.GUARD_Y: (scale[1][:-1], Value.cast(PER_GUARD), zero),
        }
        with m.Switch(form):
            for each, (a, b, c) in forms.items():
                with m.Case(each):
                    m.d.comb += [request.a.eq(a), request.b.eq(b), request.c.eq(c)]

    def _set_plane(self, m: Module, plane: Value, p: Value, factor: Signal, addend: Signal) -> None:
        """A distance is the coordinate times a factor, + w."""
        m.d.comb += [factor.eq(ONE), addend.eq(p)]
        guard_x, guard_y = self.guards
        with m.Switch(plane):
            with m.Case(Plane.NEAR):
                with m.If(self.state.raster.clip_zero):
                    m.d.comb += addend.eq(SIGN)
            with m.Case(Plane.LEAST_W):
                m.d.comb += addend.eq(LEAST_W | SIGN)
            with m.Case(Plane.FAR, Plane.RIGHT, Plane.TOP):
                m.d.comb += factor.eq(ONE | SIGN)
            with m.Case(Plane.GUARD_LEFT):
                m.d.comb += factor.eq(guard_x)
            with m.Case(Plane.GUARD_RIGHT):
                m.d.comb += factor.eq(guard_x ^ SIGN)
            with m.Case(Plane.GUARD_BOTTOM):
                m.d.comb += factor.eq(guard_y)
            with m.Case(Plane.GUARD_TOP):
                m.d.comb += factor.eq(guard_y ^ SIGN)
