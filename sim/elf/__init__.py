"""DPP executables: ELF files, the notes in them, and the JSON form of compiled shaders.

Source: CTM Guide pp. 45-49.
"""

from ctm.sim.elf.error import ElfError
from ctm.sim.elf.json_words import ShaderError
from ctm.sim.elf.kinds import read, write
from ctm.sim.elf.r5xx.executable import Executable, Instruction
from ctm.sim.elf.r5xx.notes import Notes, derive_notes
from ctm.sim.elf.r5xx.shader import Shader, read_shader

__all__ = [
    "ElfError",
    "Executable",
    "Instruction",
    "Notes",
    "Shader",
    "ShaderError",
    "derive_notes",
    "read",
    "read_shader",
    "write",
]
