"""The words of a piece, as set-up takes them.

Source: docs/design/draws.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import AXES, CORNERS, RECORD_ROWS, primitive_layout
from ctm.rtl.pa.piece import INVERSES, piece_layout
from ctm.rtl.pa.rows import FILL, ROW
from ctm.rtl.pa.slots import PLACED, W

_ORIGINALS_ROW = 6


class PieceTaker(wiring.Component):
    """Puts the words of a piece into slots, and into rows 6, 3, 4 and 5 of its record; each of these takes a cycle.

    Members
    -------
    piece : ``In(stream.Signature(piece_layout(vertices)))``
    enable : ``In(1)``
        Words are taken.
    placed : ``Out(PLACED)``
        w of a vertex, the size behind the vertices' w, x, y and z.
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
                "placed": Out(PLACED),
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
        group, item, writes, whole = Signal(3), Signal(2), Signal(), Signal()
        row = Signal(range(RECORD_ROWS))
        m.d.comb += [
            piece.ready.eq(self.enable & ~whole & ~writes),
            taken.eq(piece.valid & piece.ready),
            ends.eq(item == Mux(group == 0, INVERSES, AXES) - 1),
            self.placed.valid.eq(taken & ~group[2]),
            self.placed.slot.eq(Mux(group == 0, Cat(Const(W, 2), item), Cat(item, (group - 1)[:2]))),
            self.placed.word.eq(piece.payload.word),
            self.fill.valid.eq(taken & group[2]),
            self.fill.index.eq(item),
            self.fill.word.eq(piece.payload.word),
            self.row.valid.eq(writes),
            self.row.payload.eq(row),
            self.inverses.eq(Mux(whole | (group != 0) | (item == CORNERS), CORNERS, item)),
            self.begun.eq(whole | group.any() | item.any()),
            self.complete.eq(whole & ~writes),
        ]
        m.d.sync += writes.eq(0)
        with m.If(taken):
            m.d.sync += [self.primitive.eq(piece.payload.primitive), self.clipped.eq(piece.payload.clipped)]
            m.d.sync += item.eq(item + 1)
            with m.If(ends):
                m.d.sync += [item.eq(0), group.eq(group + 1), whole.eq(group.all()), writes.eq(group[2])]
                m.d.sync += row.eq(Mux(group[:2].any(), group - 2, _ORIGINALS_ROW))
        with m.If(self.end):
            m.d.sync += whole.eq(0)
        return m
