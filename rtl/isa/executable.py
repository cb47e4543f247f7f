"""DPP executables: ELF header values, notes and the program information note.

Source: CTM Guide pp. 45-49. The words of the program information note from word 2 on, and the numbers of the notes 2 to
5, are this project's definition of pages that are lost; see docs/design/choices.md.
"""

from dataclasses import dataclass

from amaranth.lib import data, enum

ELF_MAGIC = b"\x7fELF"
ELFCLASS32 = 1
ELFDATA2LSB = 1
EV_CURRENT = 1
ELFOSABI_ATI = 98
ABI_VERSION = 1
ET_EXEC = 2
EM_ATI_R5XX = 122
EF_ATI_DPP = 1
PT_LOAD = 1
PT_NOTE = 4

ELF_HEADER_BYTES = 52
PROGRAM_HEADER_BYTES = 32
NOTE_HEADER_BYTES = 12
NOTE_NAME = b"ATI DPP\x00"

PROGRAM_HEADER = data.StructLayout(
    {"type": 32, "offset": 32, "vaddr": 32, "paddr": 32, "filesz": 32, "memsz": 32, "flags": 32, "align": 32}
)
"""Word 0 first; `offset` and `filesz` say where a segment is in the file."""
NOTE_HEADER = data.StructLayout({"namesz": 32, "descsz": 32, "type": 32})
"""Word 0 first; the bytes of the name and of the descriptor, which follow, each in whole words."""


class NoteType(enum.Enum, shape=4):
    """Kinds of notes.

    A missing note means none, except that a program has one that describes it:
    PROGRAM_INFORMATION of R5xx programs, R700_PROGRAM of R700 programs. R700_PIPELINE stands beside the latter in
    executables of draws.
    """

    PROGRAM_INFORMATION = 1
    INPUTS = 2
    OUTPUTS = 3
    CONDITIONAL_OUTPUT = 4
    FLOAT32_CONSTANTS = 5
    INT32_CONSTANTS = 6
    EARLY_EXIT = 7
    R700_PROGRAM = 8
    R700_PIPELINE = 9


PROGRAM_INFORMATION_WORDS = 16
"""Of every kind of program."""
PIPELINE_INFORMATION_WORDS = 32
"""Of the note that describes a draw's programs."""


@dataclass(frozen=True, kw_only=True)
class ProgramFormat:
    """A kind of program, and how the loader finds it in an executable.

    `machine` is the ELF header's, `information` the note that describes the program, `version` that note's first word.
    The code is at most `most_units` units of `unit_bytes` bytes each. Nothing outside `image_limit` bytes from the
    image's base is read. `position_bits` is the width of a fault's position, where that is more than a PC.
    """

    machine: int
    information: NoteType
    version: int
    unit_bytes: int
    most_units: int
    image_limit: int
    position_bits: int = 0
    pipeline: NoteType | None = None
    """The note that describes the programs of a draw, where programs can be drawn with."""

    @property
    def fault_pc_bits(self) -> int:
        """Width of a fault's PC."""
        return self.position_bits or self.pc_bits

    @property
    def pc_bits(self) -> int:
        """Width of a PC: one bit more than an address needs, so that one after the last unit is seen, not wrapped."""
        return (2 * self.most_units - 1).bit_length()
