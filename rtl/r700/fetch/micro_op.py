"""Micro-ops of the fetch unit, from their offer by the sequencer to their last cycle.

Source: R700-Family Instruction Set Architecture, chapters 5 and 3.4; docs/design/r700-core.md.
"""

from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.r700.border.fetch_clause import fetch_clause_layout
from ctm.rtl.r700.fetch.operation import FETCH
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.shapes import UNIT_ADDRESS_BITS


def micro_op_layout(config: ArrayConfig) -> data.StructLayout:
    """One register of a fetch instruction or an export, for the pixels of one slice.

    `clause` is the clause or export as it is for that slice: its masks and `base` are the slice's, but `active` is that
    of the slice of the source, `begin` is the instruction's address, and `budget` counts after the instruction. `fetch`
    is the task with its operands, `burst` the number of the register among those of the instruction. The source is a
    register whose words come with the micro-op, or with `keeps` that of the previous micro-op. The clause or export
    ends after a micro-op that `ends` it; `problem` is OK, or the cause of the end.
    """
    partition = Partition.of(config)
    return data.StructLayout(
        {
            "clause": fetch_clause_layout(config, partition.slice),
            "slice": partition.slice_bits,
            "fetch": FETCH,
            "burst": 4,
            "keeps": 1,
            "ends": 1,
            "problem": PROBLEM,
        }
    )


def begins_layout(config: ArrayConfig) -> data.StructLayout:
    """A clause or an export that begins in this cycle, if `valid`, with the address of its first instruction."""
    return data.StructLayout({"valid": 1, "wave": wave_bits(config), "address": UNIT_ADDRESS_BITS})


def executed_layout(config: ArrayConfig) -> data.StructLayout:
    """The micro-op whose last cycle this is, if `valid`.

    The clause or export ends after it if it `ends` it or has a `problem`. Its wavefront may execute `budget` more
    instructions.
    """
    return data.StructLayout(
        {"valid": 1, "wave": wave_bits(config), "ends": 1, "budget": WORD_BITS, "problem": PROBLEM}
    )
