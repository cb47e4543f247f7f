"""Repairs of what LLVM 22's R600 back end gets wrong for the RV770, where what is meant is beyond doubt."""

from collections.abc import Iterator, Sequence

from ctm.rtl.isa.r700 import alu, fetch
from ctm.rtl.isa.r700.alu import Op2
from ctm.rtl.isa.r700.control_flow import AluClause
from ctm.rtl.isa.r700.limits import FETCH_UNITS
from ctm.rtl.isa.word import replace, unpack
from ctm.sim.elf.lines import Line
from ctm.sim.elf.r700.executable import Unit
from ctm.sim.elf.r700.llvm.error import DefectError
from ctm.sim.elf.r700.operands import instructions
from ctm.sim.elf.r700.words import Word, words

_EVERGREEN_MOVA_INT = 0xCC
"""The number that LLVM writes for MOVA_INT whatever the chip; no operation of the R700 has it."""
_MASKED = 7

Component = tuple[int, int]
"""A register and its channel."""


def repair(units: list[Unit], lines: list[Line | None]) -> list[str]:
    """Repair code, together with the lines that its units come from; what was repaired, a sentence each.

    Raises
    ------
    DefectError
        A repair would change what the program means.
    """
    said = []
    moves = _number_moves(units)
    if moves:
        said.append(f"repaired: {moves} MOVA_INT with Evergreen's number, 0xcc instead of 0x18")
    fetches = _move_fetches(units, lines)
    if fetches:
        said.append(f"repaired: {fetches} fetch clauses between ALU_PUSH_BEFORE and its JUMP, moved in front of both")
    return said


def _number_moves(units: list[Unit]) -> int:
    count = 0
    for word in list(words(units, 0)):
        for fields in instructions(units, word) if word.is_alu else ():
            if not fields["has_three"] and fields["alu_inst"] == _EVERGREEN_MOVA_INT:
                low, high = units[fields["address"]]
                units[fields["address"]] = low, replace(alu.ALU_DWORD1_OP2, high, alu_inst=Op2.MOVA_INT.value)
                count += 1
    return count


def _move_fetches(units: list[Unit], lines: list[Line | None]) -> int:
    """Pixels that are about to leave do not fetch after the push, but use what was fetched."""
    count = 0
    found = {word.address: word for word in words(units, 0)}
    for address, word in found.items():
        if not word.is_alu or word.fields["cf_inst"] != AluClause.ALU_PUSH_BEFORE.value:
            continue
        clauses = list(_fetch_clauses(found, address + 1))
        if not clauses:
            continue
        if _depend(units, word, clauses):
            raise DefectError(
                "put a fetch between a condition and its jump that depends on the condition", address,
                flags="compile with another -O", change="use the fetched value in the condition",
            )  # fmt: skip
        end = address + 1 + len(clauses)
        units[address:end] = [*units[address + 1 : end], units[address]]
        lines[address:end] = [*lines[address + 1 : end], lines[address]]
        count += len(clauses)
    return count


def _fetch_clauses(found: dict[int, Word], address: int) -> Iterator[Word]:
    """The words after a push that start fetch clauses."""
    while address in found and found[address].units and not found[address].is_alu:
        yield found[address]
        address += 1


def _depend(units: Sequence[Unit], word: Word, clauses: Sequence[Word]) -> bool:
    """Whether fetches read or write what a clause writes, or write what it reads."""
    reads: set[Component] = set()
    writes: set[Component] = set()
    for fields in instructions(units, word):
        for number in range(fields["operands"]):
            if fields[f"src{number}_sel"] < alu.KCACHE_0:
                reads |= _components(
                    fields[f"src{number}_sel"], fields[f"src{number}_chan"], fields[f"src{number}_rel"]
                )
        if fields.get("write_mask", 1):
            writes |= _components(fields["dst_gpr"], fields["dst_chan"], fields["dst_rel"])
    for clause in clauses:
        first = clause.fields["addr"]
        for at in range(first, min(first + clause.units, len(units) - 1), FETCH_UNITS):
            sources, results = _fetched(units[at], units[at + 1])
            if sources & writes or results & (reads | writes):
                return True
    return False


def _components(register: int, channel: int, relative: int) -> set[Component]:
    """What an operand may be: with a relative number that channel of any register."""
    return {(number, channel) for number in (range(alu.KCACHE_0) if relative else [register])}


def _fetched(first: Unit, second: Unit) -> tuple[set[Component], set[Component]]:
    """What a fetch instruction reads and writes."""
    low, middle, high = unpack(fetch.TEX_DWORD0, first[0]), unpack(fetch.TEX_DWORD1, first[1]), second[0]
    selects = [unpack(fetch.TEX_DWORD2, high)[f"src_sel_{name}"] for name in "xyzw"]
    sources = {(low["src_gpr"], select) for select in selects if select < len(selects)}
    if low["tex_inst"] == fetch.VertexOperation.FETCH.value:
        sources = {(low["src_gpr"], channel) for channel in range(4)}
    results = {
        (middle["dst_gpr"], channel) for channel, name in enumerate("xyzw") if middle[f"dst_sel_{name}"] != _MASKED
    }
    return sources, results
