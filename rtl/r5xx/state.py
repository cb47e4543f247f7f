"""The control state of a wavefront.

Source: CTM Guide pp. 34-40.
"""

from amaranth import Cat, Value
from amaranth.lib import data

from ctm.rtl.dpp.constants.flow import ITERATION_BITS
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.limits import ADDRESS_STACK, BRANCH_COUNTER_FULL, LOOP_INDEX_BITS, LOOP_STACK
from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT

PC_BITS = PROGRAM_FORMAT.pc_bits
COUNTER_BITS = BRANCH_COUNTER_FULL.bit_length()


def frame_layout(lanes: int) -> data.StructLayout:
    """A loop's frame.

    Its kind, the remaining iterations, and the outer aL; the pixels that were active when it was pushed, those that
    have executed BREAK, and those that wait after CONTINUE.
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
    """A wavefront's control state.

    A pixel is active, or loop-inactive after a BREAK or CONTINUE, or else branch-inactive with a counter. Only as
    many entries of the stacks are defined as their depths say.
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


_STACKS = ("frames", "returns")


def steering_layout(lanes: int) -> data.StructLayout:
    """The control state without PC and stacks."""
    fields = {name: field.shape for name, field in control_state_layout(lanes) if name not in (*_STACKS, "pc")}
    return data.StructLayout(fields)


def stacks_layout(lanes: int) -> data.StructLayout:
    """Both stacks of a wavefront."""
    control = control_state_layout(lanes)
    return data.StructLayout({name: control[name].shape for name in _STACKS})


def flags_layout(lanes: int) -> data.StructLayout:
    """Flags that tests of results have set; `predicates` are of the red bit all lanes, then green, blue, alpha."""
    return data.StructLayout({"predicates": CHANNELS * lanes, "alu_result": lanes})


def lane_predicates(flags: data.View, lane: int, lanes: int) -> Value:
    """One pixel's predicates, red in bit 0."""
    return Cat(flags.predicates[channel * lanes + lane] for channel in range(CHANNELS))
