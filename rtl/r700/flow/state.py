"""A wavefront's control state, and its payloads at the entry and the exit of control flow."""

from amaranth.lib import data, enum

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.limits import LOOP_INDEX_BITS
from ctm.rtl.r700.border.registers import row_bits
from ctm.rtl.r700.flow.instruction import CF_INSTRUCTION
from ctm.rtl.r700.flow.stack import CALLS_BITS, DEPTH_BITS
from ctm.rtl.r700.shapes import CF_ADDRESS_BITS


class Then(enum.Enum, shape=2):
    """The continuation of a series of pops."""

    NEXT = 0
    TARGET = 1
    SECOND = 2
    RESTRICT = 3


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
