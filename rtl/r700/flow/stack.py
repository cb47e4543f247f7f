"""The stacks of all resident wavefronts.

A branch or a call is one row, a loop four; each row says on top what it belongs to. So a stack has as many rows as
subentries are taken. Source: R700-Family Instruction Set Architecture, section 3.6; docs/architecture.md.
"""

from amaranth.lib import data, enum

from ctm.rtl.dpp.constants.flow import ITERATION_BITS
from ctm.rtl.isa.r700.limits import LOOP_INDEX_BITS, STACK_ENTRIES, SUBENTRIES
from ctm.rtl.r700.shapes import WORD_ADDRESS_BITS

DEPTH_BITS = (STACK_ENTRIES * SUBENTRIES).bit_length()
"""Width of a number of subentries."""
CALLS_BITS = 6
_BESIDE_BITS = 9 + 9 + 1 + CALLS_BITS


class EntryKind(enum.Enum, shape=2):
    """What an entry is for."""

    BRANCH = 0
    LOOP = 1
    CALL = 2


def row_layout(size: int) -> data.StructLayout:
    """A row: a mask of the wavefront's pixels, and more by the kind of its entry and its place there."""
    return data.StructLayout({"kind": EntryKind, "mask": size, "beside": _BESIDE_BITS})


CALL = data.StructLayout({"target": WORD_ADDRESS_BITS, "count": CALLS_BITS})
"""Beside a call: where it returns to, and its CALL_COUNT."""

LOOP_BRANCH = data.StructLayout({"loop": DEPTH_BITS, "in_loop": 1, "branches": DEPTH_BITS, "calls": CALLS_BITS})
"""Beside a loop's first row, which has `branch_mask`: the loop around it, branch entries, and depth of calls below."""
LOOP_CONTINUE = data.StructLayout({"rounds": ITERATION_BITS, "unlimited": 1})
"""Beside its second row, which has `continue_mask`: rounds that are left."""
LOOP_BREAK = data.StructLayout({"index": LOOP_INDEX_BITS})
"""Beside its third row, which has `break_mask`: aL before the loop."""
LOOP_ENTERED = data.StructLayout({"step": 8})
"""Beside its last row, which has the pixels that entered it: what a round adds to aL."""
