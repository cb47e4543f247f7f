"""What the words of an ALU instruction say, as far as a group's rules look at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ctm.rtl.isa.limits import TEMPORARIES
from ctm.rtl.isa.r700.alu import (
    CONSTANT_FILE,
    INLINE_CONSTANTS,
    KCACHE_0,
    KCACHE_1,
    KCACHE_END,
    LITERAL,
    PREVIOUS_SCALAR,
    PREVIOUS_VECTOR,
)
from ctm.rtl.isa.r700.operations import Operation
from ctm.sim.assembler.r700.form import OP2, OP3, Draft
from ctm.sim.assembler.r700.names import COMPONENTS, INDEX_NAMES, name_of
from ctm.sim.assembler.r700.syntax import operation_of


class IllegalGroupError(Exception):
    """A group breaks a rule; `index` is the instruction of the group where it does."""

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.message = message
        self.index = index


@dataclass(frozen=True)
class Operand:
    """An operand that is read."""

    select: int
    relative: bool
    channel: int

    @property
    def is_register(self) -> bool:
        """Whether it is a general-purpose register."""
        return self.select < TEMPORARIES

    @property
    def is_row(self) -> bool:
        """Whether it is a row of constants."""
        return KCACHE_0 <= self.select < KCACHE_END or self.select >= CONSTANT_FILE

    @property
    def is_constant(self) -> bool:
        """Whether it is a constant of any kind."""
        return self.is_row or self.select in INLINE_CONSTANTS or self.select == LITERAL

    @property
    def is_previous(self) -> bool:
        """Whether it is a result of the group before."""
        return self.select in (PREVIOUS_VECTOR, PREVIOUS_SCALAR)


@dataclass(frozen=True)
class View:
    """An instruction by its words."""

    draft: Draft

    @property
    def name(self) -> str:
        """What the operation is called."""
        return name_of(self.draft.form, self.draft.get("alu_inst"))

    @cached_property
    def operation(self) -> Operation | None:
        """What it does, None if the code does nothing."""
        return operation_of((self.draft.form, self.draft.get("alu_inst")))

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        """The operands that the operation has."""
        count = self.draft.form.operands if self.operation is None else self.operation.operands
        return tuple(self.operand(number) for number in range(count))

    def operand(self, number: int) -> Operand:
        """An operand, whether it is read or not."""
        get = self.draft.get
        return Operand(get(f"src{number}_sel"), bool(get(f"src{number}_rel")), get(f"src{number}_chan"))

    @cached_property
    def channel(self) -> int:
        """The component of the destination."""
        return self.draft.get("dst_chan")

    @property
    def writes(self) -> bool:
        """Whether the result goes into a register."""
        return self.draft.form is OP3 or bool(self.draft.get("write_mask"))

    @property
    def is_relative(self) -> bool:
        """Whether an operand or the destination is relative."""
        writes_relative = self.writes and bool(self.draft.get("dst_rel"))
        return writes_relative or any(operand.relative for operand in self.operands)

    def flag(self, name: str) -> bool:
        """A field that only instructions of two operands have."""
        return self.draft.form is OP2 and bool(self.draft.get(name))


def views_of(drafts: Sequence[Draft]) -> tuple[View, ...]:
    """The instructions of a group."""
    return tuple(View(draft) for draft in drafts)


def operand_text(operand: Operand, index_mode: int, file: str = "CFILE[{}]") -> str:
    """An operand without its modifiers; `file` is how one of the constant file is written."""
    select, letter = operand.select, f".{COMPONENTS[operand.channel]}"
    if select in INLINE_CONSTANTS:
        return INLINE_CONSTANTS[select][0] + ("" if operand.channel == 0 else letter)
    if select == PREVIOUS_SCALAR:
        return "PS" if operand.channel == 0 else f"PS{letter}"
    if select == PREVIOUS_VECTOR:
        return f"PV{letter}"
    if select == LITERAL:
        return f"LIT{letter}"
    index = f"+{index_text(index_mode)}" if operand.relative else ""
    for first, text in ((CONSTANT_FILE, file), (KCACHE_END, "SEL[{}]"), (KCACHE_1, "KC1[{}]"), (KCACHE_0, "KC0[{}]")):
        if select >= first:
            number = select if first == KCACHE_END else select - first
            return text.format(f"{number}{index}") + letter
    return register_text(select, index_mode if operand.relative else None) + letter


def register_text(number: int, index_mode: int | None) -> str:
    """A general-purpose register."""
    return f"R{number}" if index_mode is None else f"R[{number}+{index_text(index_mode)}]"


def index_text(index_mode: int) -> str:
    """What a relative operand adds."""
    return INDEX_NAMES.get(index_mode, f"INDEX_{index_mode}")


def literal_words(views: Sequence[View]) -> int:
    """How many literal words a group has by its operands: up to the highest that one names."""
    named = [operand.channel for view in views for operand in view.operands if operand.select == LITERAL]
    return max(named) + 1 if named else 0
