"""Dot products of LLVM's, whose products with 0 are 0, as those of IEEE 754: an infinity times 0 is NaN."""

from dataclasses import replace

from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.r700.alu import Op2
from ctm.rtl.isa.word import replace as with_fields
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.elf.r700.operands import instructions
from ctm.sim.elf.r700.words import words


def with_ieee_products(executable: Executable) -> Executable:
    """The same program with DOT4_IEEE for DOT4."""
    code = list(executable.code)
    for word in words(executable.code, executable.start):
        for fields in instructions(executable.code, word) if word.is_alu else ():
            if not fields["has_three"] and fields["alu_inst"] == Op2.DOT4.value:
                low, high = code[fields["address"]]
                high = with_fields(alu.ALU_DWORD1_OP2, high, alu_inst=Op2.DOT4_IEEE.value)
                code[fields["address"]] = low, high
    return replace(executable, code=tuple(code))
