"""Sutherland and Hodgman's step: what of a polygon lies in front of a plane.

Source: docs/draws.md.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import AXES, CORNERS
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.views import record
from ctm.rtl.pa.arithmetic import RESULT
from ctm.rtl.pa.clipping.operands import PAIR, SIGN, Form
from ctm.rtl.pa.clipping.planes import ALL_CLIPPING, CLIPPING, Plane, axis_of, is_behind
from ctm.rtl.pa.clipping.polygon import (
    ADDRESS,
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


class Cutter(wiring.Component):
    """Cuts a polygon by one plane and leaves the result in the other buffer.

    First the distances of all vertices; then, in the order of the vertices, each that is inside, and the crossing
    behind each whose neighbour is on the other side. Some 10 cycles for each vertex, and 140 for a crossing.

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
    near, far, t : ``Out(32)``
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
    near: Out(WORD_BITS)
    far: Out(WORD_BITS)
    t: Out(WORD_BITS)
    read: Out(READ)
    word: In(WORD_BITS)
    write: Out(WRITE)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        vertex, item, made = Signal(VERTEX_BITS), Signal(3), Signal(VERTEX_BITS)
        here, after = Signal(WORD_BITS, reset_less=True), Signal(WORD_BITS, reset_less=True)
        is_last, inside, full = vertex + 1 == self.count, ~is_behind(here), made == MOST_VERTICES
        crosses, following = Signal(), Signal(VERTEX_BITS)
        m.d.comb += [
            following.eq(Mux(is_last, 0, vertex + 1)),
            crosses.eq((is_behind(here) != is_behind(after)) & ~full),
            self.near.eq(Mux(inside, here, after)),
            self.far.eq(Mux(inside, after, here)),
            self.vertices.eq(made),
        ]
        with m.FSM(name="cut"):
            with m.State("IDLE"), m.If(self.start):
                m.d.sync += [vertex.eq(0), made.eq(0), item.eq(0), self.t.eq(SIGN)]
                m.next = "DISTANCES"
            self._measure(m, vertex, item, is_last)
            with m.State("FIRST"):
                m.d.comb += [self.read.valid.eq(1), self.read.address.eq(address(self.buffer, 0, DISTANCE))]
                m.next = "HERE"
            with m.State("HERE"):
                m.d.sync += here.eq(self.word)
                m.next = "NEXT"
            with m.State("NEXT"):
                m.d.comb += [self.read.valid.eq(1), self.read.address.eq(address(self.buffer, following, DISTANCE))]
                m.next = "AFTER"
            with m.State("AFTER"):
                m.d.sync += [after.eq(self.word), item.eq(0)]
                m.next = "CROSS"
                with m.If(inside & ~full):
                    m.next = "COPY"
            with m.State("COPY"):
                self._copy(m, vertex, item, made)
            with m.State("CROSS"):
                m.next = "ON"
                with m.If(crosses):
                    m.d.sync += item.eq(0)
                    m.next = "SPAN"
            self._interpolate(m, (Mux(inside, vertex, following), Mux(inside, following, vertex)), item, made)
            with m.State("ON"):
                m.d.sync += [here.eq(after), vertex.eq(following)]
                m.next = "NEXT"
                with m.If(is_last):
                    m.d.comb += self.done.eq(1)
                    m.next = "IDLE"
        return m

    def _measure(self, m: Module, vertex: Signal, item: Signal, is_last: Value) -> None:
        """Write the distances of all vertices: of a plane each in one operation, else in three, one after the other."""
        is_plane, pair = self.plane < CLIPPING, self.pair.payload
        plane = Mux(is_plane, self.plane[: Plane.as_shape().width], 0)
        with m.State("DISTANCES"):
            m.d.comb += [self.pair.valid.eq(1), pair.tag.eq(vertex)]
            with m.If(is_plane):
                m.d.comb += [
                    pair.form.eq(Form.PLANE),
                    Value.cast(pair.plane).eq(plane),
                    pair.p.eq(address(self.buffer, vertex, _W)),
                    pair.q.eq(address(self.buffer, vertex, axis_of(m, plane))),
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
        """A crossing: t in three operations, then b - a, t (b - a), and the sum, for each word."""
        a, b = ends
        form, pair, result = Signal(Form), self.pair.payload, self.result
        is_word, last = Signal(), Signal()
        target = record(ADDRESS)
        m.d.comb += [
            target.eq(address(~self.buffer, made, item)),
            is_word.eq(Value.cast(form) >= Form.DIFFERENCE.value),
            last.eq(~is_word | (item == _WORDS - 1)),
        ]
        with m.State("SPAN"):
            m.d.sync += form.eq(Form.SPAN)
            m.next = "ASK"
        with m.State("ASK"):
            m.d.comb += [
                self.pair.valid.eq(1),
                pair.form.eq(form),
                pair.tag.eq(item),
                pair.p.eq(Mux(form == Form.DIFFERENCE, address(self.buffer, b, item), target)),
                pair.q.eq(address(self.buffer, a, item)),
            ]
            self._keep(m, made, is_word)
            with m.If(self.pair.ready):
                m.d.sync += item.eq(item + 1)
                with m.If(last):
                    m.next = "ANSWER"
        with m.State("ANSWER"):
            self._keep(m, made, is_word)
            with m.If(self.idle & ~result.valid):
                m.d.sync += [item.eq(0), Value.cast(form).eq(Value.cast(form) + 1)]
                m.next = "ASK"
                with m.If(form == Form.SUM):
                    m.d.sync += made.eq(made + 1)
                    m.next = "ON"

    def _keep(self, m: Module, made: Signal, is_word: Value) -> None:
        """A word of the new vertex, or t."""
        result, write = self.result, self.write
        m.d.comb += [
            write.valid.eq(result.valid & is_word),
            write.address.eq(address(~self.buffer, made, result.tag)),
            write.word.eq(result.word),
        ]
        with m.If(result.valid & ~is_word):
            m.d.sync += self.t.eq(result.word)
