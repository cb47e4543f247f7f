"""Layouts between the units of an R5xx core: decoded instructions, operands, entries of the instruction store.

Source: CTM Guide pp. 23-38.
"""

from amaranth.lib import data, enum
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.fp.reduction import Function
from ctm.rtl.fp.result import SCALE
from ctm.rtl.fp.selection import Choice
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r5xx.instruction import INSTRUCTION
from ctm.rtl.isa.r5xx.limits import ALU_SOURCES, SLOT_BITS
from ctm.rtl.r5xx.shapes import SUMMARY

VECTOR = data.ArrayLayout(WORD_BITS, CHANNELS)


class Operation(enum.Enum, shape=2):
    """The source of a channel's result."""

    SUM = 0
    SELECTION = 1
    DOT = 2
    TRANSCENDENTAL = 3


class Dot(enum.Enum, shape=2):
    """The products of a dot product; DOT2_ADD adds operand c of channel 2 instead of its product."""

    DOT3 = 0
    DOT4 = 1
    DOT2_ADD = 2


class ChannelControl(data.Struct):
    """The control of one channel.

    `fraction` makes a SUM the fraction of `a`. `untouched` makes the result of a SELECTION the chosen word's bits.
    """

    operation: Operation
    choice: Choice
    fraction: 1
    untouched: 1
    scale: SCALE
    clamp: 1


class LaneControl(data.Struct):
    """The control of a lane: the same in channels 0 to 2."""

    vector: ChannelControl
    scalar: ChannelControl
    dot: Dot
    function: Function
    zero_times_anything: 1


class ChannelOperands(data.Struct):
    """Three words, after swizzle and input modifiers."""

    a: WORD_BITS
    b: WORD_BITS
    c: WORD_BITS


ALU_ENTRY = data.StructLayout(
    {
        "words": INSTRUCTION,
        "control": LaneControl,
        "rgb_use": ALU_SOURCES,
        "alpha_use": ALU_SOURCES,
        "presubtracts": 1,
        "writes": 1,
        "following": SUMMARY,
    }
)
TEXTURE_ENTRY = data.StructLayout({"words": INSTRUCTION, "following": SUMMARY})
FLOW_ENTRY = data.StructLayout({"words": INSTRUCTION, "illegal": 1, "following": SUMMARY})
"""Entries of the ports; `following` is the next instruction's summary, so that only jumps read another one."""


class EntryRead(Interface):
    """Reads of the instruction store, seen from the issue port that executes the instructions.

    Members
    -------
    address : ``Out(SLOT_BITS)``
        The instruction that is issued.
    reads : ``Out(1)``
        Of a port that holds its instruction: without it the entry of the last read is kept.
    entry : ``In(entry)``
        From the next cycle on.
    """

    def __init__(self, entry: data.StructLayout, *, held: bool = False) -> None:
        super().__init__({"address": Out(SLOT_BITS), **({"reads": Out(1)} if held else {}), "entry": In(entry)})
