"""Which slots of a group of R700 code made cells: each is a unit of code, with a source line of its own."""

from collections.abc import Iterable
from typing import Any

from ctm.sim.debug.slicing.cell import Cell
from ctm.sim.golden.r700.instruction import Group, Slot
from ctm.sim.golden.r700.operands import temporary_index
from ctm.sim.golden.r700.program import Program


def units_of(program: Any, control: Any, unit: int, made: Iterable[Cell]) -> tuple[int, ...]:
    """The units of the slots that made cells; of an instruction that is no group its first unit."""
    if not isinstance(program, Program) or control.item < 0:
        return (unit,)
    clause = program.code.clause(control.word)
    group = None if clause is None else clause.instructions[control.item]
    if not isinstance(group, Group):
        return (unit,)
    cells = list(made)
    chosen = {slot.position for slot in group.slots if any(_makes(program, slot, cell) for cell in cells)}
    if any(slot.operation.is_reduction for slot in group.slots if slot.position in chosen):
        # Its result is of the operands of all its slots.
        chosen |= {slot.position for slot in group.slots if slot.operation.is_reduction}
    return tuple(unit + number for number, slot in enumerate(group.slots) if slot.position in chosen) or (unit,)


def _makes(program: Program, slot: Slot, cell: Cell) -> bool:
    if cell.array == "temporaries":
        number, channel = cell.index
        if not slot.writes or slot.channel != channel:
            return False
        return slot.index is not None or temporary_index(program, slot.register) == number
    if cell.array == "previous":
        return cell.index == (slot.position,)
    if cell.array == "address":
        return slot.operation.sets_address
    return slot.operation.sets_predicate or slot.operation.kills
