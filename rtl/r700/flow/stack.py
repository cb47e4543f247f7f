"""The stacks of all resident wavefronts.

A branch or a call is one row, a loop four; each row has its entry's kind, too. So a stack has as many rows as taken
subentries. Source: R700-Family Instruction Set Architecture, section 3.6; docs/design/r700-core.md.
"""

from amaranth import signed
from amaranth.lib import data, enum

from ctm.rtl.dpp.constants.flow import ITERATION_BITS
from ctm.rtl.isa.r700.limits import LOOP_INDEX_BITS, STACK_ENTRIES, SUBENTRIES
from ctm.rtl.r700.shapes import CF_ADDRESS_BITS

DEPTH_BITS = (STACK_ENTRIES * SUBENTRIES).bit_length()
"""Width of a number of subentries."""
CALLS_BITS = 6
"""Width of CALL_COUNT, and of the sum of those on the stack."""


class EntryKind(enum.Enum, shape=2):
    """The kind of an entry."""

    BRANCH = 0
    LOOP = 1
    CALL = 2


CALL = data.StructLayout({"target": CF_ADDRESS_BITS, "count": CALLS_BITS})
"""Fields of a call: the address that it returns to, and its CALL_COUNT."""

LOOP_BRANCH = data.StructLayout({"loop": DEPTH_BITS, "in_loop": 1, "branches": DEPTH_BITS, "calls": CALLS_BITS})
"""Fields of a loop's first row, which has `branch_mask`: the outer loop, branch entries, and depth of calls below."""
LOOP_CONTINUE = data.StructLayout({"rounds": ITERATION_BITS, "unlimited": 1})
"""Fields of its second row, which has `continue_mask`: remaining iterations with the present one, or no limit."""
LOOP_BREAK = data.StructLayout({"index": LOOP_INDEX_BITS})
"""Fields of its third row, which has `break_mask`: the outer aL."""
LOOP_ENTERED = data.StructLayout({"step": signed(8)})
"""Fields of its last row, which has the pixels that entered it: an iteration's increment of aL."""


def row_layout(size: int) -> data.StructLayout:
    """A row: a mask of the wavefront's pixels, which a call does not have, and the fields above of its entry's kind."""
    return data.StructLayout({"kind": EntryKind, "mask": size, "beside": LOOP_BRANCH.size})
