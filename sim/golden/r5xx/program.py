"""A program as the array runs it: decoded instructions, their limits, and the constants."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import ADDRESS_SPACE, BOOL_CONSTANTS, FLOAT_CONSTANTS, INT_CONSTANTS
from ctm.rtl.isa.r5xx.opcodes import TextureOperation
from ctm.rtl.isa.status import BusClient
from ctm.sim.golden import fp
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import read
from ctm.sim.golden.pe.loader import Image
from ctm.sim.golden.r5xx.decode import decode
from ctm.sim.golden.r5xx.instruction import Alu, Instruction, Tex
from ctm.sim.golden.r5xx.plan import Block, plan
from ctm.sim.memory import Memory


@dataclass(frozen=True, slots=True)
class IntConstant:
    """Loop parameters: iteration count, first aL, signed step of aL."""

    count: int
    start: int
    step: int


class RefusedError(Exception):
    """A read of the array failed; `lanes` [n] are those concerned, None all of the batch."""

    def __init__(self, client: BusClient, address: int, lanes: npt.NDArray[np.bool_] | None = None) -> None:
        super().__init__(f"{client.name} at 0x{address:08x}")
        self.client = client
        self.address = address
        self.lanes = lanes


class Constants:
    """The three constant files, read when a program starts.

    An access to memory that fails is reported when an instruction needs the constant. Source: CTM Guide pp. 7 and 38.
    """

    def __init__(self, memory: Memory, float_base: int, int_base: int, bool_base: int) -> None:
        self._memory = memory
        self._bases = (float_base, int_base, bool_base)
        floats = Buffer(base=float_base, pitch=FLOAT_CONSTANTS, format=DataFormat.FLOAT32_4, height=1)
        index = np.arange(FLOAT_CONSTANTS)
        self._floats = np.ascontiguousarray(read(memory, floats, index, np.zeros_like(index)).T)
        self._clean = [not fp.has_denormal(constant) for constant in self._floats]
        self._ints = [
            IntConstant(word & 0xFF, word >> 8 & 0xFF, (word >> 16 & 0xFF ^ 0x80) - 0x80)
            for word in map(int, memory.words(int_base, INT_CONSTANTS))
        ]
        self._bools = [bool(word & 0xFF) for word in memory.words(bool_base, BOOL_CONSTANTS)]

    def float_constant(self, index: int) -> npt.NDArray[np.float32]:
        """Float constant `index`, float32 [4]."""
        self._check(BusClient.FLOAT_CONSTANT, self._bases[0] + 16 * index, 16)
        constant: npt.NDArray[np.float32] = self._floats[index]
        return constant

    def is_clean(self, index: int) -> bool:
        """Whether float constant `index` holds no denormal."""
        return self._clean[index]

    def int_constant(self, index: int) -> IntConstant:
        """Int constant `index`."""
        self._check(BusClient.INT_CONSTANT, self._bases[1] + 4 * index, 4)
        return self._ints[index]

    def bool_constant(self, index: int) -> bool:
        """Bool constant `index`."""
        self._check(BusClient.BOOL_CONSTANT, self._bases[2] + 4 * index, 4)
        return self._bools[index]

    def _check(self, client: BusClient, address: int, size: int) -> None:
        if self._memory.is_refused(address, size):
            raise RefusedError(client, address % ADDRESS_SPACE)


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

    @property
    def code_offset(self) -> int:
        """US_CODE_OFFSET, which START, END and local jumps are relative to."""
        return self.image.information["US_CODE_OFFSET"]["offset"]

    @cached_property
    def start(self) -> int:
        """PC of the first instruction."""
        return self.code_offset + self.image.information["US_CODE_ADDR"]["start"]

    @cached_property
    def end(self) -> int:
        """PC of the instruction after which a group ends."""
        return self.code_offset + self.image.information["US_CODE_ADDR"]["end"]

    @cached_property
    def temporaries(self) -> int:
        """Temporaries that exist: those above read 0 and swallow writes."""
        return self.image.information["US_PIXSIZE"]["highest_temporary"] + 1

    @cached_property
    def zero_times_anything(self) -> bool:
        """Whether zero times infinity or NaN is zero."""
        return bool(self.image.information["US_CONFIG"]["zero_times_anything"])

    @cached_property
    def full_flow_control(self) -> bool:
        """Whether loops, calls and deep branches are available."""
        return bool(self.image.information["US_FC_CTRL"]["full_fc_en"])

    @cached_property
    def conditional_from_program(self) -> bool:
        """Whether the conditional value is the program's; else it is the PE's."""
        return bool(self.image.information["FG_DEPTH_SRC"]["from_program"])

    @cached_property
    def uncached_writes(self) -> bool:
        """Whether this is a UMRT program."""
        return bool(self.image.information["UMRT"]["uncached_writes"])

    @cached_property
    def code(self) -> Code:
        """The decoded code; slot 0 is the code segment's first instruction."""
        return decode_code(self.image.instructions, self.code_offset, self.uncached_writes)

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        """Output registers that some OUTPUT instruction may write."""
        written = set()
        for instruction in self.code.instructions:
            if isinstance(instruction, Alu) and instruction.is_output and not self.uncached_writes:
                written |= {instruction.unit(channel).target for channel in instruction.common.output_mask}
        return tuple(sorted(written))

    @cached_property
    def cached_inputs(self) -> frozenset[int]:
        """Inputs that some lookup may read through the input cache."""
        unread = {TextureOperation.NOP, TextureOperation.KILL_LT_0, TextureOperation.LOOKUP_UNCACHED}
        return frozenset(
            instruction.input
            for instruction in self.code.instructions
            if isinstance(instruction, Tex) and instruction.operation not in unread
        )
