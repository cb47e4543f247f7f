"""Assembler and disassembler; docs/assembler.md describes the language."""

from ctm.sim.assembler.error import AssemblyError, Diagnostic
from ctm.sim.assembler.r5xx.printer.disassembler import disassemble
from ctm.sim.assembler.r5xx.program import Listing, assemble, assemble_listing

__all__ = ["AssemblyError", "Diagnostic", "Listing", "assemble", "assemble_listing", "disassemble"]
