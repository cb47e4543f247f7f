"""Which slots of a group of R700 code made places: each is a unit of code, with a source line of its own."""

from collections.abc import Iterable
from typing import Any

from ctm.sim.debug.slicing.place import Place
from ctm.sim.golden.r700.instruction import Group, Slot
from ctm.sim.golden.r700.operands import temporary_index
from ctm.sim.golden.r700.program import Program


def units_of(program: Any, control: Any, unit: int, made: Iterable[Place]) -> tuple[int, ...]:
    """The units of the slots that made places; of an instruction that is no group its first unit."""
    if not isinstance(program, Program) or control.item < 0:
        return (unit,)
    clause = program.code.clause(control.word)
    group = None if clause is None else clause.instructions[control.item]
    if not isinstance(group, Group):
        return (unit,)
    places = list(made)
    chosen = {slot.position for slot in group.slots if any(_makes(program, slot, place) for place in places)}
    if any(slot.operation.is_reduction for slot in group.slots if slot.position in chosen):
        # Its result is of the operands of all its slots.
        chosen |= {slot.position for slot in group.slots if slot.operation.is_reduction}
    return tuple(unit + number for number, slot in enumerate(group.slots) if slot.position in chosen) or (unit,)


def _makes(program: Program, slot: Slot, place: Place) -> bool:
    if place.array == "temporaries":
        number, channel = place.index
        if not slot.writes or slot.channel != channel:
            return False
        return slot.index is not None or temporary_index(program, slot.register) == number
    if place.array == "previous":
        return place.index == (slot.position,)
    if place.array == "address":
        return slot.operation.sets_address
    return slot.operation.sets_predicate or slot.operation.kills
