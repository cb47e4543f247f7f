"""Memory clients of the array: what each asks of the memory controller, and what it gets.

Clients speak of pairs and of constants, never of addresses: translation, formats and masks of outputs are the memory
controller's. Source: CTM Guide pp. 5-7, 31-38.
"""

from amaranth.hdl import ShapeLike
from amaranth.lib import data, enum

from ctm.rtl.isa.limits import CHANNELS, COLUMN_BITS, COORDINATE_BITS, FLOAT_CONSTANTS, INPUTS, OUTPUTS, WORD_BITS

BEAT_WORDS = 4
LINE_BEATS = 4
"""A line of constants is four beats of four words: 4 float constants, or 16 int or bool constants."""
CONSTANT_LINE_BITS = (FLOAT_CONSTANTS // LINE_BEATS - 1).bit_length()


class ConstantBank(enum.Enum, shape=2):
    """The three files of constants."""

    FLOAT = 0
    INT = 1
    BOOL = 2


WORDS = data.ArrayLayout(WORD_BITS, CHANNELS)
"""The channels of an element."""


def words_layout(lanes: int) -> data.ArrayLayout:
    """Four channels of every lane."""
    return data.ArrayLayout(data.ArrayLayout(WORD_BITS, CHANNELS), lanes)


_INPUT_BITS = (INPUTS - 1).bit_length()


def lookup_request_layout(lanes: int, tag: ShapeLike) -> data.StructLayout:
    """A pair for each lane, inside the input's limits where `fetch` says that it is wanted."""
    indices = data.ArrayLayout(COORDINATE_BITS, lanes)
    return data.StructLayout(
        {"tag": tag, "input": _INPUT_BITS, "uncached": 1, "x": indices, "y": indices, "fetch": lanes}
    )


def lookup_response_layout(lanes: int, tag: ShapeLike) -> data.StructLayout:
    """Words of the lanes that fetch; with `refused`, or of other lanes, they mean nothing."""
    return data.StructLayout({"tag": tag, "words": data.ArrayLayout(WORDS, lanes), "refused": 1})


def output_layout(lanes: int) -> data.StructLayout:
    """What a group stores into one output: the pair of its lane 0, words and channels of each lane."""
    return data.StructLayout(
        {
            "i": COLUMN_BITS,
            "j": COORDINATE_BITS,
            "target": range(OUTPUTS),
            "words": data.ArrayLayout(WORDS, lanes),
            "mask": data.ArrayLayout(CHANNELS, lanes),
        }
    )


def uncached_write_layout(lanes: int, slot: ShapeLike) -> data.StructLayout:
    """A word for each lane in `mask`, at a pair of its own; of two lanes with the same pair the later one wins."""
    indices = data.ArrayLayout(COORDINATE_BITS, lanes)
    return data.StructLayout(
        {
            "slot": slot,
            "acquires": 1,
            "x": indices,
            "y": indices,
            "values": data.ArrayLayout(WORD_BITS, lanes),
            "mask": lanes,
        }
    )
