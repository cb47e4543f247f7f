"""Registers of all resident wavefronts, in block RAM: of each channel one memory, with one read and one write port.

A row holds one channel of one register of a slice of a wavefront. Registers that were not written read 0; the first
write to one sets all of it. Source: R700-Family Instruction Set Architecture, section 4.7 (one port for each channel).
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.lib.ram import BlockRam
from ctm.rtl.lib.statement import Assign
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER, ValidBits
from ctm.rtl.lib.views import record
from ctm.rtl.r700.border.registers import channel_write_layout, depth_of, register_address_layout, slice_words
from ctm.rtl.r700.partition import Partition


def masked(words: Value | data.View, words_valid: Value) -> Value:
    """The words of a register: those that were read, or 0. Flip-flops that keep it have this as their reset."""
    return Mux(words_valid, Value.cast(words), 0)


def taken(target: Value, words: Value, enable: Value) -> list[Assign]:
    """The next value of flip-flops: the words of pixels in `enable`, and 0, which is their reset, in others."""
    return [
        target.word_select(pixel, WORD_BITS).eq(Mux(takes, words.word_select(pixel, WORD_BITS), 0))
        for pixel, takes in enumerate(enable)
    ]


class RegisterFile(wiring.Component):
    """One read and one write of each channel per cycle.

    Latency of a read is a cycle; the words of a row that is written in the same cycle are undefined.

    Members
    -------
    reads : ``In(ArrayLayout(register_address_layout(config), 4))``
    other_read, reads_other : ``In(register_address_layout(config))``, ``In(1)``
        A row that is read in all channels instead, in cycles with `reads_other`.
    words : ``Out(ArrayLayout(slice_words(Partition.of(config)), 4))``
    words_valid : ``Out(4)``
        Whether a channel's words are a register's; else it reads 0, and they are undefined. See `masked`.
    writes : ``In(ArrayLayout(channel_write_layout(config), 4))``
    invalidates : ``In(32)``
        Of the write to the first channel's row: rows of its block of 32 that are invalidated in all channels. All
        four must write the same row then.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config, self._partition = config, Partition.of(config)
        super().__init__(
            {
                "reads": In(data.ArrayLayout(register_address_layout(config), CHANNELS)),
                "other_read": In(register_address_layout(config)),
                "reads_other": In(1),
                "words": Out(data.ArrayLayout(slice_words(self._partition), CHANNELS)),
                "words_valid": Out(CHANNELS),
                "writes": In(data.ArrayLayout(channel_write_layout(config), CHANNELS)),
                "invalidates": In(ROWS_TOGETHER),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        depth, size = depth_of(self._config), self._partition.slice
        for channel in range(CHANNELS):
            write, wanted = self.writes[channel], record(self.other_read.shape(), name=f"wanted_{channel}")
            m.submodules[f"written_{channel}"] = written = ValidBits(depth, 1)
            memory = BlockRam(slice_words(self._partition), depth)
            m.submodules[f"words_{channel}"] = memory
            port, read = memory.write_port(granularity=1), memory.read_port()
            exists = Signal(name=f"exists_{channel}")
            m.d.sync += exists.eq(wanted.exists)
            writes = Value.cast(write.enable).any()
            m.d.comb += [
                wanted.eq(Mux(self.reads_other, self.other_read, self.reads[channel])),
                written.row.eq(write.row),
                written.write.eq(writes),
                written.invalidates.eq(self.invalidates),
                port.addr.eq(write.row),
                port.data.eq(write.words),
                port.en.eq((write.enable | written.is_fresh.replicate(size)) & writes.replicate(size)),
                written.reads[0].eq(wanted.row),
                read.addr.eq(wanted.row),
                self.words_valid[channel].eq(exists & written.written[0]),
                self.words[channel].eq(read.data),
            ]
        return m
