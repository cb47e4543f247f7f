"""Export words, a form of CF instructions: what leaves the program.

Source: R700-Family Instruction Set Architecture, CF_ALLOC_EXPORT_DWORD0 to _DWORD1_SWIZ.
"""

from amaranth.lib import data, enum

from ctm.rtl.isa.r700.components import ComponentSelect


class ExportOperation(enum.Enum, shape=7):
    """CF_INST of exports."""

    MEM_STREAM0 = 0x20
    MEM_STREAM1 = 0x21
    MEM_STREAM2 = 0x22
    MEM_STREAM3 = 0x23
    MEM_SCRATCH = 0x24
    MEM_REDUCTION = 0x25
    MEM_RING = 0x26
    EXPORT = 0x27
    EXPORT_DONE = 0x28
    MEM_EXPORT = 0x3A


SWIZZLED = (ExportOperation.EXPORT, ExportOperation.EXPORT_DONE)
"""Those of the swizzle form."""
MEMORY_WRITES = (ExportOperation.MEM_EXPORT, ExportOperation.MEM_SCRATCH)
"""Those of the buffer form that this machine does."""


class ExportType(enum.Enum, shape=2):
    """TYPE of EXPORT and EXPORT_DONE."""

    PIXEL = 0
    POS = 1
    PARAM = 2


class MemoryWrite(enum.Enum, shape=2):
    """TYPE of the buffer form: with an index or without, with a write acknowledge or without."""

    WRITE = 0
    WRITE_IND = 1
    WRITE_ACK = 2
    WRITE_IND_ACK = 3


STREAM_WRITES = (
    ExportOperation.MEM_STREAM0,
    ExportOperation.MEM_STREAM1,
    ExportOperation.MEM_STREAM2,
    ExportOperation.MEM_STREAM3,
)
"""Those of the buffer form that stream a vertex out."""
FIRST_POSITION = 60
"""ARRAY_BASE of the clip position; after it are the vectors that the pipeline's note has."""
POSITIONS = 4
PARAMETERS = 32
COMPUTED_DEPTH = 61
"""ARRAY_BASE of the conditional value."""
UNBOUNDED = 4095
"""ARRAY_SIZE that sets no bound of its own."""

EXPORT_DWORD0 = data.StructLayout(
    {"array_base": 13, "type": 2, "rw_gpr": 7, "rw_rel": 1, "index_gpr": 7, "elem_size": 2},
)
"""CF_ALLOC_EXPORT_DWORD0. `elem_size`: dwords of an element less one, not 2."""

EXPORT_DWORD1_BUF = data.StructLayout(
    {
        "array_size": 12,
        "comp_mask": 4,
        "reserved": 1,
        "burst_count": 4,
        "end_of_program": 1,
        "valid_pixel_mode": 1,
        "cf_inst": ExportOperation,
        "whole_quad_mode": 1,
        "barrier": 1,
    }
)
"""CF_ALLOC_EXPORT_DWORD1_BUF. `burst_count`: registers less one; `array_size`: elements less one."""

EXPORT_DWORD1_SWIZ = data.StructLayout(
    {
        **{f"sel_{component}": ComponentSelect for component in "xyzw"},
        "reserved": 5,
        "burst_count": 4,
        "end_of_program": 1,
        "valid_pixel_mode": 1,
        "cf_inst": ExportOperation,
        "whole_quad_mode": 1,
        "barrier": 1,
    }
)
"""CF_ALLOC_EXPORT_DWORD1_SWIZ."""
