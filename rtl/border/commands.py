"""Command buffers, commands for units, and the error that stops a buffer."""

from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.border.lines import LINE_BITS, LINE_WRITTEN, LineClient
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


class BufferClient(Interface):
    """The port of the unit that gives command buffers, seen from that unit.

    Members
    -------
    buffer : ``Out(stream.Signature(COMMAND_BUFFER))``
        Next command buffer; none may be offered while an error has not been cleared.
    consumed : ``In(1)``
        Pulse: the buffer that was taken is finished; after the pulse of its error, if it had one.
    error : ``In(stream.Signature(ERROR, always_ready=True))``
        At most one for each buffer; the remaining commands are dropped.
    idle : ``In(1)``
        No buffer is being executed and none of its lines is in flight.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "buffer": Out(stream.Signature(COMMAND_BUFFER)),
                "consumed": In(1),
                "error": In(stream.Signature(ERROR, always_ready=True)),
                "idle": In(1),
            }
        )


class LostAccess(Interface):
    """The first lost access that has not been reported, seen from the unit that reports it.

    It is a write, or a read of the conditional buffer, with an error response.

    Members
    -------
    valid : ``In(1)``
        There is one.
    fault : ``In(BUS_FAULT)``
    taken : ``Out(1)``
        It is reported; only while `valid`.
    """

    def __init__(self) -> None:
        super().__init__({"valid": In(1), "fault": In(BUS_FAULT), "taken": Out(1)})


class ReadErrors(Interface):
    """The array's reads with an error response, seen from the unit that reports them.

    Members
    -------
    watch : ``Out(1)``
        Pulse: record the next one.
    address : ``In(32)``
        Of the line of the first one since `watch`.
    """

    def __init__(self) -> None:
        super().__init__({"watch": Out(1), "address": In(ADDRESS_BITS)})


class ExecutionClient(Interface):
    """The port of the memory controller for the execution of commands, seen from the unit that executes them.

    Members
    -------
    command : ``Out(stream.Signature(UNIT_COMMAND))``
        Taken when completed, flushes included.
    idle : ``In(1)``
        All that the array wrote is in the output cache, or in memory; low at the latest when the array becomes idle.
    counters : ``Out(CounterClient(single=single))``
    lost : ``Out(LostAccess())``
    """

    def __init__(self, *, single: bool = False) -> None:
        super().__init__(
            {
                "command": Out(stream.Signature(UNIT_COMMAND)),
                "idle": In(1),
                "counters": Out(CounterClient(single=single)),
                "lost": Out(LostAccess()),
            }
        )


class ProcessorClient(Interface):
    """The command processor's port of the memory controller, seen from the command processor.

    Members
    -------
    command, idle, counters, lost
        As `ExecutionClient` has them.
    lines : ``Out(LineClient(slice_bits))``
    read_errors : ``Out(ReadErrors())``
        Watched from the start of each program on.
    """

    def __init__(self, slice_bits: int = LINE_BITS, *, single: bool = False) -> None:
        super().__init__(
            {
                **ExecutionClient(single=single).members,
                "lines": Out(LineClient(slice_bits)),
                "read_errors": Out(ReadErrors()),
            }
        )
