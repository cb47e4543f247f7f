"""The instruction sets that a machine may have, by the name that its configuration gives."""

from ctm.rtl.dpp.instruction_set import InstructionSet
from ctm.rtl.r5xx.instruction_set import R5XX

INSTRUCTION_SETS: dict[str, InstructionSet] = {instruction_set.name: instruction_set for instruction_set in (R5XX,)}
