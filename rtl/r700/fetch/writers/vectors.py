"""Exports of the vectors of a draw's vertices: positions and parameters.

Source: docs/draws.md.
"""

from amaranth import Array, Cat, Const, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.shading import vector_write_layout
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700 import exports
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.r700.fetch.micro_op import micro_op_layout
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.registers.writing import selected
from ctm.rtl.r700.shapes import AREA_WORD_BITS, PROGRAM

_MISC, _FIRST, _SECOND = range(1, exports.POSITIONS)
"""Position vectors after the position."""


class VectorExport(wiring.Component):
    """Exports one register of a slice's vertices, one vertex in each cycle, whether it executes or not.

    Members
    -------
    start : ``In(1)``
        High from the first cycle to that of `done`.
    current : ``In(micro_op_layout(config.array))``
    program : ``In(PROGRAM)``
    first : ``In(AREA_WORD_BITS)``
        The entry of the wavefront's first vertex.
    vertex : ``Out(range(W))``
        The vertex whose words are read in the same cycle.
    own : ``In(WORDS)``
        Its words of the register.
    exported : ``Out(vector_write_layout(vertices))``
        In the same cycle, if the vertex executes and the draw has the vector.
    done : ``Out(1)``
        The last cycle, that of the last vertex.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._size = Partition.of(config.array).slice
        super().__init__(
            {
                "start": In(1),
                "current": In(micro_op_layout(config.array)),
                "program": In(PROGRAM),
                "first": In(AREA_WORD_BITS),
                "vertex": Out(range(self._size)),
                "own": In(WORDS),
                "exported": Out(vector_write_layout(config.pipeline.vertices)),
                "done": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        clause, exported = self.current.clause, self.exported
        low = data.View(exports.EXPORT_DWORD0, clause.unit[:WORD_BITS])
        high = data.View(exports.EXPORT_DWORD1_SWIZ, clause.unit[WORD_BITS:])
        target = (low.array_base + self.current.burst)[: (exports.FIRST_POSITION + exports.POSITIONS).bit_length()]
        is_position = Value.cast(low.type) == exports.ExportType.POS.value
        row, exists = self._position(target)
        writes = (clause.executing & clause.covered & clause.valid_mask).bit_select(self.vertex, 1)
        m.d.comb += [
            exported.vector.entry.eq(self.first + Cat(self.vertex, self.current.slice)),
            exported.vector.is_position.eq(is_position),
            exported.vector.row.eq(Mux(is_position, row, target)),
            exported.valid.eq(self.start & writes & (~is_position | exists)),
            self.done.eq(self.start & (self.vertex == self._size - 1)),
        ]
        for channel, component in enumerate("xyzw"):
            select = Value.cast(high[f"sel_{component}"])
            m.d.comb += [
                exported.words[channel].eq(selected(Cat(self.own[each] for each in range(CHANNELS)), select)),
                exported.mask[channel].eq(select != ComponentSelect.MASK.value),
            ]
        with m.If(self.start):
            m.d.sync += self.vertex.eq(self.vertex + 1)
        return m

    def _position(self, target: Value) -> tuple[Value, Value]:
        """The row of a target among the position vectors, and whether the draw has this vector."""
        has_misc, has_first, has_second = self.program.draw.vectors
        after = [
            Mux(has_misc, _MISC, Mux(has_first, _FIRST, _SECOND)),
            Mux(has_misc & has_first, _FIRST, _SECOND),
            Const(_SECOND),
        ]
        number = (target - exports.FIRST_POSITION)[:2]
        row: Value = Array([Const(0), *after])[number]
        return row, number <= has_misc + has_first + has_second
