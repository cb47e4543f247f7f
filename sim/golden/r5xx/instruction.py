"""Decoded instructions, as the execution reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from ctm.rtl.isa.r5xx.opcodes import (
    AddressOperation,
    AlphaOperation,
    BranchOperation,
    FlowOperation,
    InputModifier,
    InstructionType,
    OutputModifier,
    PredicateSelect,
    Presubtract,
    RgbOperation,
    TextureOperation,
    ZeroTest,
)

ALPHA = 3
"""Channel number of the alpha unit; 0 to 2 are the RGB unit's."""


class Bank(Enum):
    """Where a source address points."""

    TEMPORARY = auto()
    CONSTANT = auto()
    INLINE = auto()


@dataclass(frozen=True, slots=True)
class Address:
    """A source address; `value` is the constant of bank INLINE."""

    bank: Bank
    index: int
    relative: bool
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """What one channel of an operand reads: a literal, a presubtract result or a channel of a source."""

    modifier: InputModifier
    channel: int
    source: int | None
    """0 to 2; None is srcp."""
    literal: float | None = None


@dataclass(frozen=True, slots=True)
class Destination:
    """A temporary of a unit."""

    index: int
    relative: bool


@dataclass(frozen=True, slots=True)
class Predicate:
    """Which predicate bit gates a channel."""

    select: PredicateSelect
    inverted: bool

    @property
    def is_never(self) -> bool:
        """No predicate, inverted: never."""
        return self.select is PredicateSelect.NONE and self.inverted

    def bit(self, channel: int) -> int | None:
        """The predicate bit that gates `channel`, None where nothing does."""
        if self.select is PredicateSelect.NONE:
            return None
        if self.select is PredicateSelect.RGBA:
            return channel
        return int(self.select.value - PredicateSelect.RRRR.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """Word 0. Masks list channels."""

    type: InstructionType
    wait_semaphore: bool
    predicates: tuple[Predicate, Predicate]
    """Of the RGB unit and of the alpha unit."""
    write_inactive: bool
    last: bool
    nop: bool
    alu_wait: bool
    write_mask: tuple[int, ...]
    output_mask: tuple[int, ...]

    def predicate(self, channel: int) -> Predicate:
        """The predicate of a channel's unit."""
        return self.predicates[channel == ALPHA]


@dataclass(frozen=True, slots=True, kw_only=True)
class Illegal:
    """An instruction that faults when a wavefront executes it."""

    common: Common
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What the RGB and the alpha unit have each of their own."""

    operation: RgbOperation | AlphaOperation
    addresses: tuple[Address, Address, Address]
    presubtract: Presubtract
    destination: Destination
    modifier: OutputModifier
    clamp: bool
    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Alu:
    """An ALU or OUTPUT instruction. `operands` holds rows A, B, C by channel."""

    common: Common
    rgb: Unit
    alpha: Unit
    operands: Sequence[tuple[Row, Row, Row]]
    alu_result: tuple[int, ZeroTest] | None
    """Channel and test of the ALU result, where it is written."""
    writes_conditional: bool

    def unit(self, channel: int) -> Unit:
        """The unit of a channel."""
        return self.alpha if channel == ALPHA else self.rgb

    @property
    def is_output(self) -> bool:
        """Whether the output mask means output registers; else it means predicate bits."""
        return self.common.type is InstructionType.OUTPUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Tex:
    """A texture instruction."""

    common: Common
    operation: TextureOperation
    input: int
    source: Destination
    source_swizzle: tuple[int, int, int, int]
    destination: Destination
    destination_swizzle: tuple[int, int, int, int]
    unscaled: bool
    acquire: bool
    ignore_uncovered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A flow-control instruction. `target` is an absolute address."""

    common: Common
    operation: FlowOperation
    address_operation: AddressOperation
    branch_if_stay: BranchOperation
    branch_if_jump: BranchOperation
    is_else: bool
    jump_any: bool
    jump_function: int
    pop_count: int
    ignore_uncovered: bool
    boolean: int
    integer: int
    target: int


Instruction = Alu | Tex | Flow | Illegal
