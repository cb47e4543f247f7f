"""Fetch instructions, decoded.

Source: R700-Family Instruction Set Architecture, chapter 5; docs/design/r700-core.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.shading import Stage, is_of_threads
from ctm.rtl.isa.draws import VERTEX_BUFFERS, Ring
from ctm.rtl.isa.limits import INPUTS, WORD_BITS
from ctm.rtl.isa.r700 import fetch
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.fetch import FetchFormat, FetchType, MemoryOperation, Multiplex, TextureOperation, VertexOperation
from ctm.rtl.isa.r700.limits import LDS_ROW
from ctm.rtl.r700.fetch.operation import FETCH, Task
from ctm.rtl.r700.fetch.vertex_format import Numeric, element_format
from ctm.rtl.r700.shapes import PROGRAM

INSTRUCTION_BITS = 4 * WORD_BITS
_UNUSED_SELECT, _UNUSED_ELEMENT = 6, 2
_ROW_BITS = LDS_ROW.bit_length() - 1
_CHANNELS = {
    FetchFormat.INT32_1: 1, FetchFormat.INT32_2: 2, FetchFormat.INT32_3: 3, FetchFormat.INT32_4: 4,
    FetchFormat.FLOAT32_1: 1, FetchFormat.FLOAT32_2: 2, FetchFormat.FLOAT32_3: 3, FetchFormat.FLOAT32_4: 4,
}  # fmt: skip
_SAMPLES = tuple(operation for operation in fetch.LOOKUPS if operation is not TextureOperation.LD)


class FetchDecode(wiring.Component):
    """Decodes a fetch instruction; with `draws` also those from vertex buffers and rings. Combinational.

    Members
    -------
    words : ``In(128)``
        The instruction.
    textures : ``In(1)``
        It is in a texture clause.
    program : ``In(PROGRAM)``
    fetch : ``Out(FETCH)``
        With `illegal` all other fields are undefined.
    """

    words: In(INSTRUCTION_BITS)
    textures: In(1)
    program: In(PROGRAM)
    fetch: Out(FETCH)

    latency = 0

    def __init__(self, *, draws: bool = False) -> None:
        self._draws = draws
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        form = data.View(fetch.FETCH, self.words[:WORD_BITS])
        m.d.comb += self.fetch.illegal.eq(1)
        with m.Switch(form.inst):
            with m.Case(VertexOperation.FETCH.value):
                self._vertex(m)
            with m.Case(VertexOperation.MEM.value), m.Switch(form.mem_op):
                with m.Case(MemoryOperation.LOCAL_DS_WRITE):
                    self._share_write(m)
                with m.Case(MemoryOperation.LOCAL_DS_READ):
                    self._share_read(m)
                with m.Case(MemoryOperation.RD_SCATTER, MemoryOperation.RD_SCRATCH):
                    self._area(m)
            with m.Default():
                with m.If(self.textures):
                    self._texture(m)
        return m

    def _forms(self, layouts: tuple[data.StructLayout, ...]) -> tuple[list[data.View], Value]:
        """The words as these layouts, and whether a reserved bit is set."""
        views, reserved = [], []
        for number, layout in enumerate(layouts):
            found: data.View = data.View(layout, self.words.word_select(number, WORD_BITS))
            views.append(found)
            reserved += [Value.cast(found[name]).any() for name, _ in layout if str(name).startswith("reserved")]
        return views, Cat(reserved).any()

    def _vertex(self, m: Module) -> None:
        """A vertex fetch, of the constants or of an input."""
        found = self.fetch
        (first, second, third, _), reserved = self._forms(fetch.VERTEX)
        selects = [Value.cast(second[f"dst_sel_{component}"]) for component in "xyzw"]
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
        others = second.use_const_fields | third.endian_swap.any() | third.alt_const | third.const_buf_no_stride
        m.d.comb += [
            number.eq(first.buffer_id - self.program.texture_base),
            found.input.eq(number),
            found.task.eq(Mux(is_constant, Task.CONSTANTS.value, Task.ELEMENT.value)),
            found.source.eq(first.src_gpr),
            found.source_relative.eq(first.src_rel),
            found.destination.eq(second.dst_gpr),
            found.destination_relative.eq(second.dst_rel),
            *(target.eq(select) for target, select in zip(found.selects, selects, strict=True)),
            found.coordinates[0].eq(first.src_sel_x),
            found.offset.eq(third.offset[2:]),
            found.illegal.eq(
                reserved
                | others
                | Mux(is_constant, of_constants, of_input)
                | Cat(select == _UNUSED_SELECT for select in selects).any()
            ),
        ]
        if self._draws:
            of_threads = is_of_threads(self.program.stage)
            with m.If(of_threads & ~is_constant):
                self._buffer(m, first, second, third, others)

    def _buffer(self, m: Module, first: data.View, second: data.View, third: data.View, others: Value) -> None:
        """A fetch from a vertex buffer or ring, where it differs from one of an input."""
        found, reserved = self.fetch, self._forms(fetch.VERTEX)[1]
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
        selects = [Value.cast(second[f"dst_sel_{component}"]) for component in "xyzw"]
        m.d.comb += [
            number.eq(first.buffer_id - self.program.draw.first_buffer),
            found.task.eq(Task.VERTEX),
            found.one_is_float.eq(Value.cast(element.numeric) != Numeric.INTEGER.value),
            found.vertex.buffer.eq(Mux(of_vertices, number, VERTEX_BUFFERS + ring)),
            found.vertex.offset.eq(third.offset),
            found.vertex.by_instance.eq(first.fetch_type == FetchType.INSTANCE_DATA.value),
            found.vertex.element.eq(element),
            found.vertex.channels.eq(channels),
            found.illegal.eq(
                reserved
                | others
                | Mux(of_vertices, no_buffer, no_ring)
                | ~exists
                | Cat(select == _UNUSED_SELECT for select in selects).any()
            ),
        ]

    def _area(self, m: Module) -> None:
        """RD_SCATTER, RD_SCRATCH."""
        found, access, program = self.fetch, self.fetch.access, self.program
        (first, second, third, _), reserved = self._forms(fetch.MEMORY_READ)
        selects = [Value.cast(second[f"dst_sel_{component}"]) for component in "xyzw"]
        vectors = FetchFormat.INT32_4.value, FetchFormat.FLOAT32_4.value
        m.d.comb += [
            found.task.eq(Task.AREA),
            found.source.eq(first.src_gpr),
            found.source_relative.eq(first.src_rel),
            found.destination.eq(second.dst_gpr),
            found.destination_relative.eq(second.dst_rel),
            *(target.eq(select) for target, select in zip(found.selects, selects, strict=True)),
            found.coordinates[0].eq(first.src_sel_x),
            found.burst.eq(first.burst_count),
            access.scratch.eq(Value.cast(first.mem_op) == MemoryOperation.RD_SCRATCH.value),
            access.indexed.eq(first.indexed),
            access.base.eq(third.array_base),
            access.size.eq(third.array_size),
            access.element.eq(first.elem_size),
            found.illegal.eq(
                reserved
                | first.lds_req
                | first.coalesced_read
                | third.endian_swap.any()
                | (first.elem_size == _UNUSED_ELEMENT)
                | ~Value.cast(second.data_format).matches(*vectors)
                | Mux(access.scratch, ~program.scratch, ~program.memory)
                | Cat(select == _UNUSED_SELECT for select in selects).any()
            ),
        ]

    def _share_write(self, m: Module) -> None:
        """LOCAL_DS_WRITE."""
        found = self.fetch
        (first, second, third, _), reserved = self._forms(fetch.SHARE_WRITE)
        m.d.comb += [
            found.task.eq(Task.SHARE_WRITE),
            found.source.eq(first.src_gpr),
            *(target.eq(first[f"src_sel_{name}"]) for target, name in zip(found.selects, "xyzw", strict=True)),
            found.index.eq(Cat(second.dst_index, second.dst_index_ext)),
            found.stride.eq(Cat(second.dst_stride, second.dst_stride_ext)),
            found.burst.eq(third.burst_count),
            found.illegal.eq(
                reserved
                | first.src_rel_mode.any()
                | ~second.simd_wave_rel
                | found.index[:_ROW_BITS].any()
                | found.stride[:_ROW_BITS].any()
            ),
        ]

    def _share_read(self, m: Module) -> None:
        """LOCAL_DS_READ."""
        found = self.fetch
        (first, second, third, _), reserved = self._forms(fetch.SHARE_READ)
        mux = Value.cast(second.mux_cntl)
        masks = [second[f"dst_wr_{name}"] for name in "xyzw"]
        m.d.comb += [
            found.task.eq(Task.SHARE_READ),
            found.source.eq(first.src_gpr),
            found.destination.eq(second.dst_gpr),
            *(
                target.eq(Mux(mask, position, ComponentSelect.MASK.value))
                for position, (target, mask) in enumerate(zip(found.selects, masks, strict=True))
            ),
            found.coordinates[0].eq(first.src_sel_x),
            found.coordinates[1].eq(first.src_sel_y),
            found.offset.eq(first.rd_offset),
            found.broadcasts.eq(second.broadcast),
            found.selects_word.eq(mux == Multiplex.WORD_SELECT.value),
            found.burst.eq(third.burst_count),
            found.illegal.eq(
                reserved
                | first.src_rel_mode.any()
                | second.dst_rel_mode.any()
                | first.src_sel_x[2]
                | first.src_sel_y[2]
                | ((mux != Multiplex.NONE.value) & ~found.selects_word)
            ),
        ]

    def _texture(self, m: Module) -> None:
        """An instruction of a texture clause."""
        found = self.fetch
        (first, second, third, _), reserved = self._forms(fetch.TEXTURE)
        number = Signal(signed(11))
        selects = [Value.cast(second[f"dst_sel_{component}"]) for component in "xyzw"]
        code = Value.cast(first.tex_inst)
        needs_input = Signal()
        m.d.comb += [
            number.eq(first.resource_id - self.program.texture_base),
            found.input.eq(number),
            found.source.eq(first.src_gpr),
            found.source_relative.eq(first.src_rel),
            found.destination.eq(second.dst_gpr),
            found.destination_relative.eq(second.dst_rel),
            *(target.eq(select) for target, select in zip(found.selects, selects, strict=True)),
            *(found.coordinates[position].eq(third[f"src_sel_{name}"]) for position, name in enumerate("xyzw")),
            *(found.offsets[position].eq(third[f"offset_{name}"]) for position, name in enumerate("xy")),
            found.normalised.eq(Cat(second.coord_type_x, second.coord_type_y)),
            found.vertical.eq(code == TextureOperation.GET_GRADIENTS_V.value),
        ]
        is_legal = Signal()
        tasks = {
            Task.SAMPLE: _SAMPLES,
            Task.LOAD: (TextureOperation.LD,),
            Task.SIZE: (TextureOperation.GET_TEXTURE_RESINFO,),
            Task.GRADIENT: (TextureOperation.GET_GRADIENTS_H, TextureOperation.GET_GRADIENTS_V),
            Task.NOTHING: (
                TextureOperation.KEEP_GRADIENTS, TextureOperation.SET_GRADIENTS_H, TextureOperation.SET_GRADIENTS_V,
            ),
        }  # fmt: skip
        with m.Switch(code):
            for task, operations in tasks.items():
                with m.Case(*(operation.value for operation in operations)):
                    m.d.comb += [found.task.eq(task), is_legal.eq(1)]
        is_input = (number >= 0) & (number < INPUTS)
        m.d.comb += [
            needs_input.eq((found.task != Task.GRADIENT) & (found.task != Task.NOTHING)),
            found.illegal.eq(
                ~is_legal
                | reserved
                | first.alt_const
                | first.bc_frac_mode
                | Cat(select == _UNUSED_SELECT for select in selects).any()
                | (needs_input & ~is_input)
            ),
        ]
