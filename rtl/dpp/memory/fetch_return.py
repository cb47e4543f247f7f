"""Return of fetched words to the temporaries."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import fetch_response_layout, words_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import beat_fields, beat_of, is_last, lanes_of
from ctm.rtl.dpp.core_border import fetch_number_layout, fetch_tag_layout
from ctm.rtl.dpp.memory.fetch_records import record_layout
from ctm.rtl.dpp.registers.file import register_address_layout
from ctm.rtl.dpp.registers.placement import ALLOCATION, Placement
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import CHANNELS, REGISTER_BITS
from ctm.rtl.lib.ram import BlockRam
from ctm.rtl.lib.views import record

_WAITING = 8


def fetch_write_layout(config: ArrayConfig) -> data.StructLayout:
    """A write of a wave slot's temporary, and its address: all of it, or a beat's lanes."""
    return data.StructLayout(
        {
            "wave": wave_bits(config),
            "register": REGISTER_BITS,
            "address": register_address_layout(config),
            **beat_fields(config),
            "words": words_layout(config.at_once),
            "enable": data.ArrayLayout(CHANNELS, config.at_once),
        }
    )


class FetchReturn(wiring.Component):
    """Holds the destination of each outstanding fetch, and writes its words when they come; one in each cycle.

    Words are written two cycles after their response. A FIFO holds 8 responses while the ALU writes to the same bank or
    a wavefront starts, so that the cache does not stall. Each beat of a wavefront is a fetch of its own; the last one
    completes the fetch.

    Members
    -------
    allocation : ``In(ALLOCATION)``
    record : ``In({valid, tag, record})``
        A fetch is sent.
    response : ``In(stream.Signature(fetch_response_layout(lanes, tag)))``
    write : ``Out(stream.Signature(fetch_write_layout(config)))``
    returned : ``Out({valid, wave})``
        A fetch is done; a cycle after its last write.
    error : ``Out({valid, pc})``
        The fetch of `returned` had an error response; it writes nothing.
    """

    def __init__(self, config: ArrayConfig, shapes: Shapes) -> None:
        self._config, self._record = config, record_layout(config, shapes)
        super().__init__(
            {
                "allocation": In(ALLOCATION),
                "record": In(
                    data.StructLayout({"valid": 1, "tag": fetch_number_layout(config), "record": self._record})
                ),
                "response": In(
                    stream.Signature(fetch_response_layout(config.at_once, fetch_tag_layout(config, shapes)))
                ),
                "write": Out(stream.Signature(fetch_write_layout(config))),
                "returned": Out(data.StructLayout({"valid": 1, "wave": wave_bits(config)})),
                "error": Out(data.StructLayout({"valid": 1, "pc": shapes.pc_bits})),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        records = BlockRam(self._record, config.threads * config.lookups)
        m.submodules.records = records
        note, read = records.write_port(), records.read_port()
        m.d.comb += [
            note.addr.eq(self.record.tag),
            note.data.eq(self.record.record),
            note.en.eq(self.record.valid),
        ]
        response = self.response
        m.submodules.waiting = waiting = SyncFIFO(width=len(Value.cast(response.payload)), depth=_WAITING)
        layout, free = response.payload.shape(), Signal()
        oldest, held, valid = record(layout), record(layout, reset_less=True), Signal()
        m.d.comb += [
            # A response passes the FIFO if none waits there.
            Value.cast(oldest).eq(Mux(waiting.r_rdy, waiting.r_data, response.payload)),
            waiting.w_en.eq(response.valid & (waiting.r_rdy | ~free)),
            waiting.w_data.eq(response.payload),
            waiting.r_en.eq(free),
            response.ready.eq(waiting.w_rdy),
            read.addr.eq(Cat(oldest.tag.wave, oldest.tag.entry)),
            read.en.eq(free),
        ]
        with m.If(free):
            m.d.sync += [valid.eq(waiting.r_rdy | response.valid), held.eq(oldest)]
        m.d.comb += free.eq(~valid | self._write(m, held, valid, read.data))
        return m

    def _write(self, m: Module, held: data.View, comes: Value, found: data.View) -> Value:
        """Write a response to where its record says. Returns whether it is taken.

        What is written comes from registers: a record comes from a block RAM.
        """
        config, payload = self._config, self.write.payload
        write, valid = record(payload.shape(), name="written", reset_less=True), Signal(name="writes")
        failed, pc = Signal(reset_less=True), Signal.like(self.error.pc, reset_less=True)
        done, takes = Signal(), Signal(name="takes")
        error, ends = self._several_beats(m, write, failed, done)
        placement = Placement(m, config, held.tag.wave, self.allocation)
        m.d.comb += [
            done.eq(valid & (error | self.write.ready)),
            takes.eq(~valid | done),
            self.write.valid.eq(valid & ~error),
            payload.eq(write),
        ]
        m.d.sync += [
            self.returned.valid.eq(ends),
            self.returned.wave.eq(write.wave),
            self.error.valid.eq(ends & error),
            self.error.pc.eq(pc),
        ]
        with m.If(takes):
            m.d.sync += [
                valid.eq(comes),
                failed.eq(held.error),
                pc.eq(found.pc),
                write.wave.eq(held.tag.wave),
                write.register.eq(found.register),
                write.address.eq(placement.address(found.register)),
                write.enable.eq(lanes_of(config, found.enable, beat_of(config, held.tag))),
                *(
                    write.words[lane][channel].eq(held.words[lane][found.swizzle[channel]])
                    for lane in range(config.at_once)
                    for channel in range(CHANNELS)
                ),
            ]
            if config.beats > 1:
                m.d.sync += write.beat.eq(held.tag.beat)
        return takes

    def _several_beats(self, m: Module, write: data.View, failed: Value, done: Value) -> tuple[Value, Value]:
        """Whether this beat or an earlier one had an error response, and whether the fetch is done with it."""
        config = self._config
        if config.beats == 1:
            return failed, done
        earlier, error = Signal(config.threads, name="error_earlier"), Signal(name="error_so_far")
        last = is_last(config, write.beat)
        m.d.comb += error.eq(failed | earlier.bit_select(write.wave, 1))
        with m.If(done):
            m.d.sync += earlier.bit_select(write.wave, 1).eq(error & ~last)
        return error, done & last
