"""Assembles the words of a command buffer to commands, and checks them."""

from amaranth import Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import PARAMETERS
from ctm.rtl.draw_config import DrawConfig
from ctm.rtl.isa.limits import ADDRESS_BITS, OUTPUTS, WORD_BITS
from ctm.rtl.isa.status import Status
from ctm.rtl.pe.command import COMMAND, DECODED, commands_of, decode, is_wrong
from ctm.rtl.pe.fetcher import WORD, BufferControl

_WORD_BYTES = WORD_BITS // 8


class CommandReader(wiring.Component):
    """Converts words to commands, one word in each cycle; a command is offered two cycles after its last word.

    After the last command comes one with `end`, after an error nothing. Errors have this priority: a command word with
    a bus error; an unknown command; parameters past the buffer's end; a parameter with a bus error; the first illegal
    parameter.

    Members
    -------
    buffers : ``In(BufferControl())``
    words : ``In(stream.Signature(WORD))``
        The buffer's words. At most one word after its end is taken, and dropped.
    command : ``Out(stream.Signature(COMMAND))``
        Held until it is taken or dropped.
    """

    buffers: In(BufferControl())
    words: In(stream.Signature(WORD))
    command: Out(stream.Signature(COMMAND))

    def __init__(self, *, pipeline: DrawConfig | None = None, outputs: int = OUTPUTS) -> None:
        self._commands, self._outputs = commands_of(pipeline or DrawConfig()), outputs
        assert all(command.parameters for command in self._commands), "a command ends with a parameter"
        super().__init__()
        self._word, self._decoded, self._is_decoded = Signal(WORD), Signal(DECODED), Signal()
        self._active = Signal()
        self._at, self._start = Signal(ADDRESS_BITS), Signal(ADDRESS_BITS)
        self._remaining = Signal(WORD_BITS)
        self._index, self._last = Signal(range(PARAMETERS + 1)), Signal(range(PARAMETERS + 1))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        words, command, buffer = self.words, self.command, self.buffers.begin.buffer
        waits, takes = command.valid & ~command.ready, Signal()
        m.d.comb += takes.eq(self._is_decoded & self._active & self._remaining.any() & ~waits)
        m.d.comb += words.ready.eq(~self._is_decoded | takes)
        with m.If(words.ready):
            m.d.sync += [self._word.eq(words.payload), self._decoded.eq(decode(m, words.payload.word, self._commands))]
            m.d.sync += self._is_decoded.eq(words.valid)
        with m.If(command.ready):
            m.d.sync += command.valid.eq(0)
        with m.If(takes):
            m.d.sync += [self._remaining.eq(self._remaining - 1), self._at.eq(self._at + _WORD_BYTES)]
            with m.If(self._index == 0):
                self._take_command(m)
            with m.Else():
                self._take_parameter(m)
        with m.Elif(self._active & ~self._remaining.any() & ~waits):
            m.d.sync += [Value.cast(command.payload).eq(0), command.payload.end.eq(1)]
            m.d.sync += [self._active.eq(0), command.valid.eq(1)]
        with m.If(self.buffers.drop):
            m.d.sync += [self._active.eq(0), command.valid.eq(0), self._is_decoded.eq(0)]
        with m.If(self.buffers.begin.valid):
            m.d.sync += [self._active.eq(1), self._index.eq(0)]
            m.d.sync += [self._remaining.eq(buffer.dwords), self._at.eq(buffer.address)]
        return m

    def _take_command(self, m: Module) -> None:
        """Begin a command with its command word."""
        word, decoded, payload = self._word, self._decoded, self.command.payload
        m.d.sync += [
            Value.cast(payload).eq(0),
            payload.address.eq(self._at),
            payload.word.eq(word.word),
            payload.kind.eq(decoded.kind),
            payload.opcode.eq(decoded.opcode),
            self._start.eq(self._at),
            self._last.eq(decoded.parameters),
            self._index.eq(1),
        ]
        with m.If(word.error):
            self._stop(m, Status.BUS_ERROR)
            m.d.sync += payload.word.eq(0)
        with m.Elif(~decoded.is_command):
            self._stop(m, Status.BAD_COMMAND)
        with m.Elif(self._remaining <= decoded.parameters):
            self._stop(m, Status.TRUNCATED)

    def _take_parameter(self, m: Module) -> None:
        """Add a parameter to the command."""
        word, payload = self._word, self.command.payload
        is_good, is_last = payload.status == Status.OK, self._index == self._last
        with m.Switch(self._index):
            for number in range(PARAMETERS):
                with m.Case(number + 1):
                    m.d.sync += payload.words[number].eq(word.word)
        with m.If(word.error):
            self._stop(m, Status.BUS_ERROR)
            m.d.sync += [payload.address.eq(self._start), payload.word.eq(0)]
        with m.Else():
            with m.If(is_good & is_wrong(payload.opcode, self._index, word.word, self._commands, self._outputs)):
                m.d.sync += [payload.status.eq(Status.BAD_PARAMETER), Value.cast(payload.kind).eq(0)]
                m.d.sync += [payload.address.eq(self._at), payload.word.eq(word.word)]
            with m.If(is_last):
                m.d.sync += self.command.valid.eq(1)
        m.d.sync += self._index.eq(self._index + 1)
        with m.If(is_last):
            m.d.sync += self._index.eq(0)

    def _stop(self, m: Module, status: Status) -> None:
        """Offer an error instead of a command, and take no more words."""
        payload = self.command.payload
        m.d.sync += [self._active.eq(0), self.command.valid.eq(1)]
        m.d.sync += [payload.status.eq(status), Value.cast(payload.kind).eq(0)]
