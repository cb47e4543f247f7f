"""Reads of the float constants of a core."""

from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.interface import Interface
from ctm.rtl.dpp.constants.loader import miss_layout
from ctm.rtl.isa.limits import FLOAT_CONSTANTS

ROW_BITS = (FLOAT_CONSTANTS - 1).bit_length()
"""Width of a float constant's number, which is its row."""
_LINES = FLOAT_CONSTANTS // 4


class ConstantPort(Interface):
    """The port of a reader of float constants, seen from the reader. Latency is one cycle.

    An instruction of the reader reads at most `rows` rows. Whether their lines are loaded is the reader's to check: the
    words of a line that is not loaded, or that had an error response, are undefined.

    Members
    -------
    row : ``Out(8)``
        The row that is read, in a cycle with `free`; in others the read has no effect.
    free : ``In(1)``
        No reader of higher priority reads in this cycle.
    words : ``In(WORDS)``
        The row of the previous cycle.
    loaded, error : ``In(64)``
        Lines of four rows that are loaded, and those of them that had an error response.
    miss : ``Out(miss_layout(rows))``
        Lines that an instruction needs and that are not loaded; ignored while others are being loaded.
    """

    def __init__(self, rows: int) -> None:
        super().__init__(
            {
                "row": Out(ROW_BITS),
                "free": In(1),
                "words": In(WORDS),
                "loaded": In(_LINES),
                "error": In(_LINES),
                "miss": Out(miss_layout(rows)),
            }
        )
