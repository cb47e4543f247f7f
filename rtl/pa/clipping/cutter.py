"""Sutherland and Hodgman's step: what of a polygon lies in front of a plane.

Source: docs/draws.md.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import AXES, CORNERS
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.pa.arithmetic import RESULT
from ctm.rtl.pa.clipping.operands import PAIR, SIGN, Form
from ctm.rtl.pa.clipping.planes import ALL_CLIPPING, CLIPPING, axis_of, is_outside
from ctm.rtl.pa.clipping.polygon import (
    DISTANCE,
    MOST_VERTICES,
    READ,
    VERTEX_BITS,
    WEIGHTS,
    WRITE,
    address,
    kept_distance,
)

_W = AXES
_WORDS = DISTANCE
"""Of a vertex: four coordinates and three weights."""
_PHASES = (
    (Form.DIFFERENCE, "a"), (Form.INVERSE, "new"), (Form.PRODUCT, "a"),
    (Form.DIFFERENCE, "b"), (Form.PRODUCT, "new"), (Form.SUM, "new"),
)  # fmt: skip
"""Operations of a crossing, and the vertex whose word is p: three for t, and three for each word of the new vertex."""
_FIRST_OF_WORDS = 3


class Cutter(wiring.Component):
    """Cuts a polygon by one plane and leaves the result in the other buffer.

    First the distances of all vertices; then, in the order of the vertices, each that is inside, and the crossing
    after each whose neighbour is on the other side. Some 15 cycles for each vertex, and 130 for a crossing.

    Members
    -------
    start : ``In(1)``
        High until `done`.
    plane : ``In(range(ALL_CLIPPING))``
    buffer : ``In(1)``
    count : ``In(VERTEX_BITS)``
        All stay as they are from `start` to `done`.
    done : ``Out(1)``
    vertices : ``Out(VERTEX_BITS)``
        Of the result, in the cycle of `done`.
    pair : ``Out(stream.Signature(PAIR))``
    idle : ``In(1)``
    result : ``In(RESULT)``
        As those of `Operands`.
    t : ``Out(32)``
    read : ``Out(READ)``
    word : ``In(32)``
    write : ``Out(WRITE)``
    """

    start: In(1)
    plane: In(range(ALL_CLIPPING))
    buffer: In(1)
    count: In(VERTEX_BITS)
    done: Out(1)
    vertices: Out(VERTEX_BITS)
    pair: Out(stream.Signature(PAIR))
    idle: In(1)
    result: In(RESULT)
    t: Out(WORD_BITS)
    read: Out(READ)
    word: In(WORD_BITS)
    write: Out(WRITE)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        vertex, item, made = Signal(VERTEX_BITS), Signal(3), Signal(VERTEX_BITS)
        # Whether the vertex and the next one are inside.
        inside, after = Signal(), Signal()
        is_last, full, crosses, following = (
            vertex + 1 == self.count,
            made == MOST_VERTICES,
            Signal(),
            Signal(VERTEX_BITS),
        )
        m.d.comb += [
            following.eq(Mux(is_last, 0, vertex + 1)),
            crosses.eq((inside != after) & ~full),
            self.vertices.eq(made),
        ]
        with m.FSM(name="cut"):
            with m.State("IDLE"), m.If(self.start):
                m.d.sync += [made.eq(0), item.eq(0), self.t.eq(SIGN)]
                m.next = "DISTANCES"
            self._measure(m, vertex, item, is_last)
            with m.State("FIRST"):
                m.d.comb += [self.read.valid.eq(1), self.read.address.eq(address(self.buffer, 0, DISTANCE))]
                m.next = "HERE"
            with m.State("HERE"):
                m.d.sync += inside.eq(~is_outside(self.word))
                m.next = "NEXT"
            with m.State("NEXT"):
                m.d.comb += [self.read.valid.eq(1), self.read.address.eq(address(self.buffer, following, DISTANCE))]
                m.next = "AFTER"
            with m.State("AFTER"):
                m.d.sync += [after.eq(~is_outside(self.word)), item.eq(0)]
                m.next = "CROSS"
                with m.If(inside & ~full):
                    m.next = "COPY"
            with m.State("COPY"):
                self._copy(m, vertex, item, made)
            with m.State("CROSS"):
                m.next = "ON"
                with m.If(crosses):
                    m.d.sync += item.eq(DISTANCE)
                    m.next = "ASK"
            self._interpolate(m, (Mux(inside, vertex, following), Mux(inside, following, vertex)), item, made)
            with m.State("ON"):
                m.d.sync += [inside.eq(after), vertex.eq(following)]
                m.next = "NEXT"
                with m.If(is_last):
                    m.d.comb += self.done.eq(1)
                    m.next = "IDLE"
        return m

    def _measure(self, m: Module, vertex: Signal, item: Signal, is_last: Value) -> None:
        """Write the distances of all vertices: of a plane each in one operation, else in three, one after the other."""
        is_plane, pair = self.plane < CLIPPING, self.pair.payload
        with m.State("DISTANCES"):
            m.d.comb += [self.pair.valid.eq(1), pair.tag.eq(vertex)]
            with m.If(is_plane):
                m.d.comb += [
                    pair.form.eq(Form.PLANE),
                    Value.cast(pair.plane).eq(self.plane),
                    pair.p.eq(address(self.buffer, vertex, _W)),
                    pair.q.eq(address(self.buffer, vertex, axis_of(m, self.plane))),
                ]
            with m.Else():
                m.d.comb += [
                    pair.form.eq(Form.WEIGHT),
                    pair.p.eq(address(self.buffer, vertex, item + WEIGHTS)),
                    pair.q.eq(kept_distance(item, (self.plane - CLIPPING)[:3])),
                ]
            self._keep_distance(m)
            with m.If(self.pair.ready):
                m.d.sync += item.eq(item + 1)
                with m.If(~is_plane):
                    m.next = "WEIGHED"
                with m.Elif(is_last):
                    m.next = "WEIGHED"
                with m.Else():
                    m.d.sync += vertex.eq(vertex + 1)
        with m.State("WEIGHED"):
            self._keep_distance(m)
            with m.If(self.idle):
                m.next = "DISTANCES"
                with m.If(is_plane | (item == CORNERS)):
                    m.d.sync += [item.eq(0), self.t.eq(SIGN), vertex.eq(vertex + 1)]
                    with m.If(is_last):
                        m.d.sync += vertex.eq(0)
                        m.next = "FIRST"

    def _keep_distance(self, m: Module) -> None:
        """Of a vertex with the tag as its number; the last one of three is the sum."""
        result, write = self.result, self.write
        m.d.comb += [
            write.valid.eq(result.valid),
            write.address.eq(address(self.buffer, result.tag, DISTANCE)),
            write.word.eq(result.word),
        ]
        with m.If(result.valid):
            m.d.sync += self.t.eq(result.word)

    def _copy(self, m: Module, vertex: Signal, item: Signal, made: Signal) -> None:
        """A vertex that is inside: a word is written while the next one is read."""
        m.d.comb += [
            self.read.valid.eq(item != _WORDS),
            self.read.address.eq(address(self.buffer, vertex, item)),
            self.write.valid.eq(item != 0),
            self.write.address.eq(address(~self.buffer, made, item - 1)),
            self.write.word.eq(self.word),
        ]
        m.d.sync += item.eq(item + 1)
        with m.If(item == _WORDS):
            m.d.sync += made.eq(made + 1)
            m.next = "CROSS"

    def _interpolate(self, m: Module, ends: tuple[Value, Value], item: Signal, made: Signal) -> None:
        """A crossing: t in three operations on distances, then b - a, t (b - a), and the sum, for each word.

        The difference of the distances waits for its reciprocal where the new vertex will have its own.
        """
        a, b = ends
        phase, pair = Signal(range(len(_PHASES))), self.pair.payload
        is_word, of_new, of_b = Signal(), Signal(), Signal()
        m.d.comb += is_word.eq(phase >= _FIRST_OF_WORDS)
        with m.State("ASK"):
            m.d.comb += [
                self.pair.valid.eq(1),
                pair.tag.eq(item),
                pair.p.eq(address(self.buffer ^ of_new, Mux(of_new, made, Mux(of_b, b, a)), item)),
                pair.q.eq(address(self.buffer, Mux(is_word, a, b), item)),
            ]
            with m.Switch(phase):
                for number, (form, vertex) in enumerate(_PHASES):
                    with m.Case(number):
                        m.d.comb += [pair.form.eq(form), of_new.eq(vertex == "new"), of_b.eq(vertex == "b")]
            self._keep(m, made, is_word)
            with m.If(self.pair.ready):
                m.d.sync += item.eq(item + 1)
                with m.If(~is_word | (item == _WORDS - 1)):
                    m.next = "RESULT"
        with m.State("RESULT"):
            self._keep(m, made, is_word)
            with m.If(self.idle):
                m.d.sync += [phase.eq(phase + 1), item.eq(Mux(phase + 1 < _FIRST_OF_WORDS, DISTANCE, 0))]
                m.next = "ASK"
                with m.If(phase == len(_PHASES) - 1):
                    m.d.sync += [phase.eq(0), made.eq(made + 1)]
                    m.next = "ON"

    def _keep(self, m: Module, made: Signal, is_word: Value) -> None:
        """A word of the new vertex; the one for its distance is t, too."""
        result, write = self.result, self.write
        m.d.comb += [
            write.valid.eq(result.valid),
            write.address.eq(address(~self.buffer, made, result.tag)),
            write.word.eq(result.word),
        ]
        with m.If(result.valid & ~is_word):
            m.d.sync += self.t.eq(result.word)
