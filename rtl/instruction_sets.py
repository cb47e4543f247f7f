"""The instruction sets that a machine may have, by the name that its configuration gives."""

from ctm.rtl.dpp.instruction_set import InstructionSet
from ctm.rtl.r5xx.instruction_set import R5XX
from ctm.rtl.r700.instruction_set import R700

INSTRUCTION_SETS: dict[str, InstructionSet] = {each.name: each for each in (R5XX, R700)}
