"""The R5xx instruction set in the form that the array takes."""

from ctm.rtl.dpp.instruction_set import InstructionSet
from ctm.rtl.r5xx.code.reader import CodeReader
from ctm.rtl.r5xx.core import Core
from ctm.rtl.r5xx.launch import Launch
from ctm.rtl.r5xx.shapes import SHAPES
from ctm.rtl.r5xx.watch import CoreWatch

R5XX = InstructionSet(
    name="r5xx",
    shapes=SHAPES,
    core=Core,
    watch=CoreWatch,
    code_reader=CodeReader,
    launch=lambda config: Launch(),
)
