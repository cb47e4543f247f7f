"""Reads of a core's code, two units at once."""

from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.isa.r700.limits import UNIT_BYTES
from ctm.rtl.r700.shapes import UNIT_ADDRESS_BITS

ROW_UNITS = 2
"""Units of a row, which are read at once."""
ROW_ADDRESS_BITS = UNIT_ADDRESS_BITS - 1
FOUND = data.StructLayout({"hit": 1, "error": 1, "units": data.ArrayLayout(8 * UNIT_BYTES, ROW_UNITS)})
"""The units of a row, if the read is a `hit`; with `error` its line had an error response, and they are undefined."""


class CodePort(Interface):
    """The port of a reader of code, seen from the reader. Latency is one cycle, throughput one row in each cycle.

    Members
    -------
    row : ``Out(ROW_ADDRESS_BITS)``
        The number of a row, counted from the code's start.
    reads : ``Out(1)``
        Read the row; only in a cycle with `free`, in others it has no effect.
    free : ``In(1)``
        No reader of higher priority reads in this cycle.
    found : ``In(FOUND)``
        The row of the previous cycle. A read that misses is repeated until it hits.
    """

    def __init__(self) -> None:
        super().__init__({"row": Out(ROW_ADDRESS_BITS), "reads": Out(1), "free": In(1), "found": In(FOUND)})
