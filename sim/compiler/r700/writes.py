"""Uncached writes, which LLVM cannot make for the R700: it exports address and value, and here they become MEM_EXPORTs.

A MEM_EXPORT takes its data and its index from the first channels of two registers, so a clause in front of it moves
them into two registers of their own.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace

from ctm.rtl.isa.r700 import alu, control_flow, exports
from ctm.rtl.isa.r700.alu import Op2
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.isa.r700.control_flow import AluClause
from ctm.rtl.isa.r700.exports import UNBOUNDED, ExportOperation, ExportType, MemoryWrite
from ctm.rtl.isa.word import pack
from ctm.rtl.isa.word import replace as with_fields
from ctm.sim.compiler.r700.lowering import WRITE
from ctm.sim.elf.r700.executable import Executable, Unit
from ctm.sim.elf.r700.words import Word, words

_ADDRESS, _VALUE = "sel_x", "sel_y"
"""Where the exports that stand for writes have address and value."""
_REGISTERS = 2
_INLINE = {ComponentSelect.ZERO.value: 248, ComponentSelect.ONE.value: 249}
_NOP = (0, pack(control_flow.CF_DWORD1, barrier=1))


def with_writes(executable: Executable) -> Executable:
    """The program with its writes; ValueError if there can be none."""
    found = list(words(executable.code, executable.start))
    marks = [word for word in found if _is_write(word)]
    if not marks:
        return executable
    if executable.notes.outputs[:1] == (0,):
        raise ValueError("write() and output(0, ...): writes go to output 0, so nothing else can")
    addresses = [word.address for word in marks]
    clauses = min(word.fields["addr"] for word in found if word.units)
    # Fetch clauses are at even addresses.
    padding = len(marks) % 2

    def moved(address: int) -> int:
        return address + bisect_left(addresses, address) + (padding if address >= clauses else 0)

    end = len(executable.code) + len(marks) + padding
    order: list[int] = []
    code: list[Unit] = []
    by_address = {word.address: word for word in found}
    appended: list[Unit] = []
    for address, unit in enumerate(executable.code):
        if address == clauses and padding:
            code.append(_NOP)
            order.append(address)
        word = by_address.get(address)
        if word is not None and _is_write(word):
            code += [_clause(end + len(appended)), _write(word, executable.gprs)]
            appended += _moves(word, executable.gprs)
            order += [address, address]
            continue
        code.append(unit if word is None else _relocated(unit, word, moved))
        order.append(address)
    lines = executable.lines
    if lines is not None:
        appended_lines = [lines.units[mark] for mark in addresses for _ in range(_REGISTERS)]
        lines = replace(lines, units=(*(lines.units[address] for address in order), *appended_lines))
    return replace(executable, code=(*code, *appended), gprs=executable.gprs + _REGISTERS, memory=True, lines=lines)


def _is_write(word: Word) -> bool:
    fields = word.fields
    return word.is_pixel_export and (fields["type"], fields["array_base"]) == (ExportType.PARAM.value, WRITE)


def _relocated(unit: Unit, word: Word, moved: Callable[[int], int]) -> Unit:
    low, high = unit
    if word.is_alu:
        return with_fields(control_flow.CF_ALU_DWORD0, low, addr=moved(word.fields["addr"])), high
    if word.is_export or not (word.units or word.fields["addr"]):
        return unit
    return with_fields(control_flow.CF_DWORD0, low, addr=moved(word.fields["addr"])), high


def _clause(address: int) -> Unit:
    high = pack(control_flow.CF_ALU_DWORD1, count=_REGISTERS - 1, cf_inst=AluClause.ALU.value, barrier=1)
    return pack(control_flow.CF_ALU_DWORD0, addr=address), high


def _moves(word: Word, first: int) -> list[Unit]:
    return [_move(word, _VALUE, first), _move(word, _ADDRESS, first + 1)]


def _move(word: Word, component: str, register: int) -> Unit:
    select = word.fields[component]
    source = {"src0_sel": _INLINE[select]} if select in _INLINE else {
        "src0_sel": word.fields["rw_gpr"], "src0_chan": select,
    }  # fmt: skip
    low = pack(alu.ALU_DWORD0, last=1, **source)
    return low, pack(alu.ALU_DWORD1_OP2, alu_inst=Op2.MOV.value, write_mask=1, dst_gpr=register)


def _write(word: Word, first: int) -> Unit:
    low = pack(exports.EXPORT_DWORD0, type=MemoryWrite.WRITE_IND.value, rw_gpr=first, index_gpr=first + 1, elem_size=0)
    high = pack(
        exports.EXPORT_DWORD1_BUF,
        array_size=UNBOUNDED,
        comp_mask=1,
        end_of_program=word.fields["end_of_program"],
        cf_inst=ExportOperation.MEM_EXPORT.value,
        barrier=1,
    )
    return low, high
