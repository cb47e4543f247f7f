"""What is wrong with the instruction that a core of R700 faulted in."""

from typing import TypeGuard

from ctm.rtl.isa.r700.control_flow import FETCH_CLAUSES
from ctm.rtl.isa.r700.program import FAULT_PC
from ctm.rtl.isa.status import Status
from ctm.rtl.isa.word import unpack
from ctm.sim.golden.pe.loader import Image
from ctm.sim.golden.r700.image import information_of
from ctm.sim.golden.r700.instruction import AluWord, Export, Flow, Illegal
from ctm.sim.golden.r700.program import Code, code_of

NO_LOOP = "an export relative to aL outside of a loop"


def word_out_of_range(word: int, units: int) -> str:
    """The detail of the fault of a CF instruction that is not in the code."""
    return f"CF instruction {word}: the code has {units} units"


def clause_out_of_range(word: AluWord | Flow, units: int) -> str:
    """The detail of the fault of a clause that is not in the code."""
    return f"the clause ends at {word.target + word.units}, and the code has {units} units"


def explain(image: Image, pc: int, status: Status) -> str:
    """The detail of a fault at a PC, as far as it follows from the code."""
    if status not in (Status.ILLEGAL_INSTRUCTION, Status.PC_RANGE):
        return ""
    code = code_of(image.code, information_of(image))
    fields = unpack(FAULT_PC, pc)
    if fields["word"] >= len(code):
        return word_out_of_range(fields["word"], len(code))
    word = code.word(fields["word"])
    if isinstance(word, Illegal):
        return word.reason
    if status is Status.PC_RANGE:
        return clause_out_of_range(word, len(code)) if _has_clause(word) else ""
    if isinstance(word, Export):
        return NO_LOOP if word.relative else ""
    return _of_clause(code, fields["word"], fields["address"]) if _has_clause(word) else ""


def _has_clause(word: AluWord | Flow | Export) -> TypeGuard[AluWord | Flow]:
    return isinstance(word, AluWord) or (isinstance(word, Flow) and word.operation in FETCH_CLAUSES)


def _of_clause(code: Code, word: int, address: int) -> str:
    clause = code.clause(word)
    found = dict(zip(clause.addresses, clause.instructions, strict=False)) if clause else {}
    instruction = found.get(address)
    return instruction.reason if isinstance(instruction, Illegal) else ""
