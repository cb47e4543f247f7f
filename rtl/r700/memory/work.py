"""What the moving of registers is cut into: an instruction, or one register of several, and the register that it reads.

Source: R700-Family Instruction Set Architecture, chapters 5 and 3.4; docs/architecture.md.
"""

from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.r700.memory.instruction import FETCH
from ctm.rtl.r700.memory.move import move_layout
from ctm.rtl.r700.problem import PROBLEM
from ctm.rtl.r700.slices import by_slice, slice_bits


def work_layout(config: ArrayConfig) -> data.StructLayout:
    """A piece of work on a slice of the clause or export `move`, whose `begin` is the instruction's address.

    Masks and the row of register 0 are the slice's; `active` are the pixels that the source is of. `fetch` says what is
    done, `burst` for which register of the instruction. The words of its source come with it;
    with `keeps` it is the source of the piece before. The clause or export is over
    behind a piece that `ends` it, because of `problem` if there is one.
    """
    return data.StructLayout(
        {
            "move": move_layout(by_slice(config)),
            "slice": slice_bits(config),
            "fetch": FETCH,
            "burst": 4,
            "keeps": 1,
            "ends": 1,
            "problem": PROBLEM,
        }
    )
