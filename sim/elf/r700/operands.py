"""The operands of ALU clauses, as far as programs as a whole are described by them."""

from collections.abc import Iterator
from functools import lru_cache

from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.r700.control_flow import KcacheMode
from ctm.rtl.isa.r700.limits import CODE_UNITS, KCACHE_LINE_ROWS, KCACHE_SET_ROWS, LITERALS_PER_UNIT
from ctm.rtl.isa.r700.operations import OPERATIONS
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.r700.words import Units, Word

_OPERANDS = {(type(code).__name__, code.value): operation.operands for code, operation in OPERATIONS.items()}
_LOCKED = (KcacheMode.LOCK_1.value, KcacheMode.LOCK_2.value)


def instructions(code: Units, word: Word) -> Iterator[dict[str, int]]:
    """The fields of each instruction of an ALU clause that lies in the code, literals left out.

    `operands` is how many operands it has; those of an operation that there is not are none. `address` is where it is,
    `group` which group of the clause it belongs to.
    """
    at, end = word.fields["addr"], min(word.fields["addr"] + word.units, len(code))
    literals = group = 0
    while at < end:
        fields, named = _instruction(*code[at])
        yield fields | {"address": at, "group": group}
        literals = max(literals, named)
        at += 1
        if fields["last"]:
            at, literals, group = at + literals, 0, group + 1


# A tool goes through a program several times.
@lru_cache(CODE_UNITS)
def _instruction(low: int, high: int) -> tuple[dict[str, int], int]:
    """The fields of an instruction wherever it is, and how many units of literals it names."""
    has_three = unpack(alu.ENCODING, high)["op3"] != 0
    fields = unpack(alu.ALU_DWORD0, low) | unpack(alu.ALU_DWORD1_OP3 if has_three else alu.ALU_DWORD1_OP2, high)
    operands = _OPERANDS.get(("Op3" if has_three else "Op2", fields["alu_inst"]), 0)
    literals = 0
    for number in range(operands):
        if fields[f"src{number}_sel"] == alu.LITERAL:
            literals = max(literals, fields[f"src{number}_chan"] // LITERALS_PER_UNIT + 1)
    return fields | {"operands": operands, "has_three": int(has_three)}, literals


def constant_rows(code: Units, word: Word) -> set[int]:
    """Float constants, which are bank 0, that the operands of a clause name; those that are relative are left out."""
    rows = set()
    for fields in instructions(code, word):
        for number in range(fields["operands"]):
            select = fields[f"src{number}_sel"]
            if alu.KCACHE_0 <= select < alu.KCACHE_END and not fields[f"src{number}_rel"]:
                which, row = divmod(select - alu.KCACHE_0, KCACHE_SET_ROWS)
                if word.fields[f"kcache_mode{which}"] in _LOCKED and not word.fields[f"kcache_bank{which}"]:
                    rows.add(KCACHE_LINE_ROWS * word.fields[f"kcache_addr{which}"] + row)
    return rows
