"""Writes the fields that say where a unit's result goes; CTM Guide pp. 29-32."""

from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.sim.assembler.r5xx.syntax import CHANNELS, Destination, Half, Target, Unit

_UNIT_CHANNELS = {Unit.RGB: "rgb", Unit.ALPHA: "a"}
_OF_OUTPUT = {Target.OUTPUT: "an output", Target.CONDITIONAL: "the conditional value", Target.UMRT: "an uncached write"}
_OF_ALU = {Target.PREDICATE: "predicate bits", Target.ALU_RESULT: "the ALU result"}
_FULL_MASK = {Unit.RGB: 7, Unit.ALPHA: 1}


def encode_destinations(draft: Draft, unit: Unit, half: Half, *, uncached_writes: bool) -> None:
    """Write masks, addresses, targets and tests of one unit.

    Raises
    ------
    SourceError
        This type of instruction or this unit cannot write that, or not twice.
    """
    seen: set[Target] = set()
    for destination in half.destinations:
        if destination.target in seen:
            raise SourceError("a half writes one of each kind of destination", destination.position)
        seen.add(destination.target)
        _check_type(draft, destination, uncached_writes)
        mask = _mask(destination, unit, half.unit)
        if destination.target is Target.TEMPORARY:
            _encode_temporary(draft, unit, destination, mask)
        elif destination.target in (Target.OUTPUT, Target.PREDICATE):
            target = destination.index if destination.target is Target.OUTPUT else destination.test.value
            draft.set("common", **{f"{unit.value}_omask": mask})
            draft.set(f"{unit.value}_inst", target=target)
        elif destination.target is Target.UMRT:
            draft.set("common", rgb_omask=_FULL_MASK[Unit.RGB], alpha_omask=_FULL_MASK[Unit.ALPHA])
            draft.set("rgb_inst", target=destination.umrt.value)
        elif mask and destination.target is Target.CONDITIONAL:
            draft.set("alpha_inst", w_omask=1)
        elif mask:
            draft.set("rgb_inst", alu_wmask=1)
            draft.set("common", alu_result_sel=unit is Unit.ALPHA, alu_result_op=destination.test.value)


def _check_type(draft: Draft, destination: Destination, uncached_writes: bool) -> None:
    target = destination.target
    if draft.kind is InstructionType.ALU and target in _OF_OUTPUT:
        raise SourceError(f"an ALU instruction cannot write {_OF_OUTPUT[target]}: that is OUT", destination.position)
    if draft.kind is InstructionType.OUTPUT and target in _OF_ALU:
        raise SourceError(f"an OUT instruction cannot write {_OF_ALU[target]}: that is ALU", destination.position)
    if target is Target.UMRT and not uncached_writes:
        raise SourceError("an uncached write needs the directive .uncached_writes", destination.position)
    if target is Target.OUTPUT and uncached_writes:
        raise SourceError("a program with .uncached_writes writes umrt[...], no outputs", destination.position)


def _mask(destination: Destination, unit: Unit, written: Unit) -> int:
    """The bits of a unit's channels in the mask; a half of one unit must not name the other's channels."""
    channels = _UNIT_CHANNELS[unit]
    letters = CHANNELS if destination.mask is None else destination.mask
    if written is not Unit.JOINT and destination.mask is not None:
        foreign = [letter for letter in letters if letter not in channels]
        if foreign:
            raise SourceError(f"the {unit.value} unit has no channel {foreign[0]}", destination.position)
    return sum(1 << bit for bit, channel in enumerate(channels) if channel in letters)


def _encode_temporary(draft: Draft, unit: Unit, destination: Destination, mask: int) -> None:
    draft.set("common", **{f"{unit.value}_wmask": mask})
    if unit is Unit.RGB:
        draft.set("rgba_inst", rgb_addrd=destination.index, rgb_addrd_rel=destination.relative)
    else:
        draft.set("alpha_inst", addrd=destination.index, addrd_rel=destination.relative)
