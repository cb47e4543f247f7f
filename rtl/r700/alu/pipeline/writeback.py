"""Write-back: the results of a slice, and the writes of other units, to the register file.

Source: R700-Family Instruction Set Architecture, section 4.7; docs/design/r700-core.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, TRANS_SLOT
from ctm.rtl.r700.alu.decode import offset_of
from ctm.rtl.r700.alu.pipeline.issued import ending_layout, results_layout
from ctm.rtl.r700.border.registers import channel_write_layout
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.registers.addressing import register_address, slice_base
from ctm.rtl.r700.registers.file import taken


class WritebackArbiter(wiring.Component):
    """Writes the vector results of a slice, those of slot t a cycle later, and otherwise what other units write.

    Vector results are written in the cycle in which they come. Results of slices are four cycles apart at least.

    Words that wait for their cycle are 0 by the reset of their flip-flops unless they are written in it, so all write
    sources of a bit are ORed in one LUT.

    Members
    -------
    results : ``In(results_layout(Partition.of(array)))``
    ending : ``In(ending_layout(config))``
        Their group.
    gates : ``In(ArrayLayout(W, 5))``
        Pixels in which each slot's instruction writes.
    gprs : ``In(8)``
        The program's.
    others : ``In(ArrayLayout(channel_write_layout(array), 4))``
        The writes of other units; all 0 in cycles with results, and in the cycle after.
    writes : ``Out(ArrayLayout(channel_write_layout(array), 4))``
        In the same cycle.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._config = array = config.array
        self._partition = Partition.of(array)
        writes = data.ArrayLayout(channel_write_layout(array), CHANNELS)
        super().__init__(
            {
                "results": In(results_layout(self._partition)),
                "ending": In(ending_layout(config)),
                "gates": In(data.ArrayLayout(self._partition.wavefront, GROUP_SLOTS)),
                "gprs": In(8),
                "others": In(writes),
                "writes": Out(writes),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        partition, results, ending = self._partition, self.results, self.ending
        number = partition.slice_in(results)
        words = [Value.cast(results.words[slot]) for slot in range(GROUP_SLOTS)]
        base = slice_base(m, partition, ending.base, number, results.valid, gprs=self.gprs, name="write")
        gates = [partition.slice_of(self.gates[slot], number) for slot in range(GROUP_SLOTS)]
        trans = ending.effects[TRANS_SLOT]
        target, exists = self._address(m, base, trans)
        trans_writes, trans_row, is_trans = results.valid & trans.writes & exists, Signal.like(target), Signal()
        m.d.sync += [is_trans.eq(trans_writes), trans_row.eq(target)]
        for channel in range(CHANNELS):
            write, other, effect = self.writes[channel], self.others[channel], ending.effects[channel]
            target, exists = self._address(m, base, effect)
            enable = Mux(results.valid & effect.writes & exists, gates[channel], 0)
            coming = Mux(trans_writes & (trans.channel == channel), gates[TRANS_SLOT], 0)
            enable_trans = Signal.like(coming, name=f"enable_trans_{channel}")
            words_trans = Signal(len(words[TRANS_SLOT]), name=f"words_trans_{channel}", reset_less=True)
            m.d.sync += [enable_trans.eq(coming), *taken(words_trans, words[TRANS_SLOT], coming)]
            m.d.comb += [
                write.row.eq(Mux(results.valid, target, Mux(is_trans, trans_row, other.row))),
                write.enable.eq(enable | enable_trans | other.enable),
                Value.cast(write.words).eq((words[channel] & _by_word(enable)) | words_trans | Value.cast(other.words)),
            ]
        return m

    def _address(self, m: Module, base: Value, effect: data.View) -> tuple[Value, Value]:
        """The row of a result, and whether it exists."""
        offset = offset_of(m, self.ending.indices, Value.cast(effect.mode))
        found = register_address(
            m, self._config, effect.number, offset, effect.relative, gprs=self.gprs, base=base
        )  # fmt: skip
        return found.row, found.exists


def _by_word(bits: Value) -> Value:
    """Each bit, replicated to the width of a word."""
    return Cat(bit.replicate(WORD_BITS) for bit in bits)
