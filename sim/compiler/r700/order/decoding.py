"""Instructions of ALU clauses by their words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.r700.alu import Op2, Op3
from ctm.rtl.isa.r700.limits import TRANS_SLOT
from ctm.rtl.isa.r700.operations import OPERATIONS, Operation, Slots
from ctm.sim.compiler.r700.order.operations import Component, component_of
from ctm.sim.elf.lines import Line, Lines
from ctm.sim.elf.r700.executable import Unit
from ctm.sim.elf.r700.operands import instructions
from ctm.sim.elf.r700.words import Word

_OPERATIONS = {(isinstance(code, Op3), code.value): operation for code, operation in OPERATIONS.items()}
assert all(isinstance(code, Op2 | Op3) for code in OPERATIONS)


class UnknownError(Exception):
    """The program does something that cannot be followed: registers are chosen by address registers."""


@dataclass(frozen=True)
class Instruction:
    """An instruction: its fields, the slot that it is in, the literals of its group."""

    operation: Operation
    fields: dict[str, int]
    slot: int
    literals: tuple[int, ...]
    line: Line | None

    @property
    def destination(self) -> Component | None:
        """The component that its result is written to, if any."""
        writes = self.fields["has_three"] or self.fields["write_mask"]
        return component_of(self.fields["dst_gpr"], self.fields["dst_chan"]) if writes else None

    @property
    def registers(self) -> Iterator[Component]:
        """The components of registers that it reads."""
        for number in range(self.operation.operands):
            if self.fields[f"src{number}_sel"] < alu.KCACHE_0:
                yield component_of(self.fields[f"src{number}_sel"], self.fields[f"src{number}_chan"])


@dataclass(frozen=True)
class Clause:
    """An ALU clause, a list for each group."""

    groups: list[list[Instruction]]


def decode(code: Sequence[Unit], word: Word, lines: Lines | None) -> Clause:
    """The instructions of a clause.

    Raises
    ------
    UnknownError
        One of them cannot be followed.
    """
    groups = []
    for _, group in groupby(instructions(code, word), lambda fields: fields["group"]):
        together = list(group)
        end = together[-1]["address"] + 1
        literals = tuple(half for unit in code[end : end + 2] for half in unit)
        taken: set[int] = set()
        found = []
        for fields in together:
            operation = _operation(fields)
            slot = _slot(operation, fields, taken)
            line = lines.units[fields["address"]] if lines else None
            found.append(Instruction(operation, fields, slot, literals, line))
        groups.append(found)
    return Clause(groups)


def _operation(fields: dict[str, int]) -> Operation:
    operation = _OPERATIONS.get((bool(fields["has_three"]), fields["alu_inst"]))
    relative = fields["dst_rel"] or any(fields[f"src{number}_rel"] for number in range(fields["operands"]))
    if operation is None or relative or operation.sets_address:
        raise UnknownError
    return operation


def _slot(operation: Operation, fields: dict[str, int], taken: set[int]) -> int:
    is_trans = operation.slots is Slots.TRANS or (operation.slots is Slots.ANY and fields["dst_chan"] in taken)
    slot = TRANS_SLOT if is_trans else fields["dst_chan"]
    taken.add(slot)
    return slot
