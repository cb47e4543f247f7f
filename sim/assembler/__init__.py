"""Assembler and disassembler; docs/assembler.md describes the language."""

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
