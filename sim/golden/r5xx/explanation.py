"""What is wrong with the instruction that a core of R5xx faulted in."""

from ctm.rtl.isa.status import Status
from ctm.sim.golden.pe.loader import Image
from ctm.sim.golden.r5xx.image import fields_of
from ctm.sim.golden.r5xx.instruction import Illegal
from ctm.sim.golden.r5xx.program import decode_code

OTHER_LOOP = "the innermost loop is of the other kind"


def out_of_range(instructions: int) -> str:
    """The detail of a PC_RANGE fault."""
    return f"the code has {instructions} instructions"


def explain(image: Image, pc: int, status: Status) -> str:
    """The detail of a fault at a PC, as far as it follows from the code."""
    if status is Status.PC_RANGE:
        return out_of_range(len(image.code))
    if status is not Status.ILLEGAL_INSTRUCTION or pc >= len(image.code):
        return ""
    fields = fields_of(image.information)
    code = decode_code(image.code, fields["US_CODE_OFFSET"]["offset"], bool(fields["UMRT"]["uncached_writes"]))
    found = code.instructions[pc]
    # One that is legal by itself does not fit the loop that it is in.
    return found.reason if isinstance(found, Illegal) else OTHER_LOOP
