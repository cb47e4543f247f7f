"""Which vertices form which primitive.

Source: docs/draws.md, vertices and primitives.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.assembly import INDEX, INDEX_BUFFER, INDICES
from ctm.rtl.isa.draws import RASTER, PrimitiveType
from ctm.rtl.isa.limits import WORD_BITS

ASSEMBLED = (PrimitiveType.POINTLIST, PrimitiveType.TRILIST, PrimitiveType.TRIFAN, PrimitiveType.TRISTRIP)
"""Those that the hardware assembles."""
_LAST = 2
"""The corner that is provoking by the last convention."""


class Topology(wiring.Component):
    """Forms primitives of the vertices of an instance, a cycle after the index that completes each.

    An index is taken in each cycle. What is left of a strip or list at a restart or at the end is dropped. The
    provoking vertex keeps its position in strips and fans whichever convention holds.

    Members
    -------
    begin : ``In(1)``
        An instance begins, in front of its first index.
    raster : ``In(RASTER)``
    buffer : ``In(INDEX_BUFFER)``
    base_vertex : ``In(32)``
        Is added to indices, modulo 2^32.
    index : ``In(stream.Signature(INDEX))``
    primitive : ``Out(stream.Signature(INDICES))``
        The last one of an instance `ends` it.
    """

    begin: In(1)
    raster: In(RASTER)
    buffer: In(INDEX_BUFFER)
    base_vertex: In(WORD_BITS)
    index: In(stream.Signature(INDEX))
    primitive: Out(stream.Signature(INDICES))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        index, primitive = self.index, self.primitive
        first, second, is_odd, held = Signal(WORD_BITS), Signal(WORD_BITS), Signal(), Signal(range(3))
        ending, has_error = Signal(), Signal()
        kind, third = Value.cast(self.raster.primitive), Signal(WORD_BITS)
        is_point, is_list, is_fan = (
            kind == each.value for each in (PrimitiveType.POINTLIST, PrimitiveType.TRILIST, PrimitiveType.TRIFAN)
        )
        free, takes, restarts = ~primitive.valid | primitive.ready, Signal(), Signal()
        completes = takes & ~restarts & (is_point | (held == _LAST))
        m.d.comb += [
            third.eq(index.payload.index + self.base_vertex),
            index.ready.eq(free & ~ending),
            takes.eq(index.valid & index.ready),
            restarts.eq(self.buffer.restarts & (index.payload.index == self.buffer.restart)),
        ]
        with m.If(free):
            m.d.sync += [primitive.valid.eq(completes | ending), primitive.payload.ends.eq(ending)]
            m.d.sync += [primitive.payload.error.eq(has_error)]
            self._form(m, (first, second, third), is_odd, is_point, is_fan)
            with m.If(ending):
                m.d.sync += ending.eq(0)
        with m.If(takes):
            m.d.sync += [ending.eq(index.payload.last), has_error.eq(has_error | index.payload.error)]
            with m.If(restarts):
                m.d.sync += [held.eq(0), is_odd.eq(0)]
            with m.Elif(held != _LAST):
                m.d.sync += held.eq(Mux(is_point, 0, held + 1))
                with m.If(held == 0):
                    m.d.sync += first.eq(third)
                with m.Else():
                    m.d.sync += second.eq(third)
            with m.Else():
                # A strip goes on with its last two vertices, a fan with its first and its last one.
                m.d.sync += [held.eq(Mux(is_list, 0, _LAST)), is_odd.eq(~is_odd), second.eq(third)]
                with m.If(~is_fan):
                    m.d.sync += first.eq(second)
        with m.If(self.begin):
            m.d.sync += [held.eq(0), is_odd.eq(0), has_error.eq(0), ending.eq(0), primitive.valid.eq(0)]
        return m

    def _form(
        self, m: Module, vertices: tuple[Value, Value, Value], is_odd: Value, is_point: Value, is_fan: Value
    ) -> None:
        """Set the corners that the three vertices form."""
        first, second, third = vertices
        last = self.raster.provoking_last
        is_strip = Value.cast(self.raster.primitive) == PrimitiveType.TRISTRIP.value
        swaps = is_strip & is_odd
        m.d.sync += self.primitive.payload.provoking.eq(Mux(last & ~is_point, _LAST, 0))
        with m.If(is_point):
            self._set(m, (third, third, third))
        with m.Elif(is_fan & ~last):
            self._set(m, (second, third, first))
        with m.Elif(swaps & ~last):
            self._set(m, (first, third, second))
        with m.Elif(swaps):
            self._set(m, (second, first, third))
        with m.Else():
            self._set(m, (first, second, third))

    def _set(self, m: Module, vertices: tuple[Value, Value, Value]) -> None:
        corners = self.primitive.payload.corners
        m.d.sync += [corner.eq(vertex) for corner, vertex in zip(corners, vertices, strict=True)]
