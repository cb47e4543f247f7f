"""Liveness: which components of registers are read after a clause."""

from collections.abc import Iterator, Mapping, Sequence

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700 import fetch
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.control_flow import WITHOUT_TARGET
from ctm.rtl.isa.r700.fetch import LOOKUPS, VertexOperation
from ctm.rtl.isa.r700.limits import FETCH_UNITS
from ctm.rtl.isa.word import unpack
from ctm.sim.compiler.r700.order.decoding import Clause, UnknownError
from ctm.sim.compiler.r700.order.operations import Component, component_of
from ctm.sim.elf.r700.executable import Unit
from ctm.sim.elf.r700.words import Word

_WITHOUT_TARGET = tuple(operation.value for operation in WITHOUT_TARGET)
_FETCHES = tuple(operation.value for operation in LOOKUPS)
_COORDINATES = "xy"
"""What a fetch reads: inputs have two dimensions."""

Components = frozenset[Component]


def live_after(code: Sequence[Unit], found: Sequence[Word], clauses: Mapping[int, Clause]) -> dict[int, Components]:
    """What is live after each CF instruction, by its address.

    Raises
    ------
    UnknownError
        The reads of an instruction are unknown.
    """
    effects = {word.address: _effect(code, word, clauses) for word in found}
    after: dict[int, Components] = {word.address: frozenset() for word in found}
    successors = {word.address: [to for to in _successors(word) if to in effects] for word in found}
    changed = True
    while changed:
        changed = False
        for word in reversed(found):
            live: Components = frozenset().union(
                *(effects[to][0] | (after[to] - effects[to][1]) for to in successors[word.address])
            )
            changed = changed or live != after[word.address]
            after[word.address] = live
    return after


def _successors(word: Word) -> Iterator[int]:
    if word.fields.get("end_of_program"):
        return
    yield word.address + 1
    if not word.is_alu and not word.is_export and word.fields["cf_inst"] not in _WITHOUT_TARGET:
        yield word.fields["addr"]


def _effect(code: Sequence[Unit], word: Word, clauses: Mapping[int, Clause]) -> tuple[Components, Components]:
    """What a word reads of that which was there before it, and what it overwrites for each pixel that executes it."""
    if word.is_alu:
        return _arithmetic(clauses[word.address])
    if word.is_export:
        return _exported(word), frozenset()
    read: set[Component] = set()
    written: set[Component] = set()
    at = word.fields["addr"]
    for first in range(at, at + word.units, FETCH_UNITS):
        sources, results = _fetched(code[first], code[first + 1])
        read |= sources - written
        written |= results
    return frozenset(read), frozenset(written)


def _arithmetic(clause: Clause) -> tuple[Components, Components]:
    read: set[Component] = set()
    written: set[Component] = set()
    for group in clause.groups:
        for each in group:
            read |= {operand for operand in each.registers if operand not in written}
        written |= {each.destination for each in group if each.destination is not None and not each.fields["pred_sel"]}
    return frozenset(read), frozenset(written)


def _exported(word: Word) -> Components:
    fields = word.fields
    if not word.is_pixel_export or fields["rw_rel"]:
        raise UnknownError
    selects = [fields[f"sel_{component}"] for component in "xyzw"]
    registers = range(fields["rw_gpr"], fields["rw_gpr"] + fields["burst_count"] + 1)
    return frozenset(component_of(gpr, select) for gpr in registers for select in selects if select < CHANNELS)


def _fetched(first: Unit, second: Unit) -> tuple[set[Component], set[Component]]:
    low, middle = unpack(fetch.TEX_DWORD0, first[0]), unpack(fetch.TEX_DWORD1, first[1])
    if low["src_rel"] or middle["dst_rel"]:
        raise UnknownError
    if low["tex_inst"] == VertexOperation.FETCH.value:
        selects = [unpack(fetch.VTX_DWORD0, first[0])["src_sel_x"]]
    elif low["tex_inst"] in _FETCHES:
        third = unpack(fetch.TEX_DWORD2, second[0])
        selects = [third[f"src_sel_{component}"] for component in _COORDINATES]
    else:
        raise UnknownError
    sources = {component_of(low["src_gpr"], select) for select in selects if select < CHANNELS}
    masked = ComponentSelect.MASK.value
    results = {
        component_of(middle["dst_gpr"], channel)
        for channel, name in enumerate("xyzw")
        if middle[f"dst_sel_{name}"] != masked
    }
    return sources, results
