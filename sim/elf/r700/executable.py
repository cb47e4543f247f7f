"""An R700 program, as its executable holds it."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from ctm.rtl.isa.draws import DRAW_OUTPUTS
from ctm.rtl.isa.limits import OUTPUTS
from ctm.rtl.isa.r700 import program as r700
from ctm.rtl.isa.r700.limits import CODE_UNITS, KCACHE_LINE_ROWS, UNIT_WORDS
from ctm.rtl.isa.r700.pipeline import DrawStage, Pipeline, pipeline_of
from ctm.rtl.isa.r700.program import MEMORY_OUTPUT, SCRATCH_OUTPUT, ProgramType
from ctm.rtl.isa.word import pack
from ctm.sim.elf.constants import OwnConstants
from ctm.sim.elf.lines import Lines
from ctm.sim.elf.notes import Notes
from ctm.sim.elf.r700.usage import Usage, usage

Unit = tuple[int, ...]
"""The two 32-bit words of a unit of code, word 0 first."""


@dataclass(frozen=True, kw_only=True)
class Executable:
    """CF instructions and clauses as units of code, and what the note "R700 program" says of them.

    The code's unit 0 is address 0; control flow begins at `start`. A value out of range raises ValueError. Programs
    that differ in their line tables only are equal.
    """

    kind: ClassVar[str] = "r700"
    """The instruction set that the program is for."""

    code: tuple[Unit, ...]
    start: int = 0
    type: ProgramType = ProgramType.PS
    gprs: int = 1
    stack_size: int = 0
    dx10_clamp: bool = False
    depth: bool = False
    memory: bool = False
    scratch: bool = False
    texture_base: int = 0
    lds_dwords: int = 0
    stage: DrawStage | None = None
    """Of one program of a draw, which it is: it is linked with the others before it can be loaded."""
    pipeline: Pipeline | None = None
    """Of a draw, its other programs; this one is its pixel program."""
    lines: Lines | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= len(self.code) <= CODE_UNITS:
            raise ValueError(f"a program has 1 to {CODE_UNITS} units of code, not {len(self.code)}")
        for address, words in enumerate(self.code):
            if len(words) != UNIT_WORDS or not all(0 <= word < 1 << 32 for word in words):
                raise ValueError(f"unit {address} is not {UNIT_WORDS} words of 32 bits")
        found = r700.problem(self.information, len(self.code), draws=self.pipeline is not None)
        if found:
            raise ValueError(found)
        if self.pipeline is not None:
            pipeline_of(self.pipeline.words, len(self.code))
        if self.lines is not None and len(self.lines.units) != len(self.code):
            raise ValueError(f"a line table of {len(self.lines.units)} units for {len(self.code)} of code")

    @cached_property
    def usage(self) -> Usage:
        """What its code uses; of a draw's other programs only inputs and constants count."""
        found, front = usage(self.code, self.start, self.texture_base), self.front_usage
        for name in ("inputs", "scaled_inputs", "float_constants", "int_constants", "bool_constants", "vertex_buffers"):
            getattr(found, name).update(getattr(front, name))
        return found

    @cached_property
    def front_usage(self) -> Usage:
        """What the programs in front of a draw's pixel program use: inputs, constants and vertex buffers."""
        found = Usage()
        for stage in self.pipeline.programs if self.pipeline is not None else ():
            assert self.pipeline is not None
            other = usage(self.code, stage.start, self.texture_base, self.pipeline.fetch, stage.first_buffer)
            base = KCACHE_LINE_ROWS * stage.constant_base
            found.inputs |= other.inputs
            found.scaled_inputs |= other.scaled_inputs
            found.float_constants |= {base + row for row in other.float_constants}
            found.int_constants |= other.int_constants
            found.bool_constants |= other.bool_constants
            found.vertex_buffers |= other.vertex_buffers
        return found

    @cached_property
    def notes(self) -> Notes:
        """What its code uses, as far as other programs have notes of it; with the outputs that it writes uncached."""
        used, targets = self.usage, OUTPUTS if self.pipeline is None else DRAW_OUTPUTS
        uncached = {MEMORY_OUTPUT} if self.memory else set()
        uncached |= {SCRATCH_OUTPUT} if self.scratch else set()
        return Notes(
            inputs=tuple(sorted(used.inputs)),
            outputs=tuple(sorted((used.outputs & set(range(targets))) | uncached)),
            conditional_output=self.depth and used.depth,
            float_constants=tuple(sorted(used.float_constants)),
            int_constants=tuple(sorted(used.int_constants)),
            targets=targets,
        )

    @property
    def uncached_writes(self) -> bool:
        """Whether it writes outputs past the caches, at addresses of its own."""
        return self.memory or self.scratch

    @property
    def scatters(self) -> bool:
        """Whether it writes elements of output 0 by their numbers."""
        return self.memory

    @property
    def sees_wavefront_size(self) -> bool:
        """Whether its results may depend on the wavefront's size: by the data share, or a pixel's number in it."""
        return bool(self.lds_dwords) or self.type is ProgramType.CS

    @property
    def own_constants(self) -> OwnConstants:
        """None: its instructions hold numbers."""
        return OwnConstants()

    @property
    def scaled_inputs(self) -> frozenset[int]:
        """Inputs that some instruction looks up with coordinates from 0 to 1."""
        return frozenset(self.usage.scaled_inputs)

    @property
    def information(self) -> tuple[int, ...]:
        """The descriptor of its note."""
        flags = {name: int(getattr(self, name)) for name in ("dx10_clamp", "depth", "memory", "scratch")}
        words = {
            "version": r700.PROGRAM_FORMAT.version,
            "TYPE": self.type.value if self.pipeline is None else r700.PIXEL_TYPE,
            "CF_START": self.start,
            "NUM_GPRS": self.gprs,
            "STACK_SIZE": self.stack_size,
            "FLAGS": pack(r700.FLAGS, **flags),
            "TEX_BASE": self.texture_base,
            "LDS_DWORDS": self.lds_dwords,
        }
        return tuple(words.get(name, 0) for name in r700.PROGRAM_INFORMATION)
