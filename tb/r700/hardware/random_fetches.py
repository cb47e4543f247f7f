"""Draws programs of fetch clauses: every instruction, select, offset, coordinate and format, some of them illegal.

What is read is never what others write, so results are defined.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ctm.rtl.isa.formats import ELEMENTS, DataFormat, Tiling
from ctm.rtl.isa.r700.fetch import LOOKUPS, SUPPORTED, FetchFormat, TextureOperation
from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.runtime import Layout
from ctm.tb.lib.random_values import random_floats
from ctm.tb.r700.assembly import Assembly, Label
from ctm.tb.r700.machine import Input, Job, RawInput
from ctm.tb.r700.words import (
    Unit,
    export,
    group,
    memory_export,
    memory_read,
    share_read,
    share_write,
    slot,
    tex,
    vtx,
)

_GPRS = 16
_POSITION = _GPRS - 1
"""The register that holds where a pixel's registers go in the end; no instruction writes it."""
_MOST_INDEX = 3
"""aL is at most this."""
_DRAWN = range(8)
"""Inputs of drawn layouts; the next ones hold the words that registers begin with."""
_LOADED = range(8, 14)
_CONSTANT_ROWS = (0, 1, 2, 100, 254, 255)
_SIZES = ((1, 1), (5, 2), (5, 5), (8, 4), (7, 9), (13, 3))
_MOST_DWORDS = 4 * _GPRS * 7 * 9
_LDS_DWORDS = (0, 4, 16, 64)
_TEXTURE_BASES = (0, 18)
_ILLEGAL = 0.05
"""The share of instructions of which some field is drawn at random, whatever it then is."""
_OTHERS = tuple(operation for operation in TextureOperation if operation not in SUPPORTED)
_FIELDS = {
    "tex": ("tex_inst", "bc_frac_mode", "reserved_low", "alt_const", "reserved_high", "reserved", "dst_sel_y"),
    "vtx": ("vtx_inst", "use_const_fields", "endian_swap", "const_buf_no_stride", "alt_const", "data_format"),
}


