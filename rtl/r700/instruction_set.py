"""The R700 instruction set in the form that the array takes."""

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.instruction_set import InstructionSet
from ctm.rtl.r700.code.reader import CodeReader
from ctm.rtl.r700.core import Core
from ctm.rtl.r700.launch import Launch
from ctm.rtl.r700.shapes import SHAPES
from ctm.rtl.r700.watch import CoreWatch


def launch(config: MachineConfig) -> Launch:
    """The launch of programs, of draws too where the machine draws."""
    return Launch(draws=config.pipeline.draws, outputs=config.array.outputs)


R700 = InstructionSet(name="r700", shapes=SHAPES, core=Core, watch=CoreWatch, code_reader=CodeReader, launch=launch)
