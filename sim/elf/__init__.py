"""DPP executables: ELF files, the notes in them, and the JSON form of compiled shaders.

Source: CTM Guide pp. 45-49.
"""

from sim.elf.error import ElfError
from sim.elf.executable import Executable, Instruction
from sim.elf.notes import Notes, derive_notes
from sim.elf.reader import read
from sim.elf.shader import Shader, ShaderError, read_shader
from sim.elf.writer import write

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
