"""A wavefront's control state, and its payloads at the entry and the exit of control flow."""

from amaranth.lib import data, enum

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.limits import LOOP_INDEX_BITS
from ctm.rtl.r700.flow.instruction import CF_INSTRUCTION
from ctm.rtl.r700.flow.stack import CALLS_BITS, DEPTH_BITS
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.registers.file import row_bits
from ctm.rtl.r700.shapes import CF_ADDRESS_BITS


class Then(enum.Enum, shape=2):
    """The continuation of a series of pops."""

    NEXT = 0
    TARGET = 1
    SECOND = 2
    RESTRICT = 3


def start_layout(config: ArrayConfig) -> data.StructLayout:
    """A wavefront that begins: its covered pixels, and the row of its register 0."""
    return data.StructLayout({"wave": wave_bits(config), "covered": config.wavefront_lanes, "base": row_bits(config)})


def end_layout(config: ArrayConfig) -> data.StructLayout:
    """A wavefront at its end: its valid pixels; if it stopped, the problem and the address of the CF instruction."""
    return data.StructLayout(
        {"wave": wave_bits(config), "valid_mask": config.wavefront_lanes, "pc": CF_ADDRESS_BITS, "problem": PROBLEM}
    )


def state_layout(config: ArrayConfig) -> data.StructLayout:
    """A wavefront's control state, as it is stored between its CF instructions.

    `pc` is the address of the CF instruction, which `clause` holds while its clause is executed. `depth` subentries of
    the stack are taken; `loop` is the index of the innermost loop's entry, if it is `in_loop`.
    """
    size = config.wavefront_lanes
    return data.StructLayout(
        {
            "pc": CF_ADDRESS_BITS,
            "branch_mask": size,
            "valid_mask": size,
            "continue_mask": size,
            "break_mask": size,
            "covered": size,
            "budget": WORD_BITS,
            "index": LOOP_INDEX_BITS,
            "depth": DEPTH_BITS,
            "branches": DEPTH_BITS,
            "loop": DEPTH_BITS,
            "in_loop": 1,
            "calls": CALLS_BITS,
            "base": row_bits(config),
            "clause": CF_INSTRUCTION,
        }
    )
