"""What the conditional unit is asked, and what it answers."""

from amaranth.lib import data

from ctm.rtl.isa.limits import COORDINATE_BITS

WORD_BITS = 32
COLUMN_BITS = COORDINATE_BITS + 1


def request_layout(lanes: int) -> data.StructLayout:
    """Tests of a group: the pair of its lane 0, the lanes to be tested, and their conditional values."""
    return data.StructLayout(
        {"i": COLUMN_BITS, "j": COORDINATE_BITS, "mask": lanes, "values": data.ArrayLayout(WORD_BITS, lanes)}
    )


def response_layout(lanes: int) -> data.StructLayout:
    """The lanes whose test passed; those that were not to be tested have not."""
    return data.StructLayout({"passed": lanes})
