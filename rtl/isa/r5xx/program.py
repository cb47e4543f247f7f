"""The program information of an R5xx executable.

Source: CTM Guide pp. 45-49; R5xx register reference, US block. The words from 2 on are this project's definition of
pages that are lost; see docs/design/choices.md.
"""

from amaranth.lib import data

from ctm.rtl.isa.executable import EM_ATI_R5XX, PROGRAM_INFORMATION_WORDS, NoteType, ProgramFormat
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_BYTES, INSTRUCTION_SLOTS

PROGRAM_FORMAT = ProgramFormat(
    machine=EM_ATI_R5XX,
    information=NoteType.PROGRAM_INFORMATION,
    version=1,
    unit_bytes=INSTRUCTION_BYTES,
    most_units=INSTRUCTION_SLOTS,
    image_limit=64 * 1024,
)

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
