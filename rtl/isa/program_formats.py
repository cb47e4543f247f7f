"""Every kind of program, by the instruction set that it is for."""

from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.r5xx import program as r5xx
from ctm.rtl.isa.r700 import program as r700

PROGRAM_FORMATS: dict[str, ProgramFormat] = {"r5xx": r5xx.PROGRAM_FORMAT, "r700": r700.PROGRAM_FORMAT}
