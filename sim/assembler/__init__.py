"""Assembler and disassembler; docs/assembler.md describes the language."""

from sim.assembler.disassembler import disassemble
from sim.assembler.error import AssemblyError, Diagnostic
from sim.assembler.program import Listing, assemble, assemble_listing

__all__ = ["AssemblyError", "Diagnostic", "Listing", "assemble", "assemble_listing", "disassemble"]
