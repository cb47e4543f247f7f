"""Builds batches: vertices that are shaded together, and the primitives that they form.

Source: docs/draws.md; docs/design/draws.md.
"""

from amaranth import Array, Cat, Const, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.assembly import Batch, StreamSpace, indices_layout
from ctm.rtl.border.draws import CORNERS
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.encoding import one_hot_index
from ctm.rtl.lib.views import record

REUSED = 16
"""The last vertices that are looked for when an index comes again."""
_PRIMITIVES = 2
"""Most primitives of a batch, for each vertex that it may have."""


class BatchBuilder(wiring.Component):
    """Gives every vertex an entry of the vertex store, and every primitive the entries of its vertices.

    A corner takes a cycle; with streams it waits for `space.known`. A vertex that one of the last `REUSED` new indices
    of the batch named is not shaded again, unless vertices are of one primitive each, as they are of draws with
    streams, too. A batch is closed before a primitive for which there may be no entry, and at the end of an instance.
    An error of an index closes it, too, and is not taken: only `begin` goes on.

    Members
    -------
    begin : ``In(1)``
        An instance begins.
    by_primitive : ``In(1)``
        Vertices are of one primitive each, and have its number.
    corners : ``In(range(corners + 1))``
        Of a primitive.
    most : ``In(range(vertices + 1))``
        The most vertices of a batch, enough for one primitive.
    indices : ``In(stream.Signature(indices_layout(corners)))``
    batch : ``Out(Batch(vertices, corners))``
    space : ``Out(StreamSpace())``
        Where there may be streams.
    """

    def __init__(self, vertices: int, corners: int = CORNERS, *, streams: bool) -> None:
        self._vertices, self._corners, self._streams = vertices, corners, streams
        entry = range(vertices)
        self._primitive = data.StructLayout({"corners": data.ArrayLayout(entry, corners), "provoking": range(corners)})
        super().__init__(
            {
                "begin": In(1),
                "by_primitive": In(1),
                "corners": In(range(corners + 1)),
                "most": In(range(vertices + 1)),
                "indices": In(stream.Signature(indices_layout(corners))),
                "batch": Out(Batch(vertices, corners)),
                **({"space": Out(StreamSpace())} if streams else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        batch, indices, vertices = self.batch, self.indices, self._vertices
        primitives = SyncFIFOBuffered(width=self._primitive.size, depth=_PRIMITIVES * vertices)
        m.submodules.primitives = ResetInserter(self.begin)(primitives)
        corner, formed = Signal(range(self._corners)), record(self._primitive, name="formed")
        number, first_number = Signal(WORD_BITS), Signal(WORD_BITS)
        last_corner = self.corners - 1
        index = Array(indices.payload.corners)[corner]
        has_no_entry = batch.used.any() & (batch.used + self.corners > self.most)
        is_full = has_no_entry | (primitives.level >= _PRIMITIVES * vertices - 1)
        takes, closes, has_space = Signal(), Signal(), self.space.known if self._streams else Const(1)
        is_first, is_last = corner == 0, corner == last_corner
        stops = indices.payload.ends | indices.payload.error | is_full
        m.d.comb += [
            closes.eq(indices.valid & is_first & stops & ~batch.closed),
            takes.eq(indices.valid & ~batch.closed & ~closes & has_space),
            indices.ready.eq((takes & is_last) | (closes & indices.payload.ends)),
        ]
        entry = self._entry_of(m, index, takes, number, corner)
        for at, target in enumerate(formed.corners):
            held = Signal.like(entry, name=f"held_{at}")
            with m.If(takes & (corner == at)):
                m.d.sync += held.eq(entry)
            m.d.comb += target.eq(Mux((corner == at) | (self.corners == 1), entry, held))
        m.d.comb += [
            formed.provoking.eq(indices.payload.provoking),
            primitives.w_data.eq(formed),
            primitives.w_en.eq(takes & is_last),
        ]
        with m.If(takes):
            m.d.sync += [corner.eq(Mux(is_last, 0, corner + 1)), number.eq(number + is_last)]
        with m.If(closes):
            m.d.sync += [batch.closed.eq(1), batch.ends.eq(indices.payload.ends), batch.error.eq(indices.payload.error)]
        with m.If(batch.done | self.begin):
            m.d.sync += [batch.closed.eq(0), batch.used.eq(0), corner.eq(0)]
        self._give(m, primitives, first_number)
        with m.If(self.begin):
            m.d.sync += [number.eq(0), first_number.eq(0)]
        return m

    def _entry_of(self, m: Module, index: Value, takes: Value, number: Value, corner: Value) -> Value:
        """The entry of the vertex of an index: that of one of the last vertices, or the next free one."""
        batch = self.batch
        known = [(Signal(name=f"known_{at}"), Signal(WORD_BITS, name=f"index_{at}"), Signal.like(batch.vertex.entry))
                 for at in range(REUSED)]  # fmt: skip
        oldest = Signal(range(REUSED))
        hits, is_new = Signal(REUSED), Signal()
        entry = Signal(range(self._vertices), name="entry")
        m.d.comb += [
            hits.eq(Cat(valid & (own == index) for valid, own, _ in known)),
            is_new.eq(self.by_primitive | self._stream(m, takes, corner) | ~hits.any()),
            entry.eq(Mux(is_new, batch.used, Array(own for *_, own in known)[one_hot_index(hits)])),
            batch.vertex.valid.eq(takes & is_new),
            batch.vertex.entry.eq(batch.used),
            batch.vertex.index.eq(index),
            batch.vertex.primitive.eq(Mux(self.by_primitive, number, 0)),
        ]
        with m.If(takes & is_new):
            m.d.sync += [batch.used.eq(batch.used + 1), oldest.eq(oldest + 1)]
            for at, (valid, own, target) in enumerate(known):
                with m.If(oldest == at):
                    m.d.sync += [valid.eq(1), own.eq(index), target.eq(batch.used)]
        with m.If(batch.done | self.begin):
            m.d.sync += [valid.eq(0) for valid, *_ in known]
        return entry

    def _stream(self, m: Module, takes: Value, corner: Value) -> Value:
        """Say of a vertex which it is of those that are streamed out. Returns whether the draw has a stream."""
        if not self._streams:
            return Const(0)
        space, vertex = self.space, self.batch.vertex
        m.d.comb += [
            space.corners.eq(self.corners),
            vertex.streamed.eq(space.fits),
            vertex.number.eq(space.number + corner),
            space.take.eq(takes & space.fits & (corner == self.corners - 1)),
        ]
        return Value.cast(space.streams)

    def _give(self, m: Module, primitives: SyncFIFOBuffered, number: Signal) -> None:
        """Give the primitives of the batch, with their numbers in the instance."""
        primitive, taken = self.batch.primitive, self._primitive(primitives.r_data)
        payload = primitive.payload
        m.d.comb += [
            primitive.valid.eq(primitives.r_rdy & self.batch.closed),
            primitives.r_en.eq(primitive.ready & self.batch.closed),
            Value.cast(payload.corners).eq(Value.cast(taken.corners)),
            payload.provoking.eq(Array(taken.corners)[taken.provoking]),
            payload.number.eq(number),
        ]
        with m.If(primitive.valid & primitive.ready):
            m.d.sync += number.eq(number + 1)
