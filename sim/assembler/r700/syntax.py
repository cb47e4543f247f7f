"""What the statements of an R700 text are, once they are parsed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from ctm.rtl.isa.r700.alu import PREVIOUS_SCALAR, PREVIOUS_VECTOR, Op3
from ctm.rtl.isa.r700.operations import OPERATIONS, Operation
from ctm.sim.assembler.error import Position
from ctm.sim.assembler.r700.form import OP2, OP3, Draft
from ctm.sim.assembler.r700.names import Opcode
from ctm.sim.assembler.tokens import Token

Overrides = tuple[tuple[str, int], ...]
"""Fields that are written outright, with their values."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """An operand of an ALU instruction.

    `select` and `channel` are the fields; a literal has its word in `literal` and gets its channel from the group,
    a constant that the assembler locks has its row in `row` and gets its select from the clause.
    """

    position: Position
    select: int
    channel: int = 0
    relative: bool = False
    negate: bool = False
    absolute: bool = False
    literal: int | None = None
    row: int | None = None

    @property
    def is_previous(self) -> bool:
        """Whether it is a result of the group before."""
        return self.select in (PREVIOUS_VECTOR, PREVIOUS_SCALAR)


@dataclass(frozen=True, kw_only=True)
class Destination:
    """Where a result goes; `channel` is None where the slot says it. A masked one is not written."""

    gpr: int = 0
    channel: int | None = None
    relative: bool = False
    masked: bool = True


@dataclass(kw_only=True)
class Instruction:
    """An ALU instruction. `slot` is None where the assembler chooses it, `swizzle` is None where it chooses that."""

    position: Position
    opcode: Opcode
    slot: int | None = None
    destination: Destination = field(default_factory=Destination)
    sources: tuple[Source, ...] = ()
    index_mode: int | None = None
    omod: int = 0
    clamp: bool = False
    predicate: int = 0
    update_execute_mask: bool = False
    update_predicate: bool = False
    swizzle: int | None = None
    trans_swizzle: bool = False
    """Whether `swizzle` was written by a name of slot t."""
    overrides: Overrides = ()

    @property
    def operation(self) -> Operation | None:
        """What it does, None for a code that does nothing."""
        return operation_of(self.opcode)


@dataclass
class Group:
    """Instructions that are executed at once.

    `literals` are words that were written outright. `drafts` are their words, once they are put together; `values` then
    are the group's literal words. `is_broken`: a line of it is wrong.
    """

    position: Position
    instructions: list[Instruction] = field(default_factory=list)
    literals: tuple[int, ...] | None = None
    checked: bool = True
    is_broken: bool = False
    drafts: list[Draft] = field(default_factory=list)
    values: tuple[int, ...] = ()

    @property
    def words(self) -> list[tuple[int, int]]:
        """Its units of code."""
        pairs = zip(self.values[::2], self.values[1::2], strict=True)
        return [*((draft.words[0], draft.words[1]) for draft in self.drafts), *pairs]


@dataclass
class Pack:
    """Instructions that the assembler makes groups of: each is meant to be executed after the one before."""

    position: Position
    groups: list[Group] = field(default_factory=list)


@dataclass
class Fetch:
    """An instruction of a fetch clause. `checked`: it must be one that the machine does."""

    position: Position
    draft: Draft
    checked: bool = True


@dataclass(kw_only=True)
class Lock:
    """Which rows of a constant bank a clause locks: `lines` lines from `line` on, or two at aL."""

    bank: int
    line: int
    mode: int


@dataclass
class Word:
    """A CF instruction; `checked`: it must be one that the machine does.

    `target` is written into its address; `written` are the options that the text has.
    """

    position: Position
    draft: Draft
    target: Token | None = None
    overrides: Overrides = ()
    written: frozenset[str] = frozenset()
    checked: bool = True

    def override(self) -> None:
        """Write the overridden fields."""
        for name, value in self.overrides:
            self.draft.set(name, value)


class Keyword(Enum):
    """A statement of structured control flow."""

    IF = "if"
    ELSE = "else"
    ENDIF = "endif"
    LOOP = "loop"
    REP = "rep"
    ENDLOOP = "endloop"
    BREAK = "break"
    CONTINUE = "continue"
    CALL = "call"
    SUB = "sub"
    ENDSUB = "endsub"


@dataclass
class Statement:
    """A structured statement: its condition is a group with a PRED_SET or a boolean constant, or there is none.

    `constant` is the boolean constant of IF, BREAK and CONTINUE, or the int constant of LOOP and REP.
    """

    position: Position
    keyword: Keyword
    condition: Group | None = None
    constant: int | None = None
    inverted: bool = False
    name: Token | None = None


@dataclass
class Unit:
    """A unit of code that is written outright."""

    position: Position
    words: tuple[int, int]


Item = Group | Pack | Fetch | Word | Statement | Unit

Resolve = Callable[[Token], int]
"""Gives the address that a target means."""


_OPERATIONS = {(OP3 if isinstance(code, Op3) else OP2, code.value): operation for code, operation in OPERATIONS.items()}


def operation_of(opcode: Opcode) -> Operation | None:
    """What the code of an ALU instruction does, None if it does nothing."""
    return _OPERATIONS.get(opcode)
