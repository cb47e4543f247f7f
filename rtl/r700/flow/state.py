"""A wavefront's control state, and how it comes to control flow and leaves it."""

from amaranth.lib import data, enum

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.limits import LOOP_INDEX_BITS
from ctm.rtl.r700.flow.stack import CALLS_BITS, DEPTH_BITS
from ctm.rtl.r700.flow.word import WORD
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.registers.file import row_bits
from ctm.rtl.r700.shapes import WORD_ADDRESS_BITS


class Then(enum.Enum, shape=2):
    """What comes behind pops."""

    NEXT = 0
    TARGET = 1
    SECOND = 2
    RESTRICT = 3


def start_layout(config: ArrayConfig) -> data.StructLayout:
    """A wavefront that begins: pixels that are covered, where its registers and its stack are."""
    return data.StructLayout({"wave": wave_bits(config), "covered": config.group, "base": row_bits(config)})


def end_layout(config: ArrayConfig) -> data.StructLayout:
    """A wavefront at its end: pixels that are valid, and why it stopped, if it did, at which CF word."""
    return data.StructLayout(
        {"wave": wave_bits(config), "valid_mask": config.group, "word": WORD_ADDRESS_BITS, "problem": PROBLEM}
    )


def state_layout(config: ArrayConfig) -> data.StructLayout:
    """A wavefront's control state: what is kept while others are executed.

    It is at the CF word `word`, whose clause is under way. `depth` subentries of its stack are taken; `loop` is where
    the innermost loop's entry is, if it is `in_loop`.
    """
    size = config.group
    return data.StructLayout(
        {
            "word": WORD_ADDRESS_BITS,
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
            "clause": WORD,
        }
    )
