"""Assembler and disassembler; docs/assembler.md and docs/assembler-r700.md describe the languages."""

from ctm.sim.assembler.error import AssemblyError, Diagnostic
from ctm.sim.assembler.languages import LANGUAGES, Language, assemble, assemble_listing, disassemble
from ctm.sim.assembler.listing import Listing

__all__ = [
    "LANGUAGES",
    "AssemblyError",
    "Diagnostic",
    "Language",
    "Listing",
    "assemble",
    "assemble_listing",
    "disassemble",
]
