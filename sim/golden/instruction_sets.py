"""The instruction sets that the golden model has, by the name that a configuration gives."""

from typing import Any

from ctm.sim.golden.dpp.core import InstructionSet
from ctm.sim.golden.r5xx.instruction_set import R5XX
from ctm.sim.golden.r700.instruction_set import R700

INSTRUCTION_SETS: dict[str, InstructionSet[Any, Any]] = {
    instruction_set.name: instruction_set for instruction_set in (R5XX, R700)
}
