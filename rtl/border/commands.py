"""Command buffers, commands for units, and the error that stops a buffer."""

from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.border.lines import LINE_WRITTEN
from ctm.rtl.isa.limits import ADDRESS_BITS, COLUMN_BITS, COORDINATE_BITS, WORD_BITS
from ctm.rtl.isa.status import BusClient, Status

OPCODE_BITS = 6
PARAMETERS = 4
"""Most parameters of a command."""

COMMAND_BUFFER = data.StructLayout({"address": ADDRESS_BITS, "dwords": WORD_BITS})
"""A command buffer in memory; its address is a multiple of 4."""

UNIT_COMMAND = data.StructLayout({"opcode": OPCODE_BITS, "words": data.ArrayLayout(WORD_BITS, PARAMETERS)})
"""A command for another unit; its parameters are legal. The unit raises `ready` when it has completed it."""


def counters_write_layout(*, single: bool = False) -> data.StructLayout:
    """A write of performance counters to memory: eight bytes at a multiple of 2 KiB.

    Where there may be `single` words, one is `clocks` alone, at a multiple of 4.
    """
    alone: dict[str, ShapeLike] = {"single": 1} if single else {}
    return data.StructLayout({"address": ADDRESS_BITS, "clocks": WORD_BITS, "active": WORD_BITS, **alone})


BUS_FAULT = data.StructLayout({"client": BusClient, "address": ADDRESS_BITS})
"""An access with an error response."""

ERROR = data.StructLayout(
    {
        "status": Status,
        "client": BusClient,
        "address": ADDRESS_BITS,
        "word": WORD_BITS,
        "pc": WORD_BITS,
        "i": COLUMN_BITS,
        "j": COORDINATE_BITS,
    }
)
"""Why a buffer was dropped. Fields that a status does not use are 0."""


class CounterClient(Interface):
    """The port of the unit that writes performance counters to memory, seen from that unit.

    Members
    -------
    write : ``Out(stream.Signature(counters_write_layout(single=single)))``
    written : ``In(stream.Signature(LINE_WRITTEN))``
        In the order of the writes.
    """

    def __init__(self, *, single: bool = False) -> None:
        write = counters_write_layout(single=single)
        super().__init__({"write": Out(stream.Signature(write)), "written": In(stream.Signature(LINE_WRITTEN))})
