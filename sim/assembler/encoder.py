"""Writes the fields of ALU and OUTPUT instructions."""

from collections.abc import Mapping
from dataclasses import dataclass

from rtl.isa.opcodes import AlphaOperation, InputModifier, InstructionType, Presubtract, RgbOperation, Select
from sim.assembler.destinations import encode_destinations
from sim.assembler.draft import Draft
from sim.assembler.error import Position, SourceError
from sim.assembler.pairing import Pair, UnitHalf, UnitOperand
from sim.assembler.sources import SLOTS, UNUSED, Need, Slots, allocate
from sim.assembler.syntax import SWIZZLE_LETTERS, Bank, Presubtraction, Register, Slot, Unit

_DERIVATIVES = {RgbOperation.MDH, RgbOperation.MDV, AlphaOperation.MDH, AlphaOperation.MDV}
_MODIFIERS = {
    (False, False): InputModifier.OFF,
    (True, False): InputModifier.NEG,
    (False, True): InputModifier.ABS,
    (True, True): InputModifier.NAB,
}
_COLORS = ("red", "green", "blue")

Key = tuple[Unit, str]
"""A unit and its operand a, b or c."""


@dataclass(frozen=True)
class Given:
    """The source addresses of a unit as they were written, and its presubtract."""

    registers: tuple[Register, ...]
    presubtract: Presubtract | None


@dataclass(frozen=True)
class _Request:
    """An operand with the slots that it needs; `select` is None where the slot of its only need decides."""

    operand: UnitOperand
    needs: tuple[Need, ...]
    select: int | None


def encode(
    draft: Draft, pair: Pair, given: Mapping[Unit, Given], position: Position, *, uncached_writes: bool
) -> None:
    """Write both units' fields into a draft that has only its flags yet.

    Raises
    ------
    SourceError
        The operands do not fit the instruction.
    """
    requests: dict[Key, _Request] = {}
    for unit, half in zip((Unit.RGB, Unit.ALPHA), pair, strict=True):
        if half is not None:
            _add_requests(requests, unit, half, given)
            _encode_half(draft, unit, half)
            encode_destinations(draft, unit, half.half, uncached_writes=uncached_writes)
    _check_fourth_component(pair, requests, position)
    slots, places = _allocate(requests, given)
    for key, request in requests.items():
        _encode_operand(draft, key, request.operand, places[key])
    presubtracts = _presubtracts(requests, given)
    _encode_addresses(draft, "rgb_addr", slots.color, presubtracts.get(Unit.RGB))
    _encode_addresses(draft, "alpha_addr", slots.alpha, presubtracts.get(Unit.ALPHA))


def _add_requests(requests: dict[Key, _Request], unit: Unit, half: UnitHalf, given: Mapping[Unit, Given]) -> None:
    names = "abc"
    if half.operation in _DERIVATIVES and len(half.operands) == 3:
        if half.operands[2].source != half.operands[0].source:
            raise SourceError("A and C of MDH and MDV are the same source", half.operands[2].position)
    for name, operand in zip(names, half.operands, strict=False):
        at_source_0 = half.operation in _DERIVATIVES and name != "b"
        if len(operand.letters) == 4:
            color = UnitOperand(
                operand.source, operand.letters[:3], operand.negative, operand.absolute, operand.position
            )
            alpha = UnitOperand(
                operand.source, operand.letters[3], operand.negative, operand.absolute, operand.position
            )
            requests[Unit.RGB, name] = _request(color, given)
            requests[Unit.ALPHA, name] = _request(alpha, given)
        elif at_source_0:
            requests[unit, name] = _derivative_request(operand, unit)
        else:
            requests[unit, name] = _request(operand, given)
