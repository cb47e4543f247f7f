"""The payloads between control flow and the ALU: its clauses, and the state of pixels that they change.

Source: R700-Family Instruction Set Architecture, chapters 3 and 4; docs/design/r700-core.md.
"""

from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700.limits import KCACHE_SETS, LOOP_INDEX_BITS
from ctm.rtl.r700.border.lane import INDEX
from ctm.rtl.r700.border.registers import row_bits
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.shapes import UNIT_ADDRESS_BITS

SHAPE_BANK_LINES = 64
"""Lines from one bank of a shape's constants to the next one."""
FIRST_SHAPE_LINE = 256 + SHAPE_BANK_LINES // 4
"""Lines below are those of bank 0, the float constants. Bank b begins b * `SHAPE_BANK_LINES` lines further. Banks do
not touch, so a relative index that leaves one is in none."""

KCACHE = data.StructLayout({"line": 10, "lines": 2, "problem": 1})
"""The lock of a kcache set: `lines` lines of 16 constants from `line` on. With `problem` the lock is illegal, and so is
every group that reads the set."""


def masks_layout(size: int) -> data.StructLayout:
    """State of a wavefront's pixels that a clause changes, a bit of each pixel.

    The clause's PRED_SETs took the pixels in `cleared` out of `branch_mask`. `predicate` is that of the last PRED_SET,
    0 when the clause begins.
    """
    return data.StructLayout({"branch_mask": size, "valid_mask": size, "cleared": size, "predicate": size})


def alu_clause_layout(config: ArrayConfig) -> data.StructLayout:
    """An ALU clause that begins.

    It has the units from `begin` up to, but without, `end`. `inside` are the pixels that no BREAK or CONTINUE has
    disabled; `branch_mask` and `valid_mask` are those of `masks_layout`. A pixel in `inside` and `branch_mask` is
    active, and executes; with `whole` all pixels of its quad execute. `base` is the row of register 0. The wavefront
    may execute `budget` more instructions, if there is a watchdog.
    """
    return data.StructLayout(
        {
            "wave": wave_bits(config),
            "begin": UNIT_ADDRESS_BITS,
            "end": UNIT_ADDRESS_BITS,
            "kcache": data.ArrayLayout(KCACHE, KCACHE_SETS),
            "whole": 1,
            "inside": config.wavefront_lanes,
            "branch_mask": config.wavefront_lanes,
            "valid_mask": config.wavefront_lanes,
            "loop_index": LOOP_INDEX_BITS,
            "base": row_bits(config),
            "budget": WORD_BITS,
        }
    )


def alu_outcome_layout(config: ArrayConfig) -> data.StructLayout:
    """An ALU clause at its end: the masks of `masks_layout`, the instructions that remain, and the cause of the end.

    `problem` is OK if all groups were executed; else the wavefront stops.
    """
    size = config.wavefront_lanes
    return data.StructLayout(
        {
            "wave": wave_bits(config),
            "branch_mask": size,
            "valid_mask": size,
            "cleared": size,
            "budget": WORD_BITS,
            "problem": PROBLEM,
        }
    )


def address_layout(size: int) -> data.ArrayLayout:
    """The address registers of a wavefront's pixels, as [channel][pixel]."""
    return data.ArrayLayout(data.ArrayLayout(INDEX, size), CHANNELS)
