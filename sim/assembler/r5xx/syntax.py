"""What the parser finds in a statement and what the encoder and the disassembler's printer work on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from ctm.rtl.isa.r5xx.instruction import ADDRESS_INLINE, inline_constant
from ctm.rtl.isa.r5xx.opcodes import OutputModifier, PredicateSelect, Presubtract, UmrtTarget, ZeroTest
from ctm.sim.assembler.error import Position

CHANNELS = "rgba"
SWIZZLE_LETTERS = "rgba0h1"
"""Letters of a swizzle, in the order of its codes."""


class Bank(Enum):
    """What a source address points at."""

    TEMPORARY = auto()
    CONSTANT = auto()
    INLINE = auto()


@dataclass(frozen=True)
class Register:
    """A source: temporary, float constant or inline constant (whose `index` is its code)."""

    bank: Bank
    index: int
    relative: bool = False

    @property
    def address(self) -> int:
        """The address field of this source."""
        return self.index | ADDRESS_INLINE if self.bank is Bank.INLINE else self.index

    def __str__(self) -> str:
        if self.bank is Bank.INLINE:
            return repr(inline_constant(self.index))
        return f"{'c' if self.bank is Bank.CONSTANT else 'r'}{self.index}{'[aL]' if self.relative else ''}"


@dataclass(frozen=True)
class Presubtraction:
    """A presubtract of source 0, or of sources 0 and 1."""

    operation: Presubtract
    sources: tuple[Register, ...]


@dataclass(frozen=True)
class Slot:
    """A source by its number; 3 is srcp."""

    index: int


Source = Register | Presubtraction | Slot | None
"""None: the operand has constant channels only."""


@dataclass(frozen=True, kw_only=True)
class Operand:
    """An operand. `swizzle` is what was written, in SWIZZLE_LETTERS, or None."""

    source: Source
    swizzle: str | None
    negative: bool = False
    absolute: bool = False
    position: Position = Position(1, 1)


class Target(Enum):
    """What a half can write."""

    TEMPORARY = auto()
    OUTPUT = auto()
    PREDICATE = auto()
    ALU_RESULT = auto()
    CONDITIONAL = auto()
    UMRT = auto()


@dataclass(frozen=True, kw_only=True)
class Destination:
    """One thing that a half writes. `mask` holds letters of CHANNELS; None means all channels of the half."""

    target: Target
    index: int = 0
    relative: bool = False
    mask: str | None = None
    test: ZeroTest = ZeroTest.EQUAL
    umrt: UmrtTarget = UmrtTarget.SAME_IDX
    position: Position = Position(1, 1)


@dataclass(frozen=True)
class Predicate:
    """Which predicate bit gates a unit."""

    select: PredicateSelect = PredicateSelect.NONE
    inverted: bool = False


class Unit(Enum):
    """The unit of a half; the value is its name in the source. JOINT: one operation for both."""

    RGB = "rgb"
    ALPHA = "alpha"
    JOINT = "rgba"


@dataclass(frozen=True, kw_only=True)
class Half:
    """What one unit does, or both in the joint form."""

    unit: Unit
    operation: str
    operands: tuple[Operand, ...]
    destinations: tuple[Destination, ...] = ()
    predicate: Predicate = Predicate()
    modifier: OutputModifier = OutputModifier.U1
    clamp: bool = False
    position: Position = Position(1, 1)
