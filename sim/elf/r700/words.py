"""The CF instructions of a program that can be reached."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctm.rtl.isa.r700 import control_flow, exports
from ctm.rtl.isa.r700.control_flow import CfOperation, Condition
from ctm.rtl.isa.r700.limits import FETCH_UNITS
from ctm.rtl.isa.word import unpack

Units = Sequence[tuple[int, ...]]

TEXTURE_CLAUSES = tuple(operation.value for operation in control_flow.TEXTURE_CLAUSES)
_FETCH_CLAUSES = tuple(operation.value for operation in control_flow.FETCH_CLAUSES)
_WITHOUT_TARGET = tuple(operation.value for operation in control_flow.WITHOUT_TARGET)
_CALL_FETCH = CfOperation.CALL_FS.value
_SWIZZLED = tuple(operation.value for operation in exports.SWIZZLED)


@dataclass(frozen=True)
class Word:
    """A CF instruction: its address, its fields by name, and the units of the clause that it starts."""

    address: int
    is_alu: bool
    is_export: bool
    fields: dict[str, int]
    units: int = 0

    @property
    def is_pixel_export(self) -> bool:
        """Whether it exports to targets or to the conditional value."""
        return self.is_export and self.fields["cf_inst"] in _SWIZZLED


def words(code: Units, start: int, fetch_start: int | None = None) -> Iterator[Word]:
    """The CF instructions that can be reached from `start`, in the order of their addresses.

    CALL_FS calls `fetch_start`.
    """
    found: dict[int, Word] = {}
    waiting = [start]
    while waiting:
        address = waiting.pop()
        if address in found or address >= len(code):
            continue
        word = found[address] = _word(address, *code[address])
        if word.fields.get("end_of_program"):
            continue
        if not _never_continues(word):
            waiting.append(address + 1)
        if word.is_alu or word.is_export or word.fields["cf_inst"] in _WITHOUT_TARGET:
            continue
        target = fetch_start if word.fields["cf_inst"] == _CALL_FETCH else word.fields["addr"]
        if target is not None:
            waiting.append(target)
    yield from (found[address] for address in sorted(found))


def _never_continues(word: Word) -> bool:
    """Whether the word after it is never next: a jump that is always taken, a return of all pixels."""
    if word.is_alu or word.is_export:
        return False
    operation, condition = word.fields["cf_inst"], word.fields["cond"]
    if operation == CfOperation.RETURN.value:
        return condition == Condition.ACTIVE.value and not word.fields["valid_pixel_mode"]
    return bool(operation == CfOperation.JUMP.value and condition == Condition.FALSE.value)


def _word(address: int, low: int, high: int) -> Word:
    form = unpack(control_flow.CF_FORM, high)
    if form["is_alu"]:
        fields = unpack(control_flow.CF_ALU_DWORD0, low) | unpack(control_flow.CF_ALU_DWORD1, high)
        return Word(address, True, False, fields, fields["count"] + 1)
    if form["is_export"]:
        swizzled = unpack(exports.EXPORT_DWORD1_BUF, high)["cf_inst"] in _SWIZZLED
        second = exports.EXPORT_DWORD1_SWIZ if swizzled else exports.EXPORT_DWORD1_BUF
        return Word(address, False, True, unpack(exports.EXPORT_DWORD0, low) | unpack(second, high))
    fields = unpack(control_flow.CF_DWORD0, low) | unpack(control_flow.CF_DWORD1, high)
    is_fetch = fields["cf_inst"] in _FETCH_CLAUSES
    units = FETCH_UNITS * ((fields["count_3"] << 3 | fields["count"]) + 1) if is_fetch else 0
    return Word(address, False, False, fields, units)
