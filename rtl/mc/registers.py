"""The memory controller's registers, and the commands that it executes.

Source: CTM Guide pp. 13-21.
"""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, EXTENT, INPUT_WRITE, RESET_BUFFER, RESET_EXTENT
from ctm.rtl.border.commands import UNIT_COMMAND
from ctm.rtl.border.conditional import ConditionalBuffer
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.shading import DWORD_BITS, DrawBuffers
from ctm.rtl.isa.commands import ADDRESS
from ctm.rtl.isa.draws import ALL_BY_NAME, VERTEX_BUFFERS
from ctm.rtl.isa.limits import CHANNELS, INPUTS, OUTPUTS, WORD_BITS, WORD_BYTES
from ctm.rtl.mc.buffer import BufferDecoder

BASE_BITS = ADDRESS["base"].width
BANKS = ("set_constf_fmt", "set_consti_fmt", "set_constb_fmt")
"""Commands that set the base of a file of constants, in the files' order."""
_INVALIDATE_CONSTANTS = (*BANKS, "inv_constf_cache", "inv_consti_cache", "inv_constb_cache")


class Invalidation(Interface):
    """The invalidation of a cache, seen from the unit that requests it.

    Members
    -------
    invalidate : ``Out(1)``
        One cycle; only with `idle`.
    idle : ``In(1)``
        The cache can be invalidated.
    """

    def __init__(self) -> None:
        super().__init__({"invalidate": Out(1), "idle": In(1)})


class Flush(Interface):
    """The flush of a cache, seen from the unit that requests it.

    Members
    -------
    flush : ``Out(1)``
        High until the flush is done.
    flushed : ``In(1)``
        It is done: all is in memory. Low without `flush`.
    """

    def __init__(self) -> None:
        super().__init__({"flush": Out(1), "flushed": In(1)})


