"""What a program uses: the lists that an executable's notes carry.

Source: CTM Guide pp. 46-49.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ctm.rtl.isa.limits import FLOAT_CONSTANTS, INPUTS, INT_CONSTANTS, OUTPUTS
from ctm.rtl.isa.r5xx.instruction import COMMON
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.r5xx.usage import usage


@dataclass(frozen=True, kw_only=True)
class Notes:
    """Indices that a program uses, ascending, and two facts about it.

    A float constant that is only addressed relative to aL cannot be known and is not listed. An index out of range
    raises ValueError.
    """

    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    conditional_output: bool = False
    float_constants: tuple[int, ...] = ()
    int_constants: tuple[int, ...] = ()
    early_exit: bool = False

    def __post_init__(self) -> None:
        lists = {
            "input": (self.inputs, INPUTS),
            "output": (self.outputs, OUTPUTS),
            "float constant": (self.float_constants, FLOAT_CONSTANTS),
            "int constant": (self.int_constants, INT_CONSTANTS),
        }
        for name, (indices, limit) in lists.items():
            for index in indices:
                if not 0 <= index < limit:
                    raise ValueError(f"{name} {index} is not 0..{limit - 1}")


def derive_notes(instructions: Sequence[Sequence[int]], *, uncached_writes: bool = False) -> Notes:
    """The notes of a program of six-word instructions.

    Inputs are those of lookups; outputs those that an OUTPUT writes (output 0 in an uncached-write program, whose
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
