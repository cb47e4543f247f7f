"""The notes of an R5xx program, as its code says them.

Source: CTM Guide pp. 46-49.
"""

from collections.abc import Sequence

from ctm.rtl.isa.r5xx.instruction import COMMON
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.notes import Notes
from ctm.sim.elf.r5xx.usage import usage


def derive_notes(instructions: Sequence[Sequence[int]], *, uncached_writes: bool = False) -> Notes:
    """The notes of a program of six-word instructions.

    Inputs are those of fetches; outputs those that an OUTPUT writes (output 0 in an uncached-write program, whose
    target means something else); constants those that influence a result. LAST anywhere is an early exit.
    """
    uses = [usage(words) for words in instructions]
    outputs: set[int] = set().union(*(use.outputs for use in uses))
    if uncached_writes and outputs:
        outputs = {0}
    return Notes(
        inputs=tuple(sorted({use.input for use in uses if use.input is not None})),
        outputs=tuple(sorted(outputs)),
        conditional_output=any(use.conditional_output for use in uses),
        float_constants=tuple(sorted(set().union(*(use.constants.direct for use in uses)))),
        int_constants=tuple(sorted({use.int_constant for use in uses if use.int_constant is not None})),
        early_exit=any(unpack(COMMON, words[0])["last"] for words in instructions),
    )
