"""The micro-op of the fetch unit: an instruction, or one of its several registers, with its source.

Source: R700-Family Instruction Set Architecture, chapters 5 and 3.4; docs/design/r700-core.md.
"""

from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.r700.border.fetch_clause import fetch_clause_layout
from ctm.rtl.r700.fetch.operation import FETCH
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.slices import by_slice, slice_bits


def micro_op_layout(config: ArrayConfig) -> data.StructLayout:
    """A micro-op on a slice of the clause or export `clause`, whose `begin` is the instruction's address.

    Masks and the row of register 0 are the slice's; `active` are the pixels of the source. `fetch` is the task, `burst`
    the register of the instruction. The words of its source come with it; with `keeps` the source is that of the
    previous micro-op. The clause or export ends after a micro-op that `ends` it, with `problem` if there is one.
    """
    return data.StructLayout(
        {
            "clause": fetch_clause_layout(by_slice(config)),
            "slice": slice_bits(config),
            "fetch": FETCH,
            "burst": 4,
            "keeps": 1,
            "ends": 1,
            "problem": PROBLEM,
        }
    )


def executed_layout(config: ArrayConfig) -> data.StructLayout:
    """A micro-op in its last cycle: whether it `ends` its clause or export, whose instructions left are `budget`."""
    return data.StructLayout(
        {"valid": 1, "wave": wave_bits(config), "ends": 1, "budget": WORD_BITS, "problem": PROBLEM}
    )
