"""A program as the array runs it: decoded instructions, their limits, and the constants."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r5xx.opcodes import WITHOUT_LOOKUP, TextureOperation
from ctm.sim.golden.dpp.constants import Constants
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.pe.loader import Image
from ctm.sim.golden.r5xx.decode import decode
from ctm.sim.golden.r5xx.image import fields_of
from ctm.sim.golden.r5xx.instruction import Alu, Instruction, Tex
from ctm.sim.golden.r5xx.plan import Block, plan


@dataclass(frozen=True)
class Code:
    """Decoded instructions, and the plan of each that is an ALU or OUTPUT."""

    instructions: tuple[Instruction, ...]
    plans: tuple[tuple[Block, ...], ...]


@lru_cache(maxsize=64)
def decode_code(words: tuple[tuple[int, ...], ...], code_offset: int, uncached_writes: bool) -> Code:
    """Decode a program's code; programs that start again and again are decoded once."""
    instructions = tuple(
        decode(instruction, code_offset=code_offset, uncached_writes=uncached_writes) for instruction in words
    )
    plans = tuple(plan(instruction) if isinstance(instruction, Alu) else () for instruction in instructions)
    return Code(instructions, plans)


@dataclass(frozen=True, kw_only=True)
class Program:
    """A loaded program with its constants."""

    image: Image
    constants: Constants

    @cached_property
    def information(self) -> Mapping[str, Mapping[str, int]]:
        """Fields of the program information."""
        return fields_of(self.image.information)

    @property
    def code_offset(self) -> int:
        """US_CODE_OFFSET, which START, END and local jumps are relative to."""
        return self.information["US_CODE_OFFSET"]["offset"]

    @cached_property
    def start(self) -> int:
        """PC of the first instruction."""
        return self.code_offset + self.information["US_CODE_ADDR"]["start"]

    @cached_property
    def end(self) -> int:
        """PC of the instruction after which a wavefront ends."""
        return self.code_offset + self.information["US_CODE_ADDR"]["end"]

    @cached_property
    def temporaries(self) -> int:
        """Temporaries that exist: those above read 0 and swallow writes."""
        return self.information["US_PIXSIZE"]["highest_temporary"] + 1

    @cached_property
    def zero_times_anything(self) -> bool:
        """Whether zero times infinity or NaN is zero."""
        return bool(self.information["US_CONFIG"]["zero_times_anything"])

    @cached_property
    def full_flow_control(self) -> bool:
        """Whether loops, calls and deep branches are available."""
        return bool(self.information["US_FC_CTRL"]["full_fc_en"])

    @cached_property
    def conditional_from_program(self) -> bool:
        """Whether the conditional value is the program's; else it is the PE's."""
        return bool(self.information["FG_DEPTH_SRC"]["from_program"])

    @cached_property
    def uncached_writes(self) -> bool:
        """Whether this is a UMRT program."""
        return bool(self.information["UMRT"]["uncached_writes"])

    @cached_property
    def code(self) -> Code:
        """The decoded code; address 0 is the code segment's first instruction."""
        return decode_code(self.image.code, self.code_offset, self.uncached_writes)

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        """Output registers that some OUTPUT instruction may write."""
        written = set()
        for instruction in self.code.instructions:
            if isinstance(instruction, Alu) and instruction.is_output and not self.uncached_writes:
                written |= {instruction.unit(channel).target for channel in instruction.common.output_mask}
        return tuple(sorted(written))

    @property
    def uncached_outputs(self) -> tuple[int, ...]:
        """Outputs that it writes past the caches: output 0 of a UMRT program."""
        return (0,) if self.uncached_writes else ()

    def takes_uncached(self, buffer: Buffer) -> bool:
        """Whether uncached writes may go to such a buffer: floats of one channel."""
        return buffer.format is DataFormat.FLOAT32_1

    @cached_property
    def cached_inputs(self) -> frozenset[int]:
        """Inputs that some fetch may read through the input cache."""
        return frozenset(each.input for each in self._fetches if each.operation is not TextureOperation.LOOKUP_UNCACHED)

    @cached_property
    def uncached_inputs(self) -> frozenset[int]:
        """Inputs that some fetch may read past it."""
        return frozenset(each.input for each in self._fetches if each.operation is TextureOperation.LOOKUP_UNCACHED)

    @property
    def _fetches(self) -> Iterator[Tex]:
        for instruction in self.code.instructions:
            if isinstance(instruction, Tex) and instruction.operation not in WITHOUT_LOOKUP:
                yield instruction
