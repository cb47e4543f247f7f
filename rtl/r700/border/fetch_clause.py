"""The payloads between control flow and the fetch unit: fetch clauses and exports.

Source: R700-Family Instruction Set Architecture, chapters 5 and 3.4.
"""

from amaranth.lib import data, stream
from amaranth.lib.wiring import Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.limits import LOOP_INDEX_BITS, UNIT_BYTES
from ctm.rtl.r700.border.event import event_layout
from ctm.rtl.r700.border.registers import row_bits
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.shapes import AREA_WORD_BITS, UNIT_ADDRESS_BITS


def fetch_clause_layout(config: ArrayConfig, pixels: int) -> data.StructLayout:
    """A fetch clause, or with `exports` an export, that begins, for so many pixels: a wavefront or a slice of one.

    A clause has the units from `begin` up to, but without, `end`: texture fetches with `textures`, else vertex fetches.
    An export is the CF instruction `unit`. Registers, outputs and memory are written for the pixels in `executing`;
    `active` are the active pixels, `covered` those in the domain, `valid_mask` those not killed. `base` is the row of
    register 0. The wavefront may execute `budget` more instructions, if there is a watchdog.
    """
    return data.StructLayout(
        {
            "wave": wave_bits(config),
            "exports": 1,
            "textures": 1,
            "unit": 8 * UNIT_BYTES,
            "begin": UNIT_ADDRESS_BITS,
            "end": UNIT_ADDRESS_BITS,
            "executing": pixels,
            "active": pixels,
            "covered": pixels,
            "valid_mask": pixels,
            "loop_index": LOOP_INDEX_BITS,
            "base": row_bits(config),
            "budget": WORD_BITS,
        }
    )


def fetch_outcome_layout(config: ArrayConfig) -> data.StructLayout:
    """A fetch clause or an export at its end: the instructions that remain, and OK or the cause of the end."""
    return data.StructLayout({"wave": wave_bits(config), "budget": WORD_BITS, "problem": PROBLEM})


def first_number_layout(config: ArrayConfig) -> data.StructLayout:
    """The number of the first pixel of a wavefront that starts, in a cycle with `valid`.

    Pixels of a domain are counted row by row; a vertex or a thread of a draw has the number of its entry.
    """
    return data.StructLayout({"valid": 1, "wave": wave_bits(config), "number": AREA_WORD_BITS})


class FetchStart(Interface):
    """A wavefront that starts, for the fetch unit, seen from the unit that starts it.

    Members
    -------
    first_number : ``Out(first_number_layout(config))``
        Before the wavefront's first clause.
    share : ``Out(stream.Signature(wave))``
        Its rows of the local data share are to be cleared; ready when they are.
    """

    def __init__(self, config: ArrayConfig) -> None:
        share = stream.Signature(wave_bits(config))
        super().__init__({"first_number": Out(first_number_layout(config)), "share": Out(share)})


def fetch_trace_layout(config: ArrayConfig) -> data.StructLayout:
    """A fetch instruction is decoded, if `valid`: its address, and the pixels for which it is executed.

    Its registers are written at any time until its clause ends.
    """
    return event_layout(wave=wave_bits(config), address=UNIT_ADDRESS_BITS, executing=config.wavefront_lanes)
