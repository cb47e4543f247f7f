"""What the code of an R700 program uses, as far as its words tell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctm.rtl.isa.limits import INPUTS, OUTPUTS
from ctm.rtl.isa.r700 import control_flow, exports, fetch
from ctm.rtl.isa.r700.control_flow import CfOperation
from ctm.rtl.isa.r700.fetch import TextureOperation, VertexOperation
from ctm.rtl.isa.r700.limits import FETCH_UNITS
from ctm.rtl.isa.word import unpack

Units = Sequence[tuple[int, ...]]

_TEXTURE_CLAUSES = (CfOperation.TEX.value, CfOperation.TEX_ACK.value)
_VERTEX_CLAUSES = tuple(CfOperation[name].value for name in ("VTX", "VTX_TC", "VTX_ACK", "VTX_TC_ACK"))
_STAYING = (
    *_TEXTURE_CLAUSES, *_VERTEX_CLAUSES,
    *(CfOperation[name].value for name in ("NOP", "POP", "KILL", "RETURN", "WAIT_ACK")),
)  # fmt: skip
"""Operations whose ADDR is not where control flow may go on."""


@dataclass(frozen=True)
class Word:
    """A CF word that can be reached: its address, and its fields by name."""

    address: int
    is_alu: bool
    is_export: bool
    fields: dict[str, int]
    units: int = 0
    """Units of the fetch or ALU clause that it starts."""


def words(code: Units, start: int) -> Iterator[Word]:
    """The CF words that can be reached from `start`, in the order of their addresses."""
    found: dict[int, Word] = {}
    waiting = [start]
    while waiting:
        address = waiting.pop()
        if address in found or address >= len(code):
            continue
        word = found[address] = _word(address, *code[address])
        if word.fields.get("end_of_program"):
            continue
        waiting.append(address + 1)
        if not word.is_alu and not word.is_export and word.fields["cf_inst"] not in _STAYING:
            waiting.append(word.fields["addr"])
    yield from (found[address] for address in sorted(found))


def _word(address: int, low: int, high: int) -> Word:
    form = unpack(control_flow.CF_FORM, high)
    if form["is_alu"]:
        fields = unpack(control_flow.CF_ALU_DWORD0, low) | unpack(control_flow.CF_ALU_DWORD1, high)
        return Word(address, True, False, fields, fields["count"] + 1)
    if form["is_export"]:
        code = unpack(exports.EXPORT_DWORD1_BUF, high)["cf_inst"]
        swizzled = code in [operation.value for operation in exports.SWIZZLED]
        second = exports.EXPORT_DWORD1_SWIZ if swizzled else exports.EXPORT_DWORD1_BUF
        return Word(address, False, True, unpack(exports.EXPORT_DWORD0, low) | unpack(second, high))
    fields = unpack(control_flow.CF_DWORD0, low) | unpack(control_flow.CF_DWORD1, high)
    is_fetch = fields["cf_inst"] in (*_TEXTURE_CLAUSES, *_VERTEX_CLAUSES)
    units = FETCH_UNITS * ((fields["count_3"] << 3 | fields["count"]) + 1) if is_fetch else 0
    return Word(address, False, False, fields, units)


def inputs(code: Units, start: int, texture_base: int) -> tuple[int, ...]:
    """Inputs that some fetch reads, ascending."""
    found = set()
    for word in words(code, start):
        if word.is_alu or word.is_export or not word.units:
            continue
        for low, _ in code[word.fields["addr"] : word.fields["addr"] + word.units : FETCH_UNITS]:
            number = _resource(low, in_texture_clause=word.fields["cf_inst"] in _TEXTURE_CLAUSES)
            if number is not None and 0 <= number - texture_base < INPUTS:
                found.add(number - texture_base)
    return tuple(sorted(found))


_OF_NO_INPUT = tuple(
    TextureOperation[name].value
    for name in ("GET_GRADIENTS_H", "GET_GRADIENTS_V", "SET_GRADIENTS_H", "SET_GRADIENTS_V", "KEEP_GRADIENTS")
)


def _resource(low: int, *, in_texture_clause: bool) -> int | None:
    """The resource of a fetch instruction, by its first word; None if it reads none."""
    operation = unpack(fetch.FETCH, low)["inst"]
    if operation == VertexOperation.FETCH.value:
        # Buffer 0 is the float constants.
        return unpack(fetch.VTX_DWORD0, low)["buffer_id"] or None
    if operation == VertexOperation.MEM.value or not in_texture_clause or operation in _OF_NO_INPUT:
        return None
    return unpack(fetch.TEX_DWORD0, low)["resource_id"]


def outputs(code: Units, start: int) -> tuple[int, ...]:
    """Outputs that some export to a target writes, ascending."""
    found: set[int] = set()
    for word in words(code, start):
        if _is_pixel_export(word):
            first = word.fields["array_base"]
            found |= set(range(first, first + word.fields["burst_count"] + 1)) & set(range(OUTPUTS))
    return tuple(sorted(found))


def exports_depth(code: Units, start: int) -> bool:
    """Whether some export sets the conditional value."""
    return any(
        _is_pixel_export(word) and word.fields["array_base"] == exports.COMPUTED_DEPTH for word in words(code, start)
    )


def _is_pixel_export(word: Word) -> bool:
    return word.is_export and word.fields["cf_inst"] in [operation.value for operation in exports.SWIZZLED]
