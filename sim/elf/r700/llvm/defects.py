"""Defects of LLVM 22's R600 back end that can be seen in the code and not repaired: such programs compute nonsense."""

from collections.abc import Sequence
from itertools import groupby

from ctm.rtl.isa.r700.alu import Op2
from ctm.rtl.isa.r700.control_flow import CfOperation
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY
from ctm.sim.elf.r700.executable import Unit
from ctm.sim.elf.r700.llvm.error import DefectError
from ctm.sim.elf.r700.operands import instructions
from ctm.sim.elf.r700.words import Word, words

_KNOWN = tuple(
    CfOperation[name].value
    for name in (
        "NOP", "TEX", "VTX", "VTX_TC", "LOOP_END", "LOOP_START_DX10", "LOOP_CONTINUE", "LOOP_BREAK", "JUMP", "PUSH",
        "ELSE", "POP",
    )
)  # fmt: skip
"""CF instructions that LLVM makes."""
_UNUSED = ("cf_const", "call_count", "reserved", "valid_pixel_mode", "whole_quad_mode")
"""Fields that are 0 in all of them."""

_WITHOUT_PREDICATES = "compile with -mllvm -r600-if-convert=0"

Component = tuple[int, int]
"""A register and its channel."""


def check_defects(units: Sequence[Unit]) -> None:
    """Look for them.

    Raises
    ------
    DefectError
        One was found.
    """
    found = list(words(units, 0))
    for word in found:
        if not word.is_alu and not word.is_export and not _is_control_flow(word):
            raise DefectError("made arithmetic among control flow", word.address, flags=_WITHOUT_PREDICATES)
        if word.is_alu and not _is_whole(units, word):
            raise DefectError("made a clause that is cut off", word.address, flags=_WITHOUT_PREDICATES)
    arrays = _array_registers(units, found)
    for word in found:
        for _, group in groupby(instructions(units, word) if word.is_alu else (), lambda fields: fields["group"]):
            if _reads_after_indexed_write(list(group), arrays):
                raise DefectError(
                    "made a group that reads an array after a write with a computed index", word.address,
                    change="read its elements in a loop, or avoid the array",
                )  # fmt: skip


def _is_control_flow(word: Word) -> bool:
    """Whether a word is one as LLVM makes them; an ALU instruction at its address may have the number of one."""
    fields = word.fields
    return fields["cf_inst"] in _KNOWN and bool(fields["barrier"]) and not any(fields[name] for name in _UNUSED)


def _is_whole(units: Sequence[Unit], word: Word) -> bool:
    """Whether a clause lies in the code and ends with a group's end."""
    if word.fields["addr"] + word.units > len(units):
        return False
    last = None
    for fields in instructions(units, word):
        last = fields
    return last is not None and bool(last["last"])


def _array_registers(units: Sequence[Unit], found: Sequence[Word]) -> set[Component]:
    """Registers that only MOVs touch, in their first channel: private arrays look like this."""
    moved: set[Component] = set()
    used: set[Component] = set()
    for word in found:
        for fields in instructions(units, word) if word.is_alu else ():
            is_move = not fields["has_three"] and fields["alu_inst"] == Op2.MOV.value
            (moved if is_move else used).update(_components(fields))
    return {component for component in moved - used if component[1] == 0}


def _components(fields: dict[str, int]) -> set[Component]:
    components = set(_sources(fields))
    if fields.get("write_mask", 1) and not fields["dst_rel"]:
        components.add((fields["dst_gpr"], fields["dst_chan"]))
    return components


def _sources(fields: dict[str, int]) -> set[Component]:
    return {
        (fields[f"src{number}_sel"], fields[f"src{number}_chan"])
        for number in range(fields["operands"])
        if fields[f"src{number}_sel"] < FIRST_CLAUSE_TEMPORARY and not fields[f"src{number}_rel"]
    }


def _reads_after_indexed_write(group: Sequence[dict[str, int]], arrays: set[Component]) -> bool:
    is_after = False
    for fields in group:
        if is_after and _sources(fields) & arrays:
            return True
        is_after = is_after or bool(fields["dst_rel"])
    return False
