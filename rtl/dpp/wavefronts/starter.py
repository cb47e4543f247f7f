"""Initialises the registers of a new wavefront: r0 is (i, j, 0, 1) of each pixel, as floats; all others are 0.

Source: docs/design/r5xx-core.md, the register file.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import words_layout
from ctm.rtl.border.programs import wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import ONLY_BEAT, beat_bits, beat_fields, is_last, pair_of
from ctm.rtl.dpp.registers.file import BANKS, register_address_layout
from ctm.rtl.dpp.registers.placement import ALLOCATION, Placement
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.fp.conversion import from_integer
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import QUAD, REGISTER_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.valid_bits import INDEX_BITS, ROWS_TOGETHER
from ctm.rtl.lib.views import record


def clear_layout(config: ArrayConfig) -> data.StructLayout:
    """A temporary of all lanes, or of a beat's; those above it, up to the next multiple of `ROWS_TOGETHER`, are 0."""
    return data.StructLayout(
        {
            "valid": 1,
            "wave": wave_bits(config),
            "register": REGISTER_BITS,
            "address": register_address_layout(config),
            **beat_fields(config),
            "words": words_layout(config.at_once),
        }
    )


class Starter(wiring.Component):
    """Sets a wavefront's temporaries, 32 at a time, in cycles in which the register file takes a fetch's write.

    One wavefront at a time, r0's block last. It takes one cycle, and for each 32 temporaries of the program one for
    each beat. A write is decided in the cycle before it, and comes from registers: it selects the address of a long
    path into the register file.

    Members
    -------
    wavefront : ``In({valid, wave, wavefront})``
        A wavefront that takes a wave slot; only while not `busy`.
    busy : ``Out(1)``
    allocation : ``In(ALLOCATION)``
        Constant from the cycle before `wavefront` on.
    reserved : ``In(2)``
        Banks of the register file that take no write of a fetch in the next cycle.
    write : ``Out(clear_layout(config))``
        `valid` only in cycles in which its bank takes it.
    begin : ``Out({valid, wave})``
        All is set, in the cycle of the last write.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        at_wave = {"valid": 1, "wave": wave_bits(config)}
        super().__init__(
            {
                "wavefront": In(data.StructLayout(at_wave | {"wavefront": wavefront_layout(config.lanes)})),
                "busy": Out(1),
                "allocation": In(ALLOCATION),
                "reserved": In(BANKS),
                "write": Out(clear_layout(config)),
                "begin": Out(data.StructLayout(at_wave)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        write = self.write
        # Registered here: it is constant from the cycle before a wavefront is taken.
        allocation = delay(m, self.allocation, name="its_allocation")
        beat, last = self._beats(m)
        first = write.register == 0
        ends = last & first
        # Of the next cycle. Not gated by `wavefront.valid`, which comes late in the cycle: unused without a start.
        register = Signal(REGISTER_BITS, name="upcoming_register")
        wave = Mux(self.busy, write.wave, self.wavefront.wave)
        busy = Mux(self.busy, ~ends, self.wavefront.valid)
        with m.If(self.busy):
            m.d.comb += register.eq(Mux(last, write.register - ROWS_TOGETHER, write.register))
        with m.Else():
            m.d.comb += register.eq(Cat(Const(0, INDEX_BITS), allocation.highest[INDEX_BITS:]))
        address = Placement(m, self._config, wave, allocation).address(register)
        coordinates = delay(m, self._coordinates(m, beat), name="coordinates")
        m.d.sync += [
            self.busy.eq(busy),
            write.valid.eq(busy & ~self.reserved.bit_select(address.bank, 1)),
            write.wave.eq(wave),
            write.register.eq(register),
            write.address.eq(address),
        ]
        m.d.comb += [
            Value.cast(write.words).eq(Mux(first, Value.cast(coordinates), 0)),
            self.begin.valid.eq(ends),
            self.begin.wave.eq(write.wave),
        ]
        return m

    def _beats(self, m: Module) -> tuple[Value, Value]:
        """The beat of the next cycle, and whether the register file takes the last one."""
        config = self._config
        if config.beats == 1:
            return ONLY_BEAT, self.write.valid
        beat, upcoming = Signal(beat_bits(config)), Signal(beat_bits(config), name="upcoming_beat")
        m.d.comb += upcoming.eq(Mux(self.busy, beat + self.write.valid, 0))
        m.d.sync += beat.eq(upcoming)
        m.d.comb += self.write.beat.eq(beat)
        return upcoming, self.write.valid & is_last(config, beat)

    def _coordinates(self, m: Module, beat: Value) -> data.View:
        """r0 of one beat: of the wavefront that is being started, or of the one that may come in this cycle."""
        lanes = self._config.at_once
        words = record(words_layout(lanes))
        wavefront = Signal.like(self.wavefront.wavefront)
        held = Signal.like(wavefront, reset_less=True)
        # Not gated by `valid`, which comes late in the cycle: without a start the value is not used.
        m.d.comb += wavefront.eq(Mux(self.busy, Value.cast(held), Value.cast(self.wavefront.wavefront)))
        m.d.sync += held.eq(wavefront)
        i, j = pair_of(self._config, wavefront, beat)
        columns = [from_integer(m, (i + offset)[: len(i)]) for offset in range(max(lanes // 2, min(lanes, 2)))]
        rows = [from_integer(m, (j + offset)[: len(j)]) for offset in range(2 if lanes >= QUAD else 1)]
        for lane in range(lanes):
            column, row = 2 * (lane // QUAD) + lane % 2, lane % QUAD // 2
            m.d.comb += [words[lane][0].eq(columns[column]), words[lane][1].eq(rows[row]), words[lane][3].eq(ONE)]
        return words
