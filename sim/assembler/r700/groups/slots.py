"""The slots of a group: which instruction goes where, and whether that is allowed."""

from collections.abc import Iterator, Sequence

from ctm.rtl.isa.r700.limits import GROUP_SLOTS, TRANS_SLOT, VECTOR_SLOTS
from ctm.rtl.isa.r700.operations import Slots
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r700.groups.view import IllegalGroupError, View
from ctm.sim.assembler.r700.names import SLOTS, name_of
from ctm.sim.assembler.r700.syntax import Group, Instruction


def assignments(group: Group) -> Iterator[tuple[int, ...]]:
    """Assignments of slots to the instructions of a group; those that are written are kept.

    Raises
    ------
    SourceError
        There is none.
    """
    taken: dict[int, Instruction] = {}
    if len(group.instructions) > GROUP_SLOTS:
        raise SourceError(f"a group has at most {GROUP_SLOTS} instructions", group.instructions[GROUP_SLOTS].position)
    for instruction in group.instructions:
        slot = instruction.slot
        if slot is None:
            continue
        if slot in taken:
            other = name_of(*taken[slot].opcode)
            message = f"slot {SLOTS[slot]} is taken by {other}: begin another group with a number, as in 1 x: ..."
            raise SourceError(message, instruction.position)
        taken[slot] = instruction
    choices = [_choices(instruction, taken) for instruction in group.instructions]
    found = list(_choose(choices))
    if not found:
        short = next((at for at, slots in enumerate(choices) if not slots), len(choices) - 1)
        instruction = group.instructions[short]
        raise SourceError(
            f"no slot is left for {name_of(*instruction.opcode)}: use another group", instruction.position
        )
    yield from found


def _choices(instruction: Instruction, taken: dict[int, Instruction]) -> list[int]:
    if instruction.slot is not None:
        return [instruction.slot]
    operation = instruction.operation
    channel = instruction.destination.channel
    kind = Slots.ANY if operation is None else operation.slots
    vector = list(range(VECTOR_SLOTS)) if channel is None else [channel]
    slots = {Slots.TRANS: [TRANS_SLOT], Slots.ANY: [*vector, TRANS_SLOT]}.get(kind, vector)
    return [slot for slot in slots if slot not in taken]


def _choose(choices: Sequence[Sequence[int]], used: frozenset[int] = frozenset()) -> Iterator[tuple[int, ...]]:
    if not choices:
        yield ()
        return
    for slot in choices[0]:
        if slot not in used:
            for others in _choose(choices[1:], used | {slot}):
                yield (slot, *others)


def slots_of(views: Sequence[View]) -> tuple[int, ...]:
    """The slots that the machine gives the instructions of a group, in the order of their words.

    Raises
    ------
    IllegalGroupError
        An operation has no slot or does not exist, or the order is wrong.
    """
    found: list[int] = []
    for index, view in enumerate(views):
        slot = _slot(view, index, found)
        if slot in found:
            raise IllegalGroupError(f"slot {SLOTS[slot]} is taken already", index)
        if found and slot < found[-1]:
            raise IllegalGroupError("the instructions of a group stand in the order x, y, z, w, t", index)
        found.append(slot)
    _check_reductions(views, found)
    return tuple(found)


def _slot(view: View, index: int, found: Sequence[int]) -> int:
    if view.operation is None:
        raise IllegalGroupError(f"this machine has no operation {view.name}", index)
    if index >= GROUP_SLOTS:
        raise IllegalGroupError(f"a group has at most {GROUP_SLOTS} instructions", index)
    if view.operation.slots is Slots.TRANS:
        return TRANS_SLOT
    is_taken = view.operation.slots is Slots.ANY and view.channel in found
    return TRANS_SLOT if is_taken else view.channel


def _check_reductions(views: Sequence[View], found: Sequence[int]) -> None:
    for index, view in enumerate(views):
        if view.operation is not None and view.operation.is_reduction:
            same = [slot for slot, other in zip(found, views, strict=True) if other.operation == view.operation]
            if len(same) != VECTOR_SLOTS:
                raise IllegalGroupError(f"{view.name} must be in all of the slots x, y, z and w", index)


def check_slot(view: View, wanted: int, given: int, index: int) -> None:
    """Compare the slot that a text gives an instruction with the machine's."""
    if wanted == given:
        return
    if given == TRANS_SLOT:
        reason = f"{view.name} is for slot t only"
    elif wanted == TRANS_SLOT and view.operation is not None and view.operation.slots is Slots.ANY:
        reason = (
            f"{view.name} would go to slot {SLOTS[given]}, which is free: an operation that any slot can do "
            f"is in t only if the slot of its component is taken"
        )
    else:
        reason = f"{view.name} is for the vector slots only, here {SLOTS[given]}"
    raise IllegalGroupError(reason, index)
