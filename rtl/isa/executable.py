"""DPP executables: ELF header values, notes and the program information note.

Source: CTM Guide pp. 45-49. The words of the program information note from word 2 on, and the numbers of the notes 2 to
5, are this project's definition of pages that are lost; see docs/architecture.md.
"""

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

IMAGE_LIMIT = 64 * 1024
"""The loader never reads outside this many bytes from the image's base."""


class NoteType(enum.Enum, shape=3):
    """Kinds of notes. A missing note means none, except PROGRAM_INFORMATION, which must be there."""

    PROGRAM_INFORMATION = 1
    INPUTS = 2
    OUTPUTS = 3
    CONDITIONAL_OUTPUT = 4
    FLOAT32_CONSTANTS = 5
    INT32_CONSTANTS = 6
    EARLY_EXIT = 7


PROGRAM_INFORMATION_WORDS = 16
PROGRAM_INFORMATION_VERSION = 1

VERSION = data.StructLayout({"version": 32})
FG_DEPTH_SRC = data.StructLayout({"from_program": 1, "reserved": 31})
"""1: the conditional value comes from the program (W_OMASK), 0: from the PE."""
US_CONFIG = data.StructLayout({"reserved_low": 1, "zero_times_anything": 1, "reserved_high": 30})
"""`zero_times_anything`: 1 = zero times anything is zero, 0 = IEEE."""
US_PIXSIZE = data.StructLayout({"highest_temporary": 7, "reserved": 25})
US_FC_CTRL = data.StructLayout({"reserved": 30, "test_en": 1, "full_fc_en": 1})
US_CODE_ADDR = data.StructLayout({"start": 9, "reserved_low": 7, "end": 9, "reserved_high": 7})
"""Both relative to US_CODE_OFFSET."""
US_CODE_RANGE = data.StructLayout({"addr": 9, "reserved_low": 7, "size": 9, "reserved_high": 7})
"""`size` is the number of instructions less one."""
US_CODE_OFFSET = data.StructLayout({"offset": 9, "reserved": 23})
US_W_FMT = data.StructLayout({"format": 2, "source": 1, "reserved": 29})
UMRT = data.StructLayout({"uncached_writes": 1, "reserved": 31})
ZERO = data.StructLayout({"reserved": 32})

PROGRAM_INFORMATION = {
    "version": VERSION,
    "FG_DEPTH_SRC": FG_DEPTH_SRC,
    "US_CONFIG": US_CONFIG,
    "US_PIXSIZE": US_PIXSIZE,
    "US_FC_CTRL": US_FC_CTRL,
    "US_CODE_ADDR": US_CODE_ADDR,
    "US_CODE_RANGE": US_CODE_RANGE,
    "US_CODE_OFFSET": US_CODE_OFFSET,
    "US_W_FMT": US_W_FMT,
    "UMRT": UMRT,
    **{f"reserved{word}": ZERO for word in range(10, PROGRAM_INFORMATION_WORDS)},
}
"""The descriptor of the program information note, word 0 first."""
