"""Writes the fields of ALU and OUTPUT instructions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ctm.rtl.isa.r5xx.opcodes import InputModifier, Presubtract, RgbOperation, Select
from ctm.rtl.isa.r5xx.operations import ALPHA_DERIVATIVES, RGB_DERIVATIVES
from ctm.sim.assembler.error import SourceError
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.sim.assembler.r5xx.encoder.destinations import encode_destinations
from ctm.sim.assembler.r5xx.encoder.operand_fields import operand_fields
from ctm.sim.assembler.r5xx.encoder.pairing import Pair, UnitHalf, UnitOperand
from ctm.sim.assembler.r5xx.encoder.sources import UNUSED, Need, Slots, allocate
from ctm.sim.assembler.r5xx.syntax import SWIZZLE_LETTERS, Bank, Presubtraction, Register, Slot, Unit

_DERIVATIVES = {*RGB_DERIVATIVES, *ALPHA_DERIVATIVES}
_MODIFIERS = {
    (False, False): InputModifier.OFF,
    (True, False): InputModifier.NEG,
    (False, True): InputModifier.ABS,
    (True, True): InputModifier.NAB,
}

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
    needs: tuple[Need, ...] = ()
    select: int | None = None


def encode(draft: Draft, pair: Pair, given: Mapping[Unit, Given], *, uncached_writes: bool) -> None:
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
    _check_fourth_component(pair[0], requests)
    slots, selects = _allocate(requests, given)
    for key, request in requests.items():
        _encode_operand(draft, key, request.operand, selects[key])
    _encode_addresses(draft, "rgb_addr", slots.color, _presubtract(requests, given, Unit.RGB))
    _encode_addresses(draft, "alpha_addr", slots.alpha, _presubtract(requests, given, Unit.ALPHA))


def _add_requests(requests: dict[Key, _Request], unit: Unit, half: UnitHalf, given: Mapping[Unit, Given]) -> None:
    derivative = half.operation in _DERIVATIVES
    if derivative and len(half.operands) == 3 and half.operands[2].source != half.operands[0].source:
        raise SourceError("A and C of MDH and MDV are the same source", half.operands[2].position)
    for name, operand in zip("abc", half.operands, strict=False):
        if len(operand.letters) == 4:
            _add(requests, (Unit.RGB, name), _request(replace(operand, letters=operand.letters[:3]), given))
            _add(requests, (Unit.ALPHA, name), _request(replace(operand, letters=operand.letters[3]), given))
        elif derivative and name != "b":
            _add(requests, (unit, name), _derivative_request(operand, unit))
        else:
            _add(requests, (unit, name), _request(operand, given))


def _add(requests: dict[Key, _Request], key: Key, request: _Request) -> None:
    if key in requests and requests[key].operand != request.operand:
        message = f"alpha operand {key[1].upper()} is also the fourth component of the DP4 operand and must be the same"
        raise SourceError(message, request.operand.position)
    requests[key] = request


def _request(operand: UnitOperand, given: Mapping[Unit, Given]) -> _Request:
    """What an operand needs that is read through select and swizzle."""
    source, position = operand.source, operand.position
    color, alpha = any(letter in "rgb" for letter in operand.letters), "a" in operand.letters
    if isinstance(source, Register):
        if not (color or alpha):
            return _Request(operand, select=0)
        return _Request(operand, (Need(source, color, alpha, position),))
    if isinstance(source, Presubtraction):
        needs = tuple(Need(register, color, alpha, position, slot) for slot, register in enumerate(source.sources))
        return _Request(operand, needs, Select.SRCP.value)
    if isinstance(source, Slot):
        for unit, reads, name in ((Unit.RGB, color, "rgb_src"), (Unit.ALPHA, alpha, "alpha_src")):
            if reads and unit not in given:
                raise SourceError(f"a source by number needs {name}(...), which says what it is", position)
        return _Request(operand, select=source.index)
    return _Request(operand, select=0)


def _derivative_request(operand: UnitOperand, unit: Unit) -> _Request:
    """A and C of MDH and MDV: source 0, whatever select and swizzle say."""
    source = operand.source
    if isinstance(source, Slot):
        return _Request(operand, select=source.index)
    if not isinstance(source, Register):
        raise SourceError("MDH and MDV take a register here", operand.position)
    need = Need(source, color=unit is Unit.RGB, alpha=unit is Unit.ALPHA, position=operand.position, fixed=0)
    return _Request(operand, (need,), select=0)


def _check_fourth_component(rgb: UnitHalf | None, requests: Mapping[Key, _Request]) -> None:
    if rgb is not None and rgb.operation is RgbOperation.DP4:
        for name, operand in zip("ab", rgb.operands, strict=True):
            if (Unit.ALPHA, name) not in requests:
                raise SourceError("DP4 takes four letters, or has its fourth from the alpha half", operand.position)


def _allocate(requests: Mapping[Key, _Request], given: Mapping[Unit, Given]) -> tuple[Slots, dict[Key, int]]:
    """The source slots, and the select of every operand."""
    slots = Slots()
    if Unit.RGB in given:
        slots.color = list(given[Unit.RGB].registers)
    if Unit.ALPHA in given:
        slots.alpha = list(given[Unit.ALPHA].registers)
    needs = [need for request in requests.values() for need in request.needs]
    slots, allocated = allocate(needs, slots)
    selects: dict[Key, int] = {}
    at = 0
    for key, request in requests.items():
        selects[key] = allocated[at] if request.select is None else request.select
        at += len(request.needs)
    return slots, selects


def _presubtract(requests: Mapping[Key, _Request], given: Mapping[Unit, Given], unit: Unit) -> Presubtract:
    """The presubtract of a unit: what its source list says, or what the operands use that read it."""
    found = given[unit].presubtract if unit in given else None
    letters = "a" if unit is Unit.ALPHA else "rgb"
    for request in requests.values():
        operand = request.operand
        reads = any(letter in letters for letter in operand.letters)
        if isinstance(operand.source, Presubtraction) and reads:
            if found not in (None, operand.source.operation):
                raise SourceError(f"the {unit.value} unit has another presubtract already", operand.position)
            found = operand.source.operation
    return found or Presubtract.BIAS


def _encode_half(draft: Draft, unit: Unit, unit_half: UnitHalf) -> None:
    half = unit_half.half
    name = unit.value
    draft.set(
        "common",
        **{
            f"{name}_pred_sel": half.predicate.select.value,
            f"{name}_pred_inv": half.predicate.inverted,
            f"{name}_clamp": half.clamp,
        },
    )
    draft.set(f"{name}_inst", omod=half.modifier.value)
    if unit is Unit.RGB:
        draft.set("rgba_inst", rgb_op=unit_half.operation.value)
    else:
        draft.set("alpha_inst", op=unit_half.operation.value)


def _encode_operand(draft: Draft, key: Key, operand: UnitOperand, select: int) -> None:
    fields_of = operand_fields(*key)
    codes = [SWIZZLE_LETTERS.index(letter) for letter in operand.letters]
    modifier = _MODIFIERS[operand.negative, operand.absolute]
    draft.set(
        fields_of.word,
        **{fields_of.select: select, fields_of.modifier: modifier.value},
        **dict(zip(fields_of.swizzles, codes, strict=True)),
    )


def _encode_addresses(draft: Draft, word: str, registers: Sequence[Register | None], presubtract: Presubtract) -> None:
    draft.set(word, srcp_op=presubtract.value)
    for slot, register in enumerate(registers):
        source = register or UNUSED
        draft.set(
            word,
            **{
                f"addr{slot}": source.address,
                f"addr{slot}_const": source.bank is Bank.CONSTANT,
                f"addr{slot}_rel": source.relative,
            },
        )
