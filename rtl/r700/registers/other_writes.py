"""Writes of registers by others than the ALU, in the cycles that it leaves: by new wavefronts and by fetches.

Source: docs/design/r700-core.md.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER
from ctm.rtl.r700.border.registers import channel_write_layout, clear_layout, pass_write_layout
from ctm.rtl.r700.registers.file import taken
from ctm.rtl.r700.registers.write_assembler import WriteAssembler


class OtherWrites(wiring.Component):
    """Takes the writes of new wavefronts and of fetches, new wavefronts first, and gives one in each free cycle.

    A write is given in the cycle after the one with `free`. Passes of a register are written together, as
    `WriteAssembler` says.

    Members
    -------
    clear : ``In(stream.Signature(clear_layout(config)))``
        Registers that become 0.
    r0 : ``In(stream.Signature(pass_write_layout(config)))``
        Registers that a wavefront begins with.
    fetched : ``In(stream.Signature(pass_write_layout(config)))``
        Results of fetches.
    error : ``In(1)``
        A fetch writes nothing, and no pass of its register follows.
    free : ``In(1)``
        The ALU does not write in the next cycle.
    writes : ``Out(ArrayLayout(channel_write_layout(config), 4))``
        Writes of all channels; 0 in other cycles.
    invalidates : ``Out(32)``
        As those of `RegisterFile`.
    in_flight : ``Out(1)``
        Passes that none follows are not yet in the registers.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        passes = In(stream.Signature(pass_write_layout(config)))
        super().__init__(
            {
                "clear": In(stream.Signature(clear_layout(config))),
                "r0": passes,
                "fetched": passes,
                "error": In(1),
                "free": In(1),
                "writes": Out(data.ArrayLayout(channel_write_layout(config), CHANNELS)),
                "invalidates": Out(ROWS_TOGETHER),
                "in_flight": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.assembler = assembler = WriteAssembler(self._config)
        clear, r0, fetched, taking = self.clear, self.r0, self.fetched, assembler.write
        m.d.comb += [
            taking.valid.eq(r0.valid | fetched.valid),
            Value.cast(taking.payload).eq(Mux(r0.valid, Value.cast(r0.payload), Value.cast(fetched.payload))),
            r0.ready.eq(taking.ready),
            fetched.ready.eq(taking.ready & ~r0.valid),
            assembler.error.eq(self.error),
            clear.ready.eq(self.free),
            assembler.file.ready.eq(self.free & ~clear.valid),
        ]
        clears, writes, written = Signal(), Signal(), Signal()
        m.d.comb += [
            clears.eq(clear.valid & clear.ready),
            writes.eq(assembler.file.valid & assembler.file.ready),
            self.in_flight.eq(assembler.in_flight | written),
        ]
        m.d.sync += [written.eq(writes), self.invalidates.eq(Mux(clears, clear.payload.invalidates, 0))]
        for channel in range(CHANNELS):
            write = self.writes[channel]
            assembled = assembler.file.payload[channel]
            enable = Mux(writes, assembled.enable, 0)
            m.d.sync += [
                write.row.eq(Mux(clears, clear.payload.row, assembled.row)),
                write.enable.eq(enable | clears.replicate(len(write.enable))),
                *taken(Value.cast(write.words), Value.cast(assembled.words), enable),
            ]
        return m
