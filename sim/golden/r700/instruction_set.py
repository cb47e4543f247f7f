"""The R700 instruction set, as the array takes it."""

from ctm.rtl.isa.r700.program import describe_pc, unit_of
from ctm.sim.golden.dpp.constants import Constants
from ctm.sim.golden.dpp.core import InstructionSet
from ctm.sim.golden.pe.loader import Image
from ctm.sim.golden.r700.draws.stages import R700Stages
from ctm.sim.golden.r700.execution import UNITS, Execution
from ctm.sim.golden.r700.image import information_of
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.state import Batch


def _program(image: Image, constants: Constants) -> Program:
    information_of(image)
    return Program(image=image, constants=constants)


R700: InstructionSet[Program, Batch] = InstructionSet(
    name="r700",
    units=UNITS,
    program=_program,
    executor=Execution,
    describe_pc=describe_pc,
    unit=unit_of,
    stages=R700Stages,
)
