"""Vertex fetches: of float constants, of inputs, of vertex buffers and rings.

Source: R700-Family Instruction Set Architecture, chapter 5; docs/design/r700-core.md.
"""

from amaranth import Module, Mux, Signal, Value, signed
from amaranth.lib import data

from ctm.rtl.border.shading import Stage, is_of_threads
from ctm.rtl.isa.draws import VERTEX_BUFFERS, Ring
from ctm.rtl.isa.limits import INPUTS
from ctm.rtl.isa.r700 import fetch
from ctm.rtl.isa.r700.fetch import FetchFormat, FetchType
from ctm.rtl.r700.fetch.forms.form import FetchForm, has_unused_select, read_words, registers_and_selects
from ctm.rtl.r700.fetch.operation import Task
from ctm.rtl.r700.fetch.vertex_format import Numeric, element_format

_CHANNELS = {
    FetchFormat.INT32_1: 1, FetchFormat.INT32_2: 2, FetchFormat.INT32_3: 3, FetchFormat.INT32_4: 4,
    FetchFormat.FLOAT32_1: 1, FetchFormat.FLOAT32_2: 2, FetchFormat.FLOAT32_3: 3, FetchFormat.FLOAT32_4: 4,
}  # fmt: skip


class VertexForm(FetchForm):
    """FETCH; with `draws` also from vertex buffers and rings, where the program is one of a draw's threads."""

    def __init__(self, *, draws: bool = False) -> None:
        self._draws = draws
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        found = self.fetch
        (first, second, third, _), reserved = read_words(self.words, fetch.VERTEX)
        is_legal = Signal()
        with m.Switch(Value.cast(second.data_format)):
            for element, channels in _CHANNELS.items():
                with m.Case(element.value):
                    m.d.comb += [
                        is_legal.eq(1),
                        found.channels.eq(channels),
                        found.one_is_float.eq(element.name.startswith("FLOAT")),
                    ]
        is_constant = ~first.buffer_id.any()
        number = Signal(signed(11), name="buffer_number")
        of_constants = third.offset[:2].any() | ~is_legal
        of_input = (number < 0) | (number >= INPUTS) | third.offset.any()
        is_illegal = (
            reserved
            | has_unused_select(second)
            | second.use_const_fields
            | third.endian_swap.any()
            | third.alt_const
            | third.const_buf_no_stride
        )
        m.d.comb += [
            number.eq(first.buffer_id - self.program.texture_base),
            found.input.eq(number),
            found.task.eq(Mux(is_constant, Task.CONSTANTS.value, Task.ELEMENT.value)),
            *registers_and_selects(found, first, second),
            found.coordinates[0].eq(first.src_sel_x),
            found.offset.eq(third.offset[2:]),
            found.illegal.eq(is_illegal | Mux(is_constant, of_constants, of_input)),
        ]
        if self._draws:
            of_threads = is_of_threads(self.program.stage)
            with m.If(of_threads & ~is_constant):
                self._buffer(m, first, second, third, is_illegal)
        return m

    def _buffer(self, m: Module, first: data.View, second: data.View, third: data.View, is_illegal: Value) -> None:
        """A fetch from a vertex buffer or ring, where it differs from one of an input."""
        found = self.fetch
        number = Signal(signed(10), name="vertex_buffer")
        numeric = Value.cast(second.num_format_all)
        element, channels, exists = element_format(
            m, Value.cast(second.data_format), numeric, second.format_comp_all
        )  # fmt: skip
        kinds = [kind.value for kind in FetchType]
        of_vertices = self.program.stage == Stage.VERTICES
        ring = Mux(self.program.stage == Stage.COPY, Ring.GS_VS.value, Ring.ES_GS.value)
        no_ring = ~first.buffer_id.matches(*fetch.RING_BUFFERS) | (first.fetch_type != FetchType.NO_INDEX_OFFSET.value)
        no_buffer = (number < 0) | (number >= VERTEX_BUFFERS) | ~first.fetch_type.matches(*kinds)
        m.d.comb += [
            number.eq(first.buffer_id - self.program.draw.first_buffer),
            found.task.eq(Task.VERTEX),
            found.one_is_float.eq(Value.cast(element.numeric) != Numeric.INTEGER.value),
            found.vertex.buffer.eq(Mux(of_vertices, number, VERTEX_BUFFERS + ring)),
            found.vertex.offset.eq(third.offset),
            found.vertex.by_instance.eq(first.fetch_type == FetchType.INSTANCE_DATA.value),
            found.vertex.element.eq(element),
            found.vertex.channels.eq(channels),
            found.illegal.eq(is_illegal | Mux(of_vertices, no_buffer, no_ring) | ~exists),
        ]
