"""Responses to fetches: their words go to the registers that the fetches name.

Source: R700-Family Instruction Set Architecture, chapter 5 (DST_SEL).
"""

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import fetch_response_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.core_border import fetch_tag_layout
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import WORD_BYTES
from ctm.rtl.isa.r700.limits import FETCH_CLAUSE_INSTRUCTIONS, FETCH_UNITS
from ctm.rtl.lib.ram import BlockRam
from ctm.rtl.lib.register_slice import RegisterSlice, SliceMode
from ctm.rtl.lib.views import record
from ctm.rtl.r700.border.registers import pass_write_layout, target_layout
from ctm.rtl.r700.fetch.vertex_format import VERTEX_FORMAT, VertexConversion
from ctm.rtl.r700.shapes import SHAPES

INSTRUCTION_BITS = (FETCH_CLAUSE_INSTRUCTIONS - 1).bit_length()


def instruction_in(address: Value) -> Value:
    """The number of the instruction at an address, modulo the instructions that a clause has at most.

    So it is unique in its clause, whatever its first address.
    """
    return (address // FETCH_UNITS)[:INSTRUCTION_BITS]


def kept_layout(config: ArrayConfig, *, draws: bool) -> data.StructLayout:
    """Kept of each fetch in flight: the target of its words, and `instruction_in` of its instruction's address.

    With `draws` also whether the first word of each lane is converted from `element`, which begins at one of `bytes` in
    the word.
    """
    bytes_ = data.ArrayLayout((WORD_BYTES - 1).bit_length(), config.at_once)
    vertex: dict[str, ShapeLike] = {"converts": 1, "element": VERTEX_FORMAT, "bytes": bytes_} if draws else {}
    return data.StructLayout({"target": target_layout(config), "instruction": INSTRUCTION_BITS, **vertex})


def fetch_record_layout(config: ArrayConfig, *, draws: bool) -> data.StructLayout:
    """A fetch that is requested in this cycle, if `valid`, by its tag."""
    kept = kept_layout(config, draws=draws)
    return data.StructLayout({"valid": 1, "tag": fetch_tag_layout(config, SHAPES), "kept": kept})


def fetch_returned_layout(config: ArrayConfig) -> data.StructLayout:
    """A fetch that is done in this cycle, if `valid`: its write is taken, or it had an error response."""
    return data.StructLayout({"valid": 1, "wave": wave_bits(config)})


def fetch_error_layout(config: ArrayConfig) -> data.StructLayout:
    """A fetch that had an error response, and `instruction_in` of its instruction's address."""
    return data.StructLayout({"valid": 1, "wave": wave_bits(config), "instruction": INSTRUCTION_BITS})


class FetchReturn(wiring.Component):
    """Keeps the target of each fetch in flight, by its tag, and writes its words when they come.

    Writes are in the order of responses, which may be any. A write is offered in the cycle after its response, and one
    response is accepted in each cycle while writes are. A converted fetch of a vertex buffer takes
    `VertexConversion.latency` cycles more, in which no other response is accepted.

    Members
    -------
    record : ``In(fetch_record_layout(config, draws))``
        A fetch is requested, a cycle before its response at the latest; its tag is not that of another one in flight.
    response : ``In(stream.Signature(fetch_response_layout(at_once, tag)))``
    direct : ``In(stream.Signature(pass_write_layout(config)))``
        A write that is no response. Responses are written before it, so none is blocked.
    write : ``Out(stream.Signature(pass_write_layout(config)))``
    holds : ``Out(1)``
        A write was taken and is not yet accepted.
    returned : ``Out(fetch_returned_layout(config))``
    error : ``Out(fetch_error_layout(config))``
        With `returned`: the fetch had an error response, and writes nothing.
    """

    def __init__(self, config: ArrayConfig, *, draws: bool = False) -> None:
        self._config, self._draws = config, draws
        tag = fetch_tag_layout(config, SHAPES)
        self._ended = data.StructLayout(
            {
                "write": pass_write_layout(config),
                "wave": wave_bits(config),
                "error": 1,
                "instruction": INSTRUCTION_BITS,
            }
        )
        super().__init__(
            {
                "record": In(fetch_record_layout(config, draws=draws)),
                "response": In(stream.Signature(fetch_response_layout(config.at_once, tag))),
                "direct": In(stream.Signature(pass_write_layout(config))),
                "write": Out(stream.Signature(pass_write_layout(config))),
                "holds": Out(1),
                "returned": Out(fetch_returned_layout(config)),
                "error": Out(fetch_error_layout(config)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        records = BlockRam(kept_layout(config, draws=self._draws), config.threads * config.lookups)
        m.submodules.records = records
        note, read = records.write_port(), records.read_port()
        m.d.comb += [note.addr.eq(self.record.tag), note.data.eq(self.record.kept), note.en.eq(self.record.valid)]
        response = self.response
        payload = response.payload
        held, valid, done = Signal.like(payload, reset_less=True), Signal(), Signal()
        responds, response_write = Signal(), record(self.write.payload.shape(), name="response_write")
        converted: Value = Signal(name="converted") if self._draws else Const(1)
        # The ready of the register file is registered: it reaches neither responses nor the executor in its cycle.
        m.submodules.ready = ready = RegisterSlice(self._ended, SliceMode.REVERSE)
        ended, ends = ready.input.payload, ready.output
        m.d.comb += [
            response.ready.eq(~valid | done),
            done.eq(responds & ready.input.ready),
            read.addr.eq(payload.tag),
            read.en.eq(response.ready),
            responds.eq(valid & (held.error | converted)),
            ready.input.valid.eq(responds | self.direct.valid),
            self.direct.ready.eq(ready.input.ready & ~responds),
            response_write.target.eq(read.data.target),
            response_write.words.eq(held.words),
            ended.write.eq(Mux(responds, response_write, self.direct.payload)),
            ended.wave.eq(held.tag.wave),
            ended.error.eq(responds & held.error),
            ended.instruction.eq(read.data.instruction),
        ]
        with m.If(response.ready):
            m.d.sync += [valid.eq(response.valid), held.eq(payload)]
        m.d.comb += [
            self.write.valid.eq(ends.valid & ~ends.payload.error),
            self.write.payload.eq(ends.payload.write),
            ends.ready.eq(self.write.ready | ends.payload.error),
            self.holds.eq(~ready.empty),
            self.returned.valid.eq(done),
            self.returned.wave.eq(held.tag.wave),
            self.error.valid.eq(ends.valid & ends.payload.error),
            self.error.wave.eq(ends.payload.wave),
            self.error.instruction.eq(ends.payload.instruction),
        ]
        if self._draws:
            self._convert(m, held, read.data, response_write.words, valid & ~done, converted)
        return m

    def _convert(
        self, m: Module, held: data.View, kept: data.View, words: data.View, waits: Value, converted: Value
    ) -> None:
        """Convert the words of a vertex buffer; `converted` is set `VertexConversion.latency` cycles later."""
        age = Signal(range(VertexConversion.latency + 1), name="age")
        m.d.sync += age.eq(Mux(waits, age + ~converted, 0))
        m.d.comb += converted.eq(~kept.converts | (age == VertexConversion.latency))
        for lane in range(self._config.at_once):
            m.submodules[f"conversion_{lane}"] = conversion = VertexConversion()
            m.d.comb += [
                conversion.raw.eq(held.words[lane][0]),
                conversion.byte.eq(kept.bytes[lane]),
                conversion.element.eq(kept.element),
            ]
            with m.If(kept.converts):
                m.d.comb += words[lane][0].eq(conversion.word)
