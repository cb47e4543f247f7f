"""The instruction sets that the golden model has, by the name that a configuration gives."""

from collections.abc import Callable, Mapping
from typing import Any

from ctm.rtl.isa.status import Status
from ctm.sim.golden.dpp.core import InstructionSet
from ctm.sim.golden.pe.loader import Image
from ctm.sim.golden.r5xx import explanation as r5xx
from ctm.sim.golden.r5xx.instruction_set import R5XX
from ctm.sim.golden.r700.decode import explanation as r700
from ctm.sim.golden.r700.instruction_set import R700

INSTRUCTION_SETS: dict[str, InstructionSet[Any, Any]] = {
    instruction_set.name: instruction_set for instruction_set in (R5XX, R700)
}

EXPLANATIONS: Mapping[str, Callable[[Image, int, Status], str]] = {R5XX.name: r5xx.explain, R700.name: r700.explain}
"""By instruction set, what a fault's detail says of the instruction of a loaded program at a PC; "" for nothing.

It is what the golden model says of its own faults, as far as that follows from the code.
"""
