"""The words of a piece, as set-up takes them.

Source: docs/design/draws.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import AXES, CORNERS, RECORD_ROWS, primitive_layout
from ctm.rtl.pa.piece import INVERSES, piece_layout
from ctm.rtl.pa.registers import REGISTER_WRITE, W
from ctm.rtl.pa.rows import FILL, ROW

_ORIGINALS_ROW = 6


class PieceTaker(wiring.Component):
    """Puts the words of a piece into registers, and into rows 6, 3, 4 and 5 of its record; each of these takes a cycle.

    Members
    -------
    piece : ``In(stream.Signature(piece_layout(vertices)))``
    enable : ``In(1)``
        Words are taken.
    register_write : ``Out(REGISTER_WRITE)``
        w of a vertex, the size after the vertices' w, x, y and z.
    fill : ``Out(FILL)``
    row : ``Out(ROW)``
        Both as in `RecordRows`.
    primitive : ``Out(primitive_layout(vertices))``
    clipped : ``Out(1)``
        Those of the piece, until the next one.
    inverses : ``Out(range(CORNERS + 1))``
        How many vertices' w have been taken.
    begun, complete : ``Out(1)``
        A word has been taken; all have, and all rows are written.
    end : ``In(1)``
        Be ready for the next piece; only while `complete`.
    """

    def __init__(self, vertices: int) -> None:
        super().__init__(
            {
                "piece": In(stream.Signature(piece_layout(vertices))),
                "enable": In(1),
                "register_write": Out(REGISTER_WRITE),
                "fill": Out(FILL),
                "row": Out(ROW),
                "primitive": Out(primitive_layout(vertices)),
                "clipped": Out(1),
                "inverses": Out(range(CORNERS + 1)),
                "begun": Out(1),
                "complete": Out(1),
                "end": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        piece, taken, ends = self.piece, Signal(), Signal()
        # w and the size, three positions, w of the original vertices, their weights in three vertices.
        section, item, writes, whole = Signal(3), Signal(2), Signal(), Signal()
        row = Signal(range(RECORD_ROWS))
        m.d.comb += [
            piece.ready.eq(self.enable & ~whole & ~writes),
            taken.eq(piece.valid & piece.ready),
            ends.eq(item == Mux(section == 0, INVERSES, AXES) - 1),
            self.register_write.valid.eq(taken & ~section[2]),
            self.register_write.register.eq(Mux(section == 0, Cat(Const(W, 2), item), Cat(item, (section - 1)[:2]))),
            self.register_write.word.eq(piece.payload.word),
            self.fill.valid.eq(taken & section[2]),
            self.fill.index.eq(item),
            self.fill.word.eq(piece.payload.word),
            self.row.valid.eq(writes),
            self.row.payload.eq(row),
            self.inverses.eq(Mux(whole | (section != 0) | (item == CORNERS), CORNERS, item)),
            self.begun.eq(whole | section.any() | item.any()),
            self.complete.eq(whole & ~writes),
        ]
        m.d.sync += writes.eq(0)
        with m.If(taken):
            m.d.sync += [self.primitive.eq(piece.payload.primitive), self.clipped.eq(piece.payload.clipped)]
            m.d.sync += item.eq(item + 1)
            with m.If(ends):
                m.d.sync += [item.eq(0), section.eq(section + 1), whole.eq(section.all()), writes.eq(section[2])]
                m.d.sync += row.eq(Mux(section[:2].any(), section - 2, _ORIGINALS_ROW))
        with m.If(self.end):
            m.d.sync += whole.eq(0)
        return m
