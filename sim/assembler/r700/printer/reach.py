"""Finds out what the units of a program are: CF instructions, clauses, or nothing that is reached."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctm.rtl.isa.r700.control_flow import CfOperation, Condition
from ctm.rtl.isa.r700.limits import FETCH_UNITS
from ctm.sim.assembler.r700.form import CLAUSE, CONTROL, Draft, control_draft
from ctm.sim.assembler.r700.parser.control import count_of, starts_fetch
from ctm.sim.assembler.r700.printer.control import has_target
from ctm.sim.elf.r700.executable import Unit

_TEXTURE = (CfOperation.TEX.value, CfOperation.TEX_ACK.value)

_ELSEWHERE = (
    (CfOperation.JUMP.value, Condition.FALSE.value),
    (CfOperation.RETURN.value, Condition.ACTIVE.value),
)


@dataclass(frozen=True)
class Clause:
    """A clause: its CF instruction's address, where it begins and where it ends; for fetches which kind it is."""

    word: int
    begin: int
    end: int
    is_alu: bool
    texture: bool


@dataclass
class Reach:
    """CF instructions and clauses by the addresses at which they begin."""

    words: dict[int, Draft] = field(default_factory=dict)
    clauses: dict[int, Clause] = field(default_factory=dict)


def reach(code: Sequence[Unit], starts: Sequence[int]) -> Reach:
    """Follow the control flow from each start. A clause that overlaps with something else is left out."""
    found = Reach()
    open_addresses = list(starts)
    while open_addresses:
        address = open_addresses.pop()
        if address in found.words or not 0 <= address < len(code):
            continue
        draft = found.words[address] = control_draft(code[address])
        is_clause = draft.form is CLAUSE or starts_fetch(draft)
        if has_target(draft) and not is_clause:
            open_addresses.append(draft.get("addr"))
        if not _leaves(draft):
            open_addresses.append(address + 1)
    taken = set(found.words)
    for address, draft in sorted(found.words.items()):
        clause = _clause(address, draft)
        if clause is None or clause.begin in found.clauses:
            continue
        units = range(clause.begin, clause.end)
        if clause.end <= len(code) and taken.isdisjoint(units):
            taken.update(units)
            found.clauses[clause.begin] = clause
    return found


def _leaves(draft: Draft) -> bool:
    """Whether the next word is not reached from a word: it ends the program, or always goes elsewhere."""
    if draft.form is CLAUSE:
        return False
    if draft.get("end_of_program"):
        return True
    return draft.form is CONTROL and (draft.get("cf_inst"), draft.get("cond")) in _ELSEWHERE


def _clause(address: int, draft: Draft) -> Clause | None:
    is_alu = draft.form is CLAUSE
    if not is_alu and not starts_fetch(draft):
        return None
    begin = draft.get("addr")
    units = count_of(draft) * (1 if is_alu else FETCH_UNITS)
    texture = not is_alu and draft.get("cf_inst") in _TEXTURE
    return Clause(address, begin, begin + units, is_alu, texture)
