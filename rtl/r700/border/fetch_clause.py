"""The payloads between control flow and the fetch unit: fetch clauses and exports.

Source: R700-Family Instruction Set Architecture, chapters 5 and 3.4.
"""

from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.limits import LOOP_INDEX_BITS, UNIT_BYTES
from ctm.rtl.r700.border.event import event_layout
from ctm.rtl.r700.border.registers import row_bits
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.shapes import AREA_WORD_BITS, UNIT_ADDRESS_BITS


def fetch_clause_layout(config: ArrayConfig) -> data.StructLayout:
    """A fetch clause, or with `exports` an export, whose CF instruction is `unit`.

    A clause has the units from `begin` up to `end`, and is one of `textures` or of vertices. `executing` are the pixels
    for which it is done, `active` those that are active, `covered` those in the domain, `valid_mask` those not
    killed; `base` is the row of register 0. The wavefront may execute `budget` more instructions.
    """
    return data.StructLayout(
        {
            "wave": wave_bits(config),
            "exports": 1,
            "textures": 1,
            "unit": 8 * UNIT_BYTES,
            "begin": UNIT_ADDRESS_BITS,
            "end": UNIT_ADDRESS_BITS,
            "executing": config.wavefront_lanes,
            "active": config.wavefront_lanes,
            "covered": config.wavefront_lanes,
            "valid_mask": config.wavefront_lanes,
            "loop_index": LOOP_INDEX_BITS,
            "base": row_bits(config),
            "budget": WORD_BITS,
        }
    )


def fetch_outcome_layout(config: ArrayConfig) -> data.StructLayout:
    """A fetch clause or an export that has ended."""
    return data.StructLayout({"wave": wave_bits(config), "budget": WORD_BITS, "problem": PROBLEM})


def first_number_layout(config: ArrayConfig) -> data.StructLayout:
    """The number of the first pixel of a wavefront that starts."""
    return data.StructLayout({"valid": 1, "wave": wave_bits(config), "number": AREA_WORD_BITS})


def fetch_trace_layout(config: ArrayConfig) -> data.StructLayout:
    """A fetch instruction begins, for the pixels in `executing`; its registers are written until its clause ends."""
    return event_layout(wave=wave_bits(config), address=UNIT_ADDRESS_BITS, executing=config.wavefront_lanes)
