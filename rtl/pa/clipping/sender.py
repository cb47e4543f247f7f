"""A clipped polygon as pieces: triangles around its first vertex.

Source: docs/draws.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import AXES, CORNERS, primitive_layout
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.pa.clipping.polygon import KEPT_SIZE, READ, VERTEX_BITS, WEIGHTS, address, kept_w
from ctm.rtl.pa.piece import INVERSES, piece_layout

_W = AXES
_WS, _ORIGINALS = 0, 4
"""Sections of a piece: w and a size; three positions; w of the original vertices; three weights of three vertices.
`piece.py` has the words of each."""


class PieceSender(wiring.Component):
    """Gives the words of all pieces of a polygon, one in each cycle, the first one in the cycle after `start`.

    Members
    -------
    start : ``In(1)``
        High until `done`.
    buffer : ``In(1)``
    count : ``In(VERTEX_BITS)``
        At least three vertices.
    primitive : ``In(primitive_layout(vertices))``
    clipped : ``In(1)``
        All stay as they are from `start` to `done`.
    read : ``Out(READ)``
    word : ``In(32)``
        It is held while the read is not valid.
    piece : ``Out(stream.Signature(piece_layout(vertices)))``
    last : ``Out(1)``
        A piece's last word is taken.
    done : ``Out(1)``
        All words have been taken.
    """

    def __init__(self, vertices: int) -> None:
        super().__init__(
            {
                "start": In(1),
                "buffer": In(1),
                "count": In(VERTEX_BITS),
                "primitive": In(primitive_layout(vertices)),
                "clipped": In(1),
                "read": Out(READ),
                "word": In(WORD_BITS),
                "piece": Out(stream.Signature(piece_layout(vertices))),
                "last": Out(1),
                "done": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        piece, reads, ended, is_last = self.piece, Signal(), Signal(), Signal()
        # The second corner of the piece; the section of words, and the word in it.
        second, section, item = Signal(VERTEX_BITS, init=1), Signal(3), Signal(2)
        ends_section, ends_piece = Signal(), Signal()
        m.d.comb += [
            reads.eq(self.start & ~ended & (~piece.valid | piece.ready)),
            self.read.valid.eq(reads),
            ends_section.eq(item == Mux(section == _WS, INVERSES, AXES) - 1),
            ends_piece.eq(ends_section & section.all()),
            piece.payload.word.eq(self.word),
            piece.payload.primitive.eq(self.primitive),
            piece.payload.clipped.eq(self.clipped),
            self.last.eq(piece.valid & piece.ready & is_last),
            self.done.eq(ended & (~piece.valid | piece.ready)),
        ]
        with m.If(reads):
            m.d.comb += self.read.address.eq(self._address(m, second, section, item))
            m.d.sync += [
                item.eq(Mux(ends_section, 0, item + 1)),
                section.eq(section + ends_section),
                is_last.eq(ends_piece),
            ]
            with m.If(ends_piece):
                m.d.sync += second.eq(second + 1)
                with m.If(second + 2 == self.count):
                    m.d.sync += [ended.eq(1), second.eq(1)]
        with m.If(self.done):
            m.d.sync += ended.eq(0)
        with m.If(~piece.valid | piece.ready):
            m.d.sync += piece.valid.eq(reads)
        return m

    def _address(self, m: Module, second: Value, section: Value, item: Value) -> Signal:
        """Of the next word."""
        corner, vertex = Signal(2), Signal(VERTEX_BITS)
        result = Signal(len(address(0, 0, 0)), name="next_address")
        m.d.comb += [
            corner.eq(Mux(section == _WS, item, section - 1)),
            vertex.eq(Mux(corner == 0, 0, second + corner - 1)),
        ]
        with m.If(section == _WS):
            m.d.comb += result.eq(Mux(item == CORNERS, KEPT_SIZE, address(self.buffer, vertex, _W)))
        with m.Elif(section < _ORIGINALS):
            m.d.comb += result.eq(address(self.buffer, vertex, item))
        with m.Elif(section == _ORIGINALS):
            m.d.comb += result.eq(kept_w(item))
        with m.Else():
            m.d.comb += result.eq(address(self.buffer, vertex, Cat(item, Const(WEIGHTS >> 2, 1))))
        return result
