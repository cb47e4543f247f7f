"""A program with everything that the machine must know about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from ctm.rtl.isa.limits import TEMPORARIES
from ctm.rtl.isa.r5xx.instruction import COMMON, TEX_INST
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS, INSTRUCTION_WORDS
from ctm.rtl.isa.r5xx.opcodes import WITHOUT_LOOKUP, InstructionType, TextureOperation
from ctm.rtl.isa.r5xx.program import FG_DEPTH_SRC, US_CONFIG, US_FC_CTRL
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.constants import OwnConstants
from ctm.sim.elf.lines import Lines
from ctm.sim.elf.notes import Notes

Instruction = tuple[int, ...]
"""The six 32-bit words of an instruction, word 0 first."""


@dataclass(frozen=True, kw_only=True)
class Executable:
    """Instructions, entry and end, state words and notes of a program.

    `start` and `end` are relative to `offset`; slot 0 is the first of `instructions`. The state words are whole
    registers, in the layouts of the program information note. A value out of range raises ValueError. Programs that
    differ in line tables and constants of their own only are equal.
    Source: CTM Guide pp. 45-49.
    """

    kind: ClassVar[str] = "r5xx"
    """The instruction set that the program is for."""

    instructions: tuple[Instruction, ...]
    end: int
    start: int = 0
    offset: int = 0
    highest_temporary: int = 0
    fg_depth_src: int = 0
    us_config: int = 0
    us_fc_ctrl: int = 0
    us_w_fmt: int = 0
    uncached_writes: bool = False
    notes: Notes = field(default_factory=Notes)
    lines: Lines | None = field(default=None, compare=False)
    own_constants: OwnConstants = field(default_factory=OwnConstants, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= len(self.instructions) <= INSTRUCTION_SLOTS:
            raise ValueError(f"a program has 1 to {INSTRUCTION_SLOTS} instructions, not {len(self.instructions)}")
        for slot, words in enumerate(self.instructions):
            if len(words) != INSTRUCTION_WORDS:
                raise ValueError(f"instruction {slot} has {len(words)} words instead of {INSTRUCTION_WORDS}")
            for word in words:
                _check(f"a word of instruction {slot}", word, 1 << 32)
        for name in ("start", "end", "offset"):
            _check(name, getattr(self, name), INSTRUCTION_SLOTS)
        _check("highest_temporary", self.highest_temporary, TEMPORARIES)
        for name in ("fg_depth_src", "us_config", "us_fc_ctrl", "us_w_fmt"):
            _check(name, getattr(self, name), 1 << 32)
        if self.lines is not None and len(self.lines.units) != len(self.instructions):
            raise ValueError(f"a line table of {len(self.lines.units)} for {len(self.instructions)} instructions")

    @property
    def scatters(self) -> bool:
        """Whether it writes elements of output 0 by their numbers."""
        return self.uncached_writes

    @property
    def sees_wavefront_size(self) -> bool:
        """Whether its results may depend on how many pixels a wavefront has: never."""
        return False

    @property
    def scaled_inputs(self) -> frozenset[int]:
        """Inputs that some instruction looks up with coordinates from 0 to 1."""
        found = set()
        for words in self.instructions:
            if unpack(COMMON, words[0])["type"] != InstructionType.TEX.value:
                continue
            tex = unpack(TEX_INST, words[1])
            if TextureOperation(tex["inst"]) not in WITHOUT_LOOKUP and not tex["unscaled"]:
                found.add(tex["tex_id"])
        return frozenset(found)

    @property
    def full_flow_control(self) -> bool:
        """Whether loops, calls and deep branches are available."""
        return bool(unpack(US_FC_CTRL, self.us_fc_ctrl)["full_fc_en"])

    @property
    def zero_times_anything(self) -> bool:
        """Whether zero times infinity or NaN is zero."""
        return bool(unpack(US_CONFIG, self.us_config)["zero_times_anything"])

    @property
    def conditional_from_program(self) -> bool:
        """Whether the conditional value is the program's; else it is the PE's."""
        return bool(unpack(FG_DEPTH_SRC, self.fg_depth_src)["from_program"])


def _check(name: str, value: int, limit: int) -> None:
    if not 0 <= value < limit:
        raise ValueError(f"{name} must be 0..{limit - 1}, not {value}")
