"""Which vertices form which primitive.

Source: docs/draws.md, vertices and primitives.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from amaranth import Array, Module, Mux, Shape, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.enum import EnumView
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.assembly import INDEX, indices_layout
from ctm.rtl.border.draws import CORNERS
from ctm.rtl.isa.draws import PrimitiveType
from ctm.rtl.isa.limits import WORD_BITS

ASSEMBLED = (PrimitiveType.POINTLIST, PrimitiveType.TRILIST, PrimitiveType.TRIFAN, PrimitiveType.TRISTRIP)
"""Those that hardware without geometry programs assembles."""
LINES = (
    PrimitiveType.LINELIST, PrimitiveType.LINESTRIP, PrimitiveType.LINELOOP, PrimitiveType.LINELIST_ADJ,
    PrimitiveType.LINESTRIP_ADJ,
)  # fmt: skip
"""Those that are assembled for geometry programs and streams only: the rasterizer draws no lines."""
CORNERS_OF = {
    PrimitiveType.POINTLIST: 1, PrimitiveType.LINELIST: 2, PrimitiveType.LINESTRIP: 2, PrimitiveType.LINELOOP: 2,
    PrimitiveType.TRILIST: 3, PrimitiveType.TRIFAN: 3, PrimitiveType.TRISTRIP: 3, PrimitiveType.LINELIST_ADJ: 4,
    PrimitiveType.LINESTRIP_ADJ: 4, PrimitiveType.TRILIST_ADJ: 6, PrimitiveType.TRISTRIP_ADJ: 6,
}  # fmt: skip
"""The number of corners of all that hardware with geometry programs assembles."""

EMITTED = (PrimitiveType.POINTLIST, PrimitiveType.LINESTRIP, PrimitiveType.TRISTRIP)
"""Those that emitted vertices form."""

_LISTS = (
    PrimitiveType.POINTLIST, PrimitiveType.LINELIST, PrimitiveType.TRILIST, PrimitiveType.LINELIST_ADJ,
    PrimitiveType.TRILIST_ADJ,
)  # fmt: skip
_PROVOKING = {4: (2, 1), 6: (4, 0)}
"""The provoking corner by the last and by the first convention, where it is not the last or the first corner."""
_NEIGHBOURS = 10
"""Vertices that a strip with neighbours looks at."""
_COUNT_BITS = 4
_KEPT = 4
"""From its largest value the count of a strip's vertices goes back by so much: its low bits, which tell even and odd
primitives, stay right."""


def assembled(*, geometry: bool) -> tuple[PrimitiveType, ...]:
    """The kinds of primitives that hardware assembles."""
    return tuple(CORNERS_OF) if geometry else ASSEMBLED


def corners_of(kind: EnumView, kinds: Sequence[PrimitiveType]) -> Value:
    """The number of corners of a primitive of a kind, one of `kinds`."""
    number_of = Value.cast(kind)
    known = {each.value: CORNERS_OF[each] for each in kinds}
    return Value.cast(Array(known.get(number, 1) for number in range(1 << len(number_of)))[number_of])


@dataclass(frozen=True)
class _Form:
    """A primitive that the vertices of a strip or list form: when, its corners, and the provoking one."""

    completes: Value
    corners: Sequence[Value]
    provoking: Value


class Topology(wiring.Component):
    """Forms primitives of the vertices of an instance, two cycles after the index that completes each.

    An index is taken in each cycle. What is left of a strip or list at a restart or at the end is dropped. `kinds` are
    assembled. In strips and fans the provoking vertex is the same corner of every primitive. The exception is
    TRISTRIP_ADJ by the last convention, where it is corner 4 of even triangles and corner 2 of odd ones.

    Members
    -------
    begin : ``In(1)``
        An instance begins, in front of its first index.
    kind : ``In(PrimitiveType)``
    provoking_last : ``In(1)``
    base_vertex : ``In(32)``
        Is added to indices, modulo 2^32.
    index : ``In(stream.Signature(INDEX))``
    primitive : ``Out(stream.Signature(indices_layout(corners)))``
        After the last primitive of an instance comes one more element, which `ends` it and is no primitive. `error` is
        set from the first index with an error on.
    """

    def __init__(self, kinds: Sequence[PrimitiveType]) -> None:
        self._kinds = kinds
        has_neighbours = PrimitiveType.TRISTRIP_ADJ in kinds
        self._corners = max(CORNERS, *(CORNERS_OF[kind] for kind in kinds))
        super().__init__(
            {
                "begin": In(1),
                "kind": In(Shape.cast(PrimitiveType)),
                "provoking_last": In(1),
                "base_vertex": In(WORD_BITS),
                "index": In(stream.Signature(INDEX)),
                "primitive": Out(stream.Signature(indices_layout(self._corners))),
            }
        )
        kept = _NEIGHBOURS if has_neighbours else self._corners
        self._held = [Signal(WORD_BITS, name=f"vertex_{age}") for age in range(kept)]
        """The last vertices of the strip, the newest first."""
        self._first, self._count = Signal(WORD_BITS, name="first"), Signal(_COUNT_BITS)
        self._forms, self._closes, self._ends = Signal(), Signal(), Signal()
        """The newest vertex is to be looked at; a strip's end; the instance's end, after both."""

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        index, primitive, held, count = self.index, self.primitive, self._held, self._count
        forms, closes, ends, has_error, at_end = self._forms, self._closes, self._ends, Signal(), Signal()
        free, takes = ~primitive.valid | primitive.ready, Signal()
        vertex = (index.payload.index + self.base_vertex)[:WORD_BITS]
        m.d.comb += [index.ready.eq(free & ~at_end), takes.eq(index.valid & index.ready)]
        found = self._find(m, free)
        with m.If(free):
            m.d.sync += [
                primitive.valid.eq(found | (ends & ~forms & ~closes)),
                primitive.payload.ends.eq(ends & ~forms & ~closes),
                primitive.payload.error.eq(has_error),
                forms.eq(takes & ~index.payload.restarts),
                closes.eq((takes & index.payload.restarts) | (forms & at_end)),
            ]
            with m.If(closes):
                m.d.sync += count.eq(0)
            with m.If(ends & ~forms & ~closes):
                m.d.sync += [ends.eq(0), at_end.eq(0)]
        with m.If(takes):
            m.d.sync += [ends.eq(index.payload.last), at_end.eq(index.payload.last)]
            m.d.sync += has_error.eq(has_error | index.payload.error)
            with m.If(~index.payload.restarts):
                before = Mux(closes, 0, count)
                m.d.sync += [
                    *(older.eq(newer) for older, newer in zip(held, (vertex, *held), strict=False)),
                    count.eq(Mux(before == (1 << _COUNT_BITS) - 1, before + 1 - _KEPT, before + 1)),
                ]
                with m.If(before == 0):
                    m.d.sync += self._first.eq(vertex)
        with m.If(self.begin):
            m.d.sync += [each.eq(0) for each in (count, has_error, at_end, ends, forms, closes, primitive.valid)]
        return m

    def _find(self, m: Module, free: Value) -> Value:
        """Set the corners of the primitive that the vertices form, if it is `free`; whether there is one."""
        found, corners, payload = Signal(name="found"), self._corners, self.primitive.payload
        forms = {kind: self._form_of(m, kind, free) for kind in self._kinds}
        with m.Switch(self.kind):
            for kind, form in forms.items():
                given = [*form.corners, *[form.corners[0]] * (corners - len(form.corners))]
                with m.Case(kind.value):
                    m.d.comb += found.eq(form.completes)
                    with m.If(free):
                        m.d.sync += payload.provoking.eq(form.provoking)
                        m.d.sync += [corner.eq(vertex) for corner, vertex in zip(payload.corners, given, strict=True)]
        return found

    def _form_of(self, m: Module, kind: PrimitiveType, free: Value) -> _Form:
        forms: dict[PrimitiveType, Callable[[], _Form]] = {
            PrimitiveType.LINELOOP: self._loop,
            PrimitiveType.TRISTRIP: self._triangles,
            PrimitiveType.TRIFAN: self._fan,
            PrimitiveType.TRISTRIP_ADJ: self._neighbours,
        }
        if kind in forms:
            return forms[kind]()
        size = CORNERS_OF[kind]
        last, first = _PROVOKING.get(size, (size - 1, 0))
        completes = self._forms & self._completes_list(m, kind, free) if kind in _LISTS else self._has(size)
        return _Form(completes, self._last(size), Mux(self.provoking_last, last, first))

    def _last(self, size: int) -> list[Value]:
        """The last vertices, the oldest first."""
        return [self._held[age] for age in reversed(range(size))]

    def _has(self, size: int) -> Value:
        """Whether the newest vertex completes a primitive of a strip."""
        return Value.cast(self._forms & (self._count >= size))

    def _completes_list(self, m: Module, kind: PrimitiveType, free: Value) -> Value:
        """Whether the newest vertex completes a primitive of a list."""
        size = CORNERS_OF[kind]
        number = Signal(range(size + 1), name=f"of_{kind.name.lower()}")
        is_last = number == size - 1
        with m.If(free & self._forms):
            m.d.sync += number.eq(Mux(is_last, 0, number + 1))
        with m.If(self.begin | (free & self._closes)):
            m.d.sync += number.eq(0)
        return is_last

    def _loop(self) -> _Form:
        """A line strip, and at its end the line from its last to its first vertex."""
        closes = self._closes & (self._count > 1)
        newest, before = self._held[0], self._held[1]
        corners = [Mux(self._closes, newest, before), Mux(self._closes, self._first, newest)]
        return _Form(self._has(2) | closes, corners, self.provoking_last)

    def _triangles(self) -> _Form:
        first, second, third = self._last(CORNERS)
        # The third vertex makes an even triangle.
        odd, last = ~self._count[0], self.provoking_last
        corners = [
            Mux(odd & last, second, first),
            Mux(odd, Mux(last, first, third), second),
            Mux(odd & ~last, second, third),
        ]
        return _Form(self._has(CORNERS), corners, Mux(last, CORNERS - 1, 0))

    def _fan(self) -> _Form:
        second, third, last = self._held[1], self._held[0], self.provoking_last
        corners = [Mux(last, self._first, second), Mux(last, second, third), Mux(last, third, self._first)]
        return _Form(self._has(CORNERS), corners, Mux(last, CORNERS - 1, 0))

    def _neighbours(self) -> _Form:
        """Triangle k of a strip with neighbours, of vertices 2k - 2 to 2k + 6.

        Vertex 2k + 7 says that it is not the last one. The strip's end, after vertex 2k + 5 or 2k + 6, says that it
        is. Odd triangles arrive rotated by two positions.
        """
        count, closes = self._count, self._closes
        following = Mux(closes, count[0], 2)

        def vertex(number: int) -> Value:
            """Vertex 2k + number."""
            ages = [5 - number + later for later in range(3)]
            known = [self._held[age] if age in range(_NEIGHBOURS) else self._held[0] for age in ages]
            return Value.cast(Array(known)[following])

        is_first = Mux(closes, count[1:] == 3, count == 8)
        # Triangles 0, 2, ... have their last vertices where the count is 6, 7, 10, 11, ..., or 8, 12, ...
        odd = Mux(closes, ~count[1], count[1])
        before = Mux(is_first, vertex(1), vertex(-2))
        after = Mux(closes, vertex(5), vertex(6))
        second, third, side = vertex(2), vertex(4), vertex(3)
        corners = [
            vertex(0), Mux(odd, side, before), Mux(odd, third, second), after, Mux(odd, second, third),
            Mux(odd, before, side),
        ]  # fmt: skip
        completes = Mux(closes, count >= 6, self._forms & (count >= 8) & ~count[0])
        return _Form(completes, corners, Mux(self.provoking_last, Mux(odd, 2, 4), 0))
