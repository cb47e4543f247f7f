"""What steers a group through its program.

Source: CTM Guide pp. 34-40.
"""

from amaranth import signed
from amaranth.lib import data

from ctm.rtl.isa.r5xx.limits import ADDRESS_STACK, BRANCH_COUNTER_FULL, INSTRUCTION_SLOTS, LOOP_INDEX_BITS, LOOP_STACK

PC_BITS = (2 * INSTRUCTION_SLOTS - 1).bit_length()
"""One more than an address needs: a PC beyond the last slot is seen, not wrapped."""
COUNTER_BITS = BRANCH_COUNTER_FULL.bit_length()
ITERATION_BITS = 8


def frame_layout(lanes: int) -> data.StructLayout:
    """A loop's frame.

    Its kind, the iterations left and aL before the loop; processors that were active when it was pushed, that have left
    it by BREAK, and that wait after CONTINUE.
    """
    return data.StructLayout(
        {
            "has_index": 1,
            "iterations": ITERATION_BITS,
            "loop_index": LOOP_INDEX_BITS,
            "entered": lanes,
            "broken": lanes,
            "continued": lanes,
        }
    )


def control_state_layout(lanes: int) -> data.StructLayout:
    """A group's control state.

    A processor is active, or loop-inactive after a BREAK or CONTINUE, or else branch-inactive with a counter. Only as
    many entries of the stacks mean something as their depths say.
    """
    return data.StructLayout(
        {
            "pc": PC_BITS,
            "loop_index": LOOP_INDEX_BITS,
            "active": lanes,
            "loop_inactive": lanes,
            "counters": data.ArrayLayout(COUNTER_BITS, lanes),
            "frame_depth": LOOP_STACK.bit_length(),
            "frames": data.ArrayLayout(frame_layout(lanes), LOOP_STACK),
            "return_depth": ADDRESS_STACK.bit_length(),
            "returns": data.ArrayLayout(PC_BITS, ADDRESS_STACK),
        }
    )


INT_CONSTANT = data.StructLayout({"count": ITERATION_BITS, "start": 8, "step": signed(8), "unused": 8})
"""An integer constant as memory holds it."""
