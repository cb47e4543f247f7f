"""Reads and writes of the register file.

Source: R700-Family Instruction Set Architecture, section 4.7, and chapter 5 (DST_SEL).
"""

from amaranth import Value
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import words_layout
from ctm.rtl.border.interface import Interface
from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700.limits import CLAUSE_TEMPORARIES
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER
from ctm.rtl.r700.partition import Partition


def depth_of(config: ArrayConfig) -> int:
    """Rows of the register file, each of which holds one register of one slice."""
    partition = Partition.of(config)
    return config.temporaries * partition.segment // partition.slice


def rows_of(gprs: Value) -> Value:
    """Rows of the register file that a slice of a wavefront has, for a program of so many registers."""
    return gprs + CLAUSE_TEMPORARIES


def row_bits(config: ArrayConfig) -> int:
    """Width of a row's number."""
    return (depth_of(config) - 1).bit_length()


def register_address_layout(config: ArrayConfig) -> data.StructLayout:
    """A row of the file. A register that does not exist reads 0, and its writes have no effect."""
    return data.StructLayout({"row": row_bits(config), "exists": 1})


def slice_words(partition: Partition) -> data.ArrayLayout:
    """A word of every pixel of a slice."""
    return data.ArrayLayout(WORD_BITS, partition.slice)


def channel_write_layout(config: ArrayConfig) -> data.StructLayout:
    """A write of one channel of a row, in the pixels of `enable`; without any nothing is written. Other words are 0."""
    partition = Partition.of(config)
    return data.StructLayout({"row": row_bits(config), "words": slice_words(partition), "enable": partition.slice})


def target_layout(config: ArrayConfig) -> data.StructLayout:
    """The target of one pass's words: a row of the file, if it `exists`, in the lanes of `enable`.

    `selects` has the component, by `ComponentSelect`, that each channel gets. A pass has its `number` in its slice. If
    it is `followed`, later passes of the same row come.
    """
    return data.StructLayout(
        {
            "row": row_bits(config),
            "exists": 1,
            "number": Partition.of(config).slice_pass_bits,
            "followed": 1,
            "selects": data.ArrayLayout(3, CHANNELS),
            "enable": config.at_once,
        }
    )


def clear_layout(config: ArrayConfig) -> data.StructLayout:
    """Rows that become 0: those in `invalidates` of the block of 32 rows that has `row`, and `row`."""
    return data.StructLayout({"row": row_bits(config), "invalidates": ROWS_TOGETHER})


def pass_write_layout(config: ArrayConfig) -> data.StructLayout:
    """A write of the words of one pass, a vector of each lane."""
    return data.StructLayout({"target": target_layout(config), "words": words_layout(config.at_once)})


def register_words_layout(partition: Partition) -> data.StructLayout:
    """A register's words of a slice; channels that are not `valid` read 0, and their words are undefined."""
    return data.StructLayout({"words": data.ArrayLayout(slice_words(partition), CHANNELS), "valid": CHANNELS})


class AluRegisterPort(Interface):
    """The port of the ALU to the register file, seen from the ALU. All writes pass through it.

    Members
    -------
    reads : ``Out(ArrayLayout(register_address_layout(config), 4))``
        A row of each channel, in three of four cycles; in the fourth other units may read.
    found : ``In(register_words_layout(Partition.of(config)))``
        The words of the previous cycle's rows.
    others : ``In(ArrayLayout(channel_write_layout(config), 4))``
        The writes of other units; all 0 in a cycle with results of the ALU, and in the cycle after.
    writes : ``Out(ArrayLayout(channel_write_layout(config), 4))``
        All writes, those of other units in their cycle.
    """

    def __init__(self, config: ArrayConfig) -> None:
        writes = data.ArrayLayout(channel_write_layout(config), CHANNELS)
        super().__init__(
            {
                "reads": Out(data.ArrayLayout(register_address_layout(config), CHANNELS)),
                "found": In(register_words_layout(Partition.of(config))),
                "others": In(writes),
                "writes": Out(writes),
            }
        )


class RegisterPort(Interface):
    """The port of the fetch unit to the register file, seen from the unit.

    Members
    -------
    read : ``Out(stream.Signature(register_address_layout(config)))``
        Ready in cycles in which the ALU reads nothing, one in four.
    found : ``In(register_words_layout(Partition.of(config)))``
        The register that was read in the previous cycle.
    write : ``Out(stream.Signature(pass_write_layout(config)))``
        Passes of a register in order; passes of other registers may come between them.
    error : ``Out(1)``
        A fetch had an error response: its pass is not written, and none may follow the passes before it.
    in_flight : ``In(1)``
        Passes that are not `followed` were accepted, and are not yet in the registers.
    """

    def __init__(self, config: ArrayConfig) -> None:
        super().__init__(
            {
                "read": Out(stream.Signature(register_address_layout(config))),
                "found": In(register_words_layout(Partition.of(config))),
                "write": Out(stream.Signature(pass_write_layout(config))),
                "error": Out(1),
                "in_flight": In(1),
            }
        )
