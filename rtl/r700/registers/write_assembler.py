"""Assembles passes that are written to the same register: a slice of a wavefront is written at once.

Source: docs/design/r700-core.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.r700.border.registers import channel_write_layout, pass_write_layout, row_bits
from ctm.rtl.r700.partition import Partition
from ctm.rtl.r700.registers.writing import selected


class WriteAssembler(wiring.Component):
    """Keeps passes that others follow, and writes them together with the last one when it comes.

    One pass is taken in each cycle. The last one of a slice waits until the slice can be written, and so does a pass of
    another register than the passes that are kept. A register whose last passes do not come is written without them.

    Members
    -------
    write : ``In(stream.Signature(pass_write_layout(config)))``
        Passes of a register in order; others may come between them.
    file : ``Out(stream.Signature(ArrayLayout(channel_write_layout(config), 4)))``
    error : ``In(1)``
        A pass does not come: none may follow the passes that are kept.
    in_flight : ``Out(1)``
        Passes are kept that none follows.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        super().__init__(
            {
                "write": In(stream.Signature(pass_write_layout(config))),
                "file": Out(stream.Signature(data.ArrayLayout(channel_write_layout(config), CHANNELS))),
                "error": In(1),
                "in_flight": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        target, file = self.write.payload.target, self.file
        partition = Partition.of(self._config)
        last = partition.slice_passes - 1
        words, enable = self._selected(m)
        held, row, number = Signal(), Signal(row_bits(self._config)), Signal(partition.slice_pass_bits)
        joins, is_last, leaves = Signal(), Signal(), Signal()
        m.d.comb += [
            is_last.eq(target.number == last),
            joins.eq((row == target.row) & (target.number > number) & ~self.in_flight),
            leaves.eq(file.valid & file.ready),
            # A pass of another register lets the kept ones be written first.
            file.valid.eq(
                Mux(held, self.in_flight | (self.write.valid & (is_last | ~joins)), self.write.valid & is_last)
            ),
            self.write.ready.eq(Mux(is_last, file.ready & (~held | joins), ~held | joins | leaves)),
        ]
        goes = Signal()
        m.d.comb += goes.eq(self.write.valid & (~held | joins) & is_last)
        keeps = self.write.valid & self.write.ready & ~is_last
        with m.If(keeps):
            m.d.sync += [held.eq(1), row.eq(target.row), number.eq(target.number)]
            m.d.sync += self.in_flight.eq(self.error | ~target.followed)
        with m.Elif(leaves):
            m.d.sync += [held.eq(0), self.in_flight.eq(0)]
        with m.Elif(self.error):
            m.d.sync += self.in_flight.eq(held)
        for channel in range(CHANNELS):
            passes = [self._keep(m, channel, each, (words, enable), (keeps, leaves)) for each in range(last)]
            passes.append((words[channel], Mux(goes, enable[channel], 0)))
            m.d.comb += [
                file.payload[channel].row.eq(Mux(held, row, target.row)),
                Value.cast(file.payload[channel].words).eq(Cat(each for each, _ in passes)),
                file.payload[channel].enable.eq(Cat(each for _, each in passes)),
            ]
        return m

    def _selected(self, m: Module) -> tuple[list[Signal], list[Signal]]:
        """The words that are written to each channel, and their lanes."""
        write, lanes = self.write.payload, self._config.at_once
        words = [Signal(WORD_BITS * lanes, name=f"words_{channel}") for channel in range(CHANNELS)]
        enable = [Signal(lanes, name=f"enable_{channel}") for channel in range(CHANNELS)]
        for channel, select in enumerate(write.target.selects):
            masked = select == ComponentSelect.MASK.value
            m.d.comb += [
                words[channel].eq(Cat(selected(Value.cast(write.words[lane]), select) for lane in range(lanes))),
                enable[channel].eq(Mux(write.target.exists & ~masked, write.target.enable, 0)),
            ]
        return words, enable

    def _keep(
        self, m: Module, channel: int, number: int, coming: tuple[list[Signal], list[Signal]], when: tuple[Value, Value]
    ) -> tuple[Value, Value]:
        """The kept words of a channel of a pass, and their lanes."""
        words, enable = (each[channel] for each in coming)
        keeps, leaves = when
        kept = Signal.like(words, name=f"kept_{channel}_{number}", reset_less=True)
        lanes = Signal.like(enable, name=f"lanes_{channel}_{number}")
        with m.If(leaves):
            m.d.sync += lanes.eq(0)
        with m.If(keeps & (self.write.payload.target.number == number)):
            m.d.sync += [kept.eq(words), lanes.eq(enable)]
        return kept, lanes
