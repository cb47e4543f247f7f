"""The R5xx instruction set, as the array takes it."""

from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.sim.golden.dpp.constants import Constants
from ctm.sim.golden.dpp.core import InstructionSet
from ctm.sim.golden.pe.loader import Image
from ctm.sim.golden.r5xx.execution import Execution
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.state import Batch


def _program(image: Image, constants: Constants) -> Program:
    return Program(image=image, constants=constants)


R5XX: InstructionSet[Program, Batch] = InstructionSet(
    name="r5xx", units=tuple(unit.name for unit in InstructionType), program=_program, executor=Execution
)