class _Drawing:
    """One program: `generator` draws it all; it has a scratch, or none."""

    def __init__(self, generator: np.random.Generator, *, scratch: bool) -> None:
        self.generator, self.scratch = generator, scratch
        self.base = int(self.pick(_TEXTURE_BASES))
        self.lds = int(self.pick(_LDS_DWORDS))
        self.faults = self.happens(0.3)

    @property
    def information(self) -> dict[str, Any]:
        """What its executable says of it."""
        return {
            "gprs": _GPRS, "type": ProgramType.CS, "scratch": self.scratch, "texture_base": self.base,
            "lds_dwords": self.lds,
        }  # fmt: skip

    def below(self, end: int) -> int:
        return int(self.generator.integers(end))

    def happens(self, share: float) -> bool:
        return bool(self.generator.random() < share)

    def pick(self, values: Sequence[Any]) -> Any:
        return values[self.below(len(values))]

    def clause(self, a: Assembly) -> None:
        """A clause, of all pixels or of some, as a loop's body or by itself."""
        some, loops = self.happens(0.5), self.happens(0.5)
        if loops:
            after = Label()
            loop = a.flow("LOOP_START", to=after, const=self.below(2))
        if some:
            register, channel = self.below(_POSITION), self.pick("xyzw")
            kind = self.pick(("GT", "NE", "GE"))
            test = slot(f"PRED_SET{kind}", "_.x", f"R{register}.{channel}", "0", updates_mask=True)
            a.alu(group(test), name="ALU_PUSH_BEFORE")
        name = self.pick(("TEX", "TEX", "TEX", "VTX", "VTX_TC"))
        modes = {"whole_quad_mode": 1} if self.happens(0.15) else {"valid_pixel_mode": int(self.happens(0.15))}
        count = 1 + self.below(self.pick((3, 8, 16)))
        a.fetch(*(self.instruction(name == "TEX", loops) for _ in range(count)), name=name, **modes)
        if some:
            a.flow("POP", pop=1)
        if loops:
            a.flow("LOOP_END", to=loop + 1)
            a.bind(after)
        if self.scratch and self.happens(0.3):
            a.raw(memory_export(self.below(2), self.below(_GPRS), name="MEM_SCRATCH", elem_size=3))

    def instruction(self, texture: bool, loops: bool) -> list[Unit]:
        draws = [self._vertex, self._constants, self._share_write, self._share_read]
        if self.scratch:
            draws.append(self._scratch)
        if texture:
            draws = [self._texture] * 7 + draws
        return self.pick(draws)(self._registers(loops))

    def _registers(self, loops: bool) -> dict[str, int]:
        relative = loops and self.happens(0.3)
        destination = self.below(_POSITION - (_MOST_INDEX if relative else 0))
        if self.happens(0.1):
            destination = self.pick((_GPRS, 60, 123, 124, 127))
        return {"dst_gpr": destination, "dst_rel": int(relative), "src_gpr": self._source(),
                "src_rel": int(loops and self.happens(0.3))}  # fmt: skip

    def _source(self) -> int:
        return int(self.pick((_GPRS, 123, 125))) if self.happens(0.05) else self.below(_GPRS)

    def _selects(self) -> dict[str, int]:
        if self.happens(0.4):
            return {}
        return {f"dst_sel_{component}": int(self.pick((0, 1, 2, 3, 4, 5, 7))) for component in "xyzw"}

    def _spoilt(self, form: str) -> dict[str, int]:
        """Seldom a field that may be illegal."""
        if not self.faults or not self.happens(_ILLEGAL):
            return {}
        return {self.pick(_FIELDS[form]): 1}

    def _texture(self, fields: dict[str, int]) -> list[Unit]:
        operation = self.pick(LOOKUPS if self.happens(0.6) else SUPPORTED)
        if self.faults and self.happens(_ILLEGAL):
            operation = self.pick(_OTHERS)
        resource = self.base + self.below(len(_DRAWN))
        if self.faults and self.happens(_ILLEGAL):
            resource = self.pick((self.base + 16, self.base - 1, 255)) % 256
        drawn = {f"src_sel_{component}": self.below(8) for component in "xyzw"} if self.happens(0.4) else {}
        kinds = {f"coord_type_{component}": self.below(2) for component in "xyzw"}
        offsets = {f"offset_{axis}": self.below(32) for axis in "xyz"} if self.happens(0.5) else {}
        ignored = {"lod_bias": self.below(128), "sampler_id": self.below(18), "fetch_whole_quad": self.below(2)}
        drawn |= kinds | offsets | ignored
        return tex(operation.name, 0, 0, resource, **{**fields, **self._selects(), **drawn, **self._spoilt("tex")})

    def _vertex(self, fields: dict[str, int]) -> list[Unit]:
        """An element of an input by its number."""
        buffer = self.base + self.below(len(_DRAWN))
        if self.faults and self.happens(_ILLEGAL):
            buffer = self.pick((self.base + 16, 255))
        return vtx(0, 0, max(1, buffer), **{**fields, **self._selects(), **self._ignored(), **self._spoilt("vtx")})

    def _constants(self, fields: dict[str, int]) -> list[Unit]:
        drawn = {"data_format": self.pick(tuple(FetchFormat)).value, "offset": 4 * self.below(20)}
        if self.faults and self.happens(_ILLEGAL):
            drawn["offset"] += 1
        return vtx(0, 0, 0, **{**fields, **self._selects(), **self._ignored(), **drawn, **self._spoilt("vtx")})

    def _ignored(self) -> dict[str, int]:
        return {"src_sel_x": self.below(4), "fetch_type": self.below(4), "mega_fetch_count": self.below(64)}

    def _share_write(self, fields: dict[str, int]) -> list[Unit]:
        drawn = {f"src_sel_{component}": self.below(8) for component in "xyzw"} if self.happens(0.5) else {}
        return share_write(self.below(_GPRS), dst_stride=4 * self.below(4), dst_index=4 * self.below(4),
                           burst_count=self.below(3), **drawn)  # fmt: skip

    def _share_read(self, fields: dict[str, int]) -> list[Unit]:
        masks = {f"dst_wr_{component}": int(self.happens(0.8)) for component in "xyzw"}
        burst = self.below(3)
        drawn = {f"src_sel_{component}": self.below(4) for component in "xy"}
        return share_read(self.below(_POSITION - burst), fields["src_gpr"], rd_offset=self.below(64),
                          broadcast=int(self.happens(0.2)), waterfall=self.below(2), mux_cntl=self.pick((0, 2)),
                          burst_count=burst, **drawn, **masks)  # fmt: skip

    def _scratch(self, fields: dict[str, int]) -> list[Unit]:
        burst = self.below(3)
        own = {**fields, "dst_gpr": self.below(_POSITION - burst), "dst_rel": 0}
        return memory_read("RD_SCRATCH", 0, 0, **{**own, **self._selects()}, burst_count=burst, elem_size=3,
                           array_base=self.below(3), indexed=int(self.happens(0.2)))  # fmt: skip

    def words(self, height: int, width: int) -> np.ndarray:
        """What a register begins with: floats and numbers of elements, within inputs and around, and anything."""
        generator, shape = self.generator, (height, width, 4)
        kinds = [
            generator.uniform(-2, 40, shape).astype(np.float32).view(np.uint32),
            generator.uniform(-0.2, 1.2, shape).astype(np.float32).view(np.uint32),
            generator.integers(-3, 40, shape).astype(np.int32).view(np.uint32),
            generator.integers(0, 1200, shape).astype(np.uint32),
            random_floats(generator, shape),
        ]
        if self.happens(0.7):
            return kinds[self.below(len(kinds))]
        return np.choose(generator.integers(len(kinds), size=shape), kinds)

    def input(self) -> RawInput:
        """An input of any format and tiling."""
        generator, data_format = self.generator, self.pick(tuple(DataFormat))
        tilings = list(Tiling) if ELEMENTS[data_format].channels == 1 else [Tiling.LINEAR, Tiling.TILED]
        width, height = (int(size) for size in generator.integers(1, 41, 2))
        layout = Layout(width=width, height=height, format=data_format, tiling=self.pick(tilings))
        words = random_floats(generator, (-(-layout.size // 4),))
        return RawInput(layout=layout, image=words.astype("<u4").tobytes()[: layout.size])


def _program(drawing: _Drawing) -> Assembly:
    """A program without its end; register 15 has the pixel's number, in a compute program, times the registers."""
    a = Assembly()
    a.alu(group(slot("LSHL_INT", f"R{_POSITION}.x", "R0.z", "#4"), slot("MOV", f"R{_POSITION}.y", "R0.w")))
    # A register's first words come from its input; the first one, which has the position, comes last.
    loads = zip(_LOADED, (3, 6, 9, 12, 1, 0), strict=True)
    a.fetch(*(tex("LD", register, 0, drawing.base + number) for number, register in loads))
    for _ in range(1 + drawing.below(4)):
        drawing.clause(a)
    return a


def draw_pixel_program(generator: np.random.Generator, *, scratch: bool) -> Executable:
    """A program that gives some of its registers to outputs, of which the last one may be the scratch."""
    drawing = _Drawing(generator, scratch=scratch)
    a, count = _program(drawing), 3 if scratch else 4
    for target, register in enumerate(generator.choice(_GPRS, count, replace=False)):
        a.raw(export(target, int(register)))
    a.end()
    return a.executable(**drawing.information)


def draw_job(seed: int) -> Job:
    """The job of a seed: a program whose pixels write all of their registers to memory."""
    generator = np.random.default_rng([seed, 0xFE7C])
    drawing = _Drawing(generator, scratch=True)
    a = _program(drawing)
    a.raw(memory_export(0, 0, type=1, index_gpr=_POSITION, burst_count=_GPRS - 1, elem_size=3))
    a.end()
    width, height = drawing.pick(_SIZES)
    i0, j0 = drawing.below(3), drawing.below(3)
    covered = None
    if drawing.happens(0.4):
        covered = generator.random((height + j0, width + i0)) < generator.choice([0.3, 0.8])
    inputs: dict[int, Any] = {number: drawing.input() for number in _DRAWN if drawing.happens(0.85)}
    inputs |= {number: Input(values=drawing.words(j0 + height, i0 + width)) for number in _LOADED}
    ints = {number: (1 + drawing.below(3), drawing.below(2), drawing.below(2)) for number in range(2)}
    floats = {row: tuple(map(int, random_floats(generator, (4,)))) for row in _CONSTANT_ROWS}
    return Job(
        program=a.executable(memory=True, **drawing.information), domain=(i0, j0, i0 + width - 1, j0 + height - 1),
        covered=covered, inputs=inputs, ints=ints, floats=floats, targets=0, dwords=_MOST_DWORDS, watchdog=1 << 17,
    )  # fmt: skip
