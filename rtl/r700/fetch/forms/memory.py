"""Memory reads and accesses to the local data share.

Source: R700-Family Instruction Set Architecture, chapter 5; docs/design/r700-core.md.
"""

from amaranth import Cat, Module, Mux, Value

from ctm.rtl.isa.r700 import fetch
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.fetch import FetchFormat, MemoryOperation, Multiplex
from ctm.rtl.isa.r700.limits import LDS_ROW
from ctm.rtl.r700.fetch.forms.form import FetchForm, has_unused_select, read_words, registers_and_selects
from ctm.rtl.r700.fetch.operation import Task

_UNUSED_ELEMENT = 2
_ROW_BITS = LDS_ROW.bit_length() - 1


class AreaForm(FetchForm):
    """RD_SCATTER, RD_SCRATCH."""

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        found, access, program = self.fetch, self.fetch.access, self.program
        (first, second, third, _), reserved = read_words(self.words, fetch.MEMORY_READ)
        vectors = FetchFormat.INT32_4.value, FetchFormat.FLOAT32_4.value
        scratch = Value.cast(first.mem_op) == MemoryOperation.RD_SCRATCH.value
        m.d.comb += [
            found.task.eq(Task.AREA),
            *registers_and_selects(found, first, second),
            found.coordinates[0].eq(first.src_sel_x),
            found.burst.eq(first.burst_count),
            access.scratch.eq(scratch),
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
                | Mux(scratch, ~program.scratch, ~program.memory)
                | has_unused_select(second)
            ),
        ]
        return m


class ShareWriteForm(FetchForm):
    """LOCAL_DS_WRITE."""

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        found = self.fetch
        (first, second, third, _), reserved = read_words(self.words, fetch.SHARE_WRITE)
        index, stride = Cat(second.dst_index, second.dst_index_ext), Cat(second.dst_stride, second.dst_stride_ext)
        m.d.comb += [
            found.task.eq(Task.SHARE_WRITE),
            found.source.eq(first.src_gpr),
            *(target.eq(first[f"src_sel_{name}"]) for target, name in zip(found.selects, "xyzw", strict=True)),
            found.index.eq(index),
            found.stride.eq(stride),
            found.burst.eq(third.burst_count),
            found.illegal.eq(
                reserved
                | first.src_rel_mode.any()
                | ~second.simd_wave_rel
                | index[:_ROW_BITS].any()
                | stride[:_ROW_BITS].any()
            ),
        ]
        return m


class ShareReadForm(FetchForm):
    """LOCAL_DS_READ."""

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        found = self.fetch
        (first, second, third, _), reserved = read_words(self.words, fetch.SHARE_READ)
        mux = Value.cast(second.mux_cntl)
        selects_word = mux == Multiplex.WORD_SELECT.value
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
            found.selects_word.eq(selects_word),
            found.burst.eq(third.burst_count),
            found.illegal.eq(
                reserved
                | first.src_rel_mode.any()
                | second.dst_rel_mode.any()
                | first.src_sel_x[2]
                | first.src_sel_y[2]
                | ((mux != Multiplex.NONE.value) & ~selects_word)
            ),
        ]
        return m
