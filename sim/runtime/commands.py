"""Command buffers: one method per command, under the manual's name.

Source: CTM Guide pp. 8-22. Numbers are those of the manual's parameter words; `CommandBuffer.append` takes any.
"""

from numbers import Integral
from typing import Self

import numpy as np

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.draws import (
    ALL_BY_NAME,
    INDEX_WORD,
    LARGEST_POINT,
    POINT_SIZE,
    POINT_STEPS,
    RASTER,
    IndexFormat,
    PrimitiveType,
    Ring,
)
from ctm.rtl.isa.word import pack
from ctm.sim.runtime.types import check_type


class CommandBuffer:
    """A sequence of commands. Every method returns the buffer, so calls can be chained."""

    def __init__(self) -> None:
        self.words: list[int] = []

    def __bytes__(self) -> bytes:
        return np.array(self.words, "<u4").tobytes()

    def append(self, name: str, *parameters: int) -> Self:
        """Append the command `name` with its parameter words.

        Raises
        ------
        ValueError
            There is no such command, it takes another number of parameters, or one is no 32-bit word.
        """
        if name not in ALL_BY_NAME:
            raise ValueError(f"there is no command '{name}'")
        command = ALL_BY_NAME[name]
        if len(parameters) != len(command.parameters):
            raise ValueError(f"{name} takes {len(command.parameters)} parameters, not {len(parameters)}")
        for parameter, value in zip(command.parameters, parameters, strict=True):
            check_type(f"{name}: {parameter}", value, Integral)
            if not 0 <= value < 1 << 32:
                raise ValueError(f"{name}: {parameter} is no 32-bit word: {value}")
        self.words += [command.word, *map(int, parameters)]
        return self

    def init_perf_counters(self, *, enable: bool) -> Self:
        """Enable or disable the performance counters; p. 12."""
        return self.append("init_perf_counters", int(enable))

    def start_perf_counters(self) -> Self:
        """Clear and start the performance counters; p. 12."""
        return self.append("start_perf_counters", 0)

    def stop_perf_counters(self) -> Self:
        """Stop the performance counters; p. 12."""
        return self.append("stop_perf_counters", 0)

    def read_perf_counters(self, address: int) -> Self:
        """Write both performance counters to memory; p. 12."""
        return self.append("read_perf_counters", address)

    def set_cond_val(self, value: float) -> Self:
        """Set the conditional value that the PE sends; p. 10."""
        return self.append("set_cond_val", int(np.float32(value).view(np.uint32)))

    def set_domain(self, i0: int, j0: int, i1: int, j1: int) -> Self:
        """Set the domain, both ends included; p. 10."""
        return self.append("set_domain", i0, j0, i1, j1)

    def start_program(self) -> Self:
        """Run the program once for every pair of the domain; p. 11."""
        return self.append("start_program", 0)

    def wait_for_idle(self) -> Self:
        """Wait until all cores are idle; p. 11."""
        return self.append("wait_for_idle", 0)

    def set_inst_fmt(self, base: int) -> Self:
        """Set the address of the executable's image; p. 14."""
        return self.append("set_inst_fmt", base, 0)

    def set_inp_fmt(self, index: int, base: int, format_word: int, height: int) -> Self:
        """Describe an input; p. 15."""
        return self.append("set_inp_fmt", index, base, format_word, height)

    def set_out_fmt(self, index: int, base: int, format_word: int, height: int) -> Self:
        """Describe an output; p. 16."""
        return self.append("set_out_fmt", index, base, format_word, height)

    def set_cond_out_fmt(self, base: int, format_word: int, height: int) -> Self:
        """Describe the conditional buffer; p. 18."""
        return self.append("set_cond_out_fmt", base, format_word, height)

    def set_constf_fmt(self, base: int, format_word: int = 0) -> Self:
        """Set the address of the float constants; p. 19."""
        return self.append("set_constf_fmt", base, format_word)

    def set_consti_fmt(self, base: int, format_word: int = 0) -> Self:
        """Set the address of the integer constants; p. 19."""
        return self.append("set_consti_fmt", base, format_word)

    def set_constb_fmt(self, base: int, format_word: int = 0) -> Self:
        """Set the address of the boolean constants; p. 19."""
        return self.append("set_constb_fmt", base, format_word)

    def inv_inst_cache(self) -> Self:
        """Invalidate the instruction cache; the program is loaded again; p. 20."""
        return self.append("inv_inst_cache", 0)

    def inv_constf_cache(self) -> Self:
        """Invalidate the float constant cache; p. 20."""
        return self.append("inv_constf_cache", 0)

    def inv_consti_cache(self) -> Self:
        """Invalidate the integer constant cache; p. 20."""
        return self.append("inv_consti_cache", 0)

    def inv_constb_cache(self) -> Self:
        """Invalidate the boolean constant cache; p. 20."""
        return self.append("inv_constb_cache", 0)

    def inv_cond_out_cache(self) -> Self:
        """Invalidate the conditional output cache; p. 20."""
        return self.append("inv_cond_out_cache", 0)

    def inv_inp_cache(self) -> Self:
        """Invalidate the input cache; p. 20."""
        return self.append("inv_inp_cache", 0)

    def flush_out_cache(self) -> Self:
        """Write the output cache to memory; p. 21."""
        return self.append("flush_out_cache", 0)

    def flush_cond_out_cache(self) -> Self:
        """Write the conditional output cache to memory; p. 21."""
        return self.append("flush_cond_out_cache", 0)

    def set_out_mask(self, *, red: bool = True, green: bool = True, blue: bool = True, alpha: bool = True) -> Self:
        """Enable channels of all outputs; p. 21."""
        return self.append("set_out_mask", red | green << 1 | blue << 2 | alpha << 3)

    def set_cond_out_mask(self, *, enable: bool) -> Self:
        """Enable writes of the conditional buffer; p. 21."""
        return self.append("set_cond_out_mask", int(enable))

    def set_cond_test(self, test: ConditionalTest) -> Self:
        """Choose the conditional test; p. 22."""
        check_type("test", test, ConditionalTest)
        return self.append("set_cond_test", test.value)

    def set_cond_loc(self, location: ConditionalLocation) -> Self:
        """Choose the unit whose conditional test is made; p. 22."""
        check_type("location", location, ConditionalLocation)
        return self.append("set_cond_loc", location.value)

    def set_vtx_fmt(self, index: int, address: int, size: int, stride: int) -> Self:
        """Describe a vertex buffer: bytes in all, and from element to element; R700 draws."""
        return self.append("set_vtx_fmt", index, address, size, stride)

    def set_idx_fmt(self, address: int, index_format: IndexFormat, *, restart: int | None = None) -> Self:
        """Describe the index buffer; `restart` is the index that begins a new strip; R700 draws."""
        check_type("index_format", index_format, IndexFormat)
        word = pack(INDEX_WORD, format=index_format.value, restart=int(restart is not None))
        return self.append("set_idx_fmt", address, word, restart or 0)

    def set_ring_fmt(self, ring: Ring, base: int, dwords: int) -> Self:
        """Describe a ring; R700 draws."""
        check_type("ring", ring, Ring)
        return self.append("set_ring_fmt", ring.value, base, dwords)

    def set_strm_fmt(self, index: int, base: int, dwords: int, stride: int) -> Self:
        """Describe what a stream is written to, and empty it; R700 draws."""
        return self.append("set_strm_fmt", index, base, dwords, stride)

    def set_vport(self, x_scale: float, x_offset: float, y_scale: float, y_offset: float) -> Self:
        """Set the viewport's x and y; R700 draws."""
        return self.append("set_vport", *map(_bits, (x_scale, x_offset, y_scale, y_offset)))

    def set_vport_z(self, scale: float, offset: float, lowest: float, highest: float) -> Self:
        """Set the viewport's z, and the range of depth; R700 draws."""
        return self.append("set_vport_z", *map(_bits, (scale, offset, lowest, highest)))

    def set_raster(self, primitive: PrimitiveType, *, point_size: float = 1.0, **flags: bool) -> Self:
        """Set how primitives are assembled, clipped and drawn: the flags of `ctm.rtl.isa.draws.RASTER`; R700 draws.

        `point_size` is the side of points in pixels, up to `LARGEST_POINT`, rounded to 1/8.

        Raises
        ------
        ValueError
            The size is negative, too large, or no number.
        """
        check_type("primitive", primitive, PrimitiveType)
        if not 0 <= point_size <= LARGEST_POINT:
            raise ValueError(f"a point's size is 0..{LARGEST_POINT} pixels, not {point_size}")
        word = pack(RASTER, primitive=primitive.value, **{name: int(flag) for name, flag in flags.items()})
        return self.append("set_raster", word, pack(POINT_SIZE, radius=round(POINT_STEPS * point_size)))

    def start_draw(self, count: int, *, instances: int = 1, base_vertex: int = 0, first_instance: int = 0) -> Self:
        """Draw `count` vertices or indices; the base vertex may be negative; R700 draws."""
        return self.append("start_draw", count, instances, base_vertex % (1 << 32), first_instance)

    def read_strm(self, index: int, address: int) -> Self:
        """Write the filled dwords of a stream to memory; R700 draws."""
        return self.append("read_strm", index, address)

    def inv_vtx_cache(self) -> Self:
        """Invalidate the vertex cache; R700 draws."""
        return self.append("inv_vtx_cache", 0)


def _bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))
