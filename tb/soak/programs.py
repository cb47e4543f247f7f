"""Programs for drawn work: random ones, and short ones whose domain may be long."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ctm.rtl.isa.executable import ELF_HEADER_BYTES
from ctm.rtl.isa.r5xx.program import FG_DEPTH_SRC, US_CONFIG, US_FC_CTRL
from ctm.rtl.isa.word import pack
from ctm.sim.assembler import assemble
from ctm.sim.elf import write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.fault import MachineError
from ctm.sim.golden.pe.loader import load
from ctm.sim.memory import Memory
from ctm.tb.draws.scene import Scene
from ctm.tb.r5xx.random_instructions import INPUTS, READ_BACK
from ctm.tb.r5xx.random_programs import Program
from ctm.tb.soak.regions import Region, Space

READS_OUTPUT = """
TEX r1 = LOOKUP(i0, r0.rg) unscaled
ALU r1.rgb = MAD(r1, c0, c1.abg) || r1.a = MAD(r1.a, c2.a, r1.r)
OUT o0 = MAX(r1, c3)
"""
"""Each pixel reads and writes its own element only."""
FAN_OUT = """
TEX r1 = LOOKUP(i0, r0.gr) unscaled
TEX r2 = LOOKUP(i1, r0.rg)
OUT o0 = MIN(r1, r1)
OUT o1.rg = MAD(r0, c0, r2)
OUT o2.ba = MAD(r2, r1, c1)
OUT o3 = ADD(r1, r2)
"""
TRANSPOSE = """
.uncached_writes
TEX r1.r = LOOKUP(i0, r0.rg) unscaled
ALU r1.gb = MOV(r0.ggr)
OUT umrt[per_processor_idx] = MOV(r1)
"""
VALUES = """
TEX r1 = LOOKUP(i2, r0.rg) unscaled
OUT w = MOV(r1.r)
OUT o0 = MAD(r1, c0, r0)
"""
ENDLESS = """
TEX r1 = LOOKUP(i0, r0.rg) unscaled
FC JUMP -> 1 jump_func=ALWAYS
OUT o0 = MOV(r1)
"""


@dataclass(frozen=True, eq=False)
class Executables:
    """A program; `own` if each pixel reads its own pair only, `short` if its domain may be long.

    `uncached`: it writes output 0, and no other, past the caches; `scratch`: so it does with the last one. With a
    `scene` it is a draw's: `one_batch` if hardware shades its vertices together, `counted` if it shades each once.
    """

    image: bytes
    uncached: bool = False
    scratch: bool = False
    own: bool = False
    short: bool = True
    scene: Scene | None = None
    one_batch: bool = True
    counted: bool = True

    def lines(self, base: int) -> list[range]:
        """Lines without code: an error response ends the program in the model, in the machine wavefronts alone."""
        offset, size = struct.unpack_from("<I8xI", self.image, ELF_HEADER_BYTES + 4)
        first, after, end = base // 64, -(-(base + offset + size) // 64), -(-(base + len(self.image)) // 64)
        assert offset >= 64
        return [range(first, first + 1), *([range(after, end)] if after < end else [])]


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A draw in memory: its commands, with its state; the regions of others that have its vertices; a domain.

    What the `undefined` regions hold after it is not defined.
    """

    commands: list[list[int]]
    vertices: frozenset[Region]
    domain: list[int]
    undefined: list[Region]


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where programs of an instruction set come from.

    They read the inputs 0 to `inputs` - 1, and output 0, if they write it past the caches, as input `read_back`; only
    `linear` outputs can be written so. `draw_scene` allocates and draws a program's scene.
    """

    kind: str
    draw: Callable[[np.random.Generator], Executables]
    inputs: int
    read_back: int | None = None
    linear: bool = False
    draw_scene: Callable[[np.random.Generator, Space, Executables, Sequence[Region]], Drawn] | None = None


@cache
def _short(source: str) -> Executables:
    executable = assemble(source)
    return Executables(
        write(executable), uncached=executable.uncached_writes, own=source == READS_OUTPUT, short=source != ENDLESS
    )


def _random(generator: np.random.Generator, *, uncached: bool) -> Executables:
    full = bool(generator.random() < 0.85)
    program = Program(generator, size=int(generator.integers(4, 20)), full=full, uncached=uncached)
    offset = int(generator.choice([0, 0, 0, 5]))
    executable = Executable(
        instructions=((0,) * 6,) * offset + tuple(program.code), start=program.start, end=len(program.code) - 1,
        offset=offset, highest_temporary=program.highest_temporary,
        us_config=pack(US_CONFIG, zero_times_anything=int(generator.integers(2))),
        us_fc_ctrl=pack(US_FC_CTRL, full_fc_en=int(full)),
        fg_depth_src=pack(FG_DEPTH_SRC, from_program=int(generator.integers(2))), uncached_writes=uncached,
    )  # fmt: skip
    return Executables(write(executable), uncached=uncached, short=False)


def draw_program(generator: np.random.Generator) -> Executables:
    """A legal program; some fault."""
    if generator.random() < 0.03:
        return _short(ENDLESS)
    if generator.random() < 0.55:
        return _random(generator, uncached=bool(generator.random() < 0.15))
    return _short([READS_OUTPUT, READS_OUTPUT, FAN_OUT, TRANSPOSE, VALUES][int(generator.integers(5))])


R5XX = Source(kind="r5xx", draw=draw_program, inputs=INPUTS, read_back=READ_BACK)


def damaged(generator: np.random.Generator, image: bytes, kind: str) -> bytes:
    """The image with a mistake that the loader finds."""
    while True:
        words = np.frombuffer(image[: len(image) // 4 * 4], "<u4").copy()
        index = int(generator.integers(min(words.size, 64)))
        words[index] ^= np.uint32(1 << int(generator.integers(32)))
        memory = Memory()
        memory.write(0, words.tobytes())
        try:
            load(memory, 0, kind)
        except MachineError:
            return words.tobytes()