class Registers(wiring.Component):
    """Executes the memory controller's commands, which the command processor sends when the array is idle.

    A command that sets something takes one cycle. An invalidate waits until its cache is idle, a flush until all is in
    memory. Setting a file of constants also invalidates the constants, because their caches are tagged by number.

    Members
    -------
    command : ``In(stream.Signature(UNIT_COMMAND))``
    written : ``Out(INPUT_WRITE)``
        An input that is set.
    inputs : ``Out(EXTENT)``, 16 of them
    outputs : ``Out(BUFFER)``, `outputs` of them
    conditional : ``Out(ConditionalBuffer())``
    constant_bases : ``Out(21)``, 3 of them
        In units of 2 KiB.
    output_mask : ``Out(4)``
    invalidate_constants : ``Out(1)``
        One cycle.
    input_cache, conditional_cache : ``Out(Invalidation())``
    output_flush, conditional_flush : ``Out(Flush())``
    draw_buffers : ``Out(DrawBuffers(geometry=geometry))``
        Where the machine draws.
    """

    def __init__(self, *, draws: bool = False, geometry: bool = False, outputs: int = OUTPUTS) -> None:
        self._draws, self._geometry = draws, geometry
        super().__init__(
            {
                "command": In(stream.Signature(UNIT_COMMAND)),
                "written": Out(INPUT_WRITE),
                "inputs": Out(data.ArrayLayout(EXTENT, INPUTS), init=[RESET_EXTENT] * INPUTS),
                "outputs": Out(data.ArrayLayout(BUFFER, outputs), init=[RESET_BUFFER] * outputs),
                "conditional": Out(ConditionalBuffer()),
                "constant_bases": Out(data.ArrayLayout(BASE_BITS, len(BANKS))),
                "output_mask": Out(CHANNELS, init=(1 << CHANNELS) - 1),
                "invalidate_constants": Out(1),
                "input_cache": Out(Invalidation()),
                "conditional_cache": Out(Invalidation()),
                "output_flush": Out(Flush()),
                "conditional_flush": Out(Flush()),
                **({"draw_buffers": Out(DrawBuffers(geometry=geometry))} if draws else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        command, words = self.command, self.command.payload.words
        m.submodules.decoder = decoder = BufferDecoder()
        is_conditional = self._is("set_cond_out_fmt")
        base, format_, height = (Mux(is_conditional, words[index], words[index + 1]) for index in range(3))
        m.d.comb += [
            Value.cast(decoder.base).eq(base),
            Value.cast(decoder.format).eq(format_),
            Value.cast(decoder.height).eq(height),
            command.ready.eq(1),
            self.written.number.eq(words[0]),
            self.written.buffer.eq(decoder.buffer),
        ]
        for number, extent in enumerate(self.inputs):
            with m.If(self.written.valid & (self.written.number == number)):
                m.d.sync += [extent.pitch.eq(decoder.buffer.pitch), extent.height.eq(decoder.buffer.height)]
        with m.If(command.valid):
            with m.If(self._is("set_inp_fmt")):
                m.d.comb += self.written.valid.eq(1)
            for number, output in enumerate(self.outputs):
                with m.If(self._is("set_out_fmt") & (words[0][:4] == number)):
                    m.d.sync += output.eq(decoder.buffer)
            with m.If(is_conditional):
                m.d.sync += self.conditional.buffer.eq(decoder.buffer)
            for bank, name in enumerate(BANKS):
                with m.If(self._is(name)):
                    m.d.sync += self.constant_bases[bank].eq(data.View(ADDRESS, words[0]).base)
            with m.If(self._is("set_out_mask")):
                m.d.sync += self.output_mask.eq(words[0])
            with m.If(self._is("set_cond_out_mask")):
                m.d.sync += self.conditional.writes_enabled.eq(words[0])
            m.d.comb += self.invalidate_constants.eq(self._is(*_INVALIDATE_CONSTANTS))
            self._wait(m, "inv_inp_cache", self.input_cache)
            self._wait(m, "inv_cond_out_cache", self.conditional_cache)
            self._flush(m, "flush_out_cache", self.output_flush)
            self._flush(m, "flush_cond_out_cache", self.conditional_flush)
            if self._draws:
                # Vertex buffers are read through the cache of the inputs.
                self._wait(m, "inv_vtx_cache", self.input_cache)
                vertex_buffer = self.draw_buffers.vertex_buffer
                buffer = vertex_buffer.buffer
                m.d.comb += [
                    vertex_buffer.valid.eq(self._is("set_vtx_fmt")),
                    vertex_buffer.number.eq(words[0]),
                    buffer.address.eq(words[1] & ~3),
                    buffer.bytes.eq(words[2]),
                    buffer.stride.eq(words[3]),
                ]
            if self._geometry:
                self._set_ring(m, words)
        return m

    def _set_ring(self, m: Module, words: data.View) -> None:
        """Set a ring, which programs read as a buffer of dwords, or a stream."""
        own = self.draw_buffers
        ring, stream, vertex_buffer = own.ring, own.stream, own.vertex_buffer
        base = Cat(Const(0, DWORD_BITS - BASE_BITS), data.View(ADDRESS, words[1]).base)
        size = words[2] << 2
        m.d.comb += [
            ring.valid.eq(self._is("set_ring_fmt")),
            ring.number.eq(words[0]),
            ring.dword.eq(base),
            ring.dwords.eq(words[2]),
            stream.valid.eq(self._is("set_strm_fmt")),
            stream.number.eq(words[0]),
            stream.dword.eq(base),
            stream.dwords.eq(words[2]),
            stream.stride.eq(words[3]),
        ]
        with m.If(ring.valid):
            buffer = vertex_buffer.buffer
            m.d.comb += [
                vertex_buffer.valid.eq(1),
                vertex_buffer.number.eq(VERTEX_BUFFERS + ring.number),
                buffer.address.eq(base << 2),
                buffer.bytes.eq(Mux(size >> WORD_BITS != 0, ~3, size)),
                buffer.stride.eq(WORD_BYTES),
            ]

    def _is(self, *names: str) -> Value:
        return Value.cast(self.command.payload.opcode).matches(*(ALL_BY_NAME[name].opcode for name in names))

    def _wait(self, m: Module, name: str, cache: wiring.PureInterface) -> None:
        with m.If(self._is(name)):
            m.d.comb += [self.command.ready.eq(cache.idle), cache.invalidate.eq(cache.idle)]

    def _flush(self, m: Module, name: str, cache: wiring.PureInterface) -> None:
        with m.If(self._is(name)):
            m.d.comb += [self.command.ready.eq(cache.flushed), cache.flush.eq(1)]
