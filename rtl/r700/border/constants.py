"""Reads of the float constants of a core."""

from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.interface import Interface
from ctm.rtl.dpp.constants.loader import miss_layout
from ctm.rtl.isa.limits import FLOAT_CONSTANTS

ROW_BITS = (FLOAT_CONSTANTS - 1).bit_length()
_LINES = FLOAT_CONSTANTS // 4


class ConstantPort(Interface):
    """The port of a reader of float constants, whose instructions name so many rows, seen from the reader.

    Members
    -------
    row : ``Out(8)``
        Read in a cycle with `free`.
    free : ``In(1)``
        No reader of higher priority reads in this cycle.
    words : ``In(WORDS)``
        The row of the previous cycle.
    loaded, error : ``In(64)``
        Lines that are there, and those that had an error response.
    miss : ``Out(miss_layout(rows))``
        Lines that an instruction lacks.
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
