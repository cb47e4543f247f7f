"""The R700 instruction set in the form that the array takes."""

from ctm.rtl.dpp.instruction_set import InstructionSet
from ctm.rtl.r700.code.reader import CodeReader
from ctm.rtl.r700.core import Core
from ctm.rtl.r700.launch import Launch
from ctm.rtl.r700.shapes import SHAPES
from ctm.rtl.r700.watch import CoreWatch

R700 = InstructionSet(name="r700", shapes=SHAPES, core=Core, watch=CoreWatch, code_reader=CodeReader, launch=Launch)
