"""DPP executables: ELF files, the notes in them, and the JSON form of compiled shaders.

Source: CTM Guide pp. 45-49.
"""

from ctm.sim.elf.error import ElfError
from ctm.sim.elf.executable import Executable
from ctm.sim.elf.kinds import describe, read, read_shader, write
from ctm.sim.elf.notes import Notes
from ctm.sim.elf.shader import Shader, ShaderError

__all__ = [
    "ElfError",
    "Executable",
    "Notes",
    "Shader",
    "ShaderError",
    "describe",
    "read",
    "read_shader",
    "write",
]
