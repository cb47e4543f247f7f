"""The bridge from a serial line to the machine's registers and its memory."""

from dataclasses import dataclass

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.board.actions import GREETING_BYTES, Greeter
from ctm.rtl.board.frames import FrameReceiver, FrameSender
from ctm.rtl.board.memory import MemoryAction
from ctm.rtl.board.registers import RegisterAction
from ctm.rtl.board.requests import RequestKeeper
from ctm.rtl.board.serial_line import SerialReceiver, SerialTransmitter, check_period
from ctm.rtl.board.written import WrittenMap
from ctm.rtl.host.control_bus import ControlBusSignature
from ctm.rtl.isa.host import REGISTER_SPACE
from ctm.rtl.isa.limits import ADDRESS_BITS, BYTE_BITS, WORD_BYTES
from ctm.rtl.isa.link import BLOCK_BYTES, BRINGS, LARGEST, LINE_BYTES, MAGIC, PROTOCOL, RESPONSE, Request, Verdict
from ctm.rtl.mc.bus.axi import BusSignature

MAP_BYTES = BLOCK_BYTES * BYTE_BITS
"""Bytes of memory for each byte of the map."""


_TOLERANCE = 0.02
"""Of a bit's length: both ends' count from a start bit to its stop bit."""


@dataclass(frozen=True, kw_only=True)
class BridgeConfig:
    """The board around the bridge: its clock in Hz, the line's bits per second, its memory, and its fingerprint."""

    frequency: int
    baud: int
    memory_bytes: int
    data_bits: int
    fingerprint: int

    def __post_init__(self) -> None:
        if not 0 < self.memory_bytes < 1 << ADDRESS_BITS or self.memory_bytes % MAP_BYTES:
            raise ValueError(f"memory_bytes must be a multiple of {MAP_BYTES} below 4 GiB, not {self.memory_bytes}")
        reached = self.frequency / check_period(self.period)
        if abs(reached / self.baud - 1) > _TOLERANCE:
            raise ValueError(f"a clock of {self.frequency} Hz gives no {self.baud} baud, but {reached:.0f}")

    @property
    def period(self) -> int:
        """Clock cycles of a bit."""
        return round(self.frequency / self.baud)


class Bridge(wiring.Component):
    """Executes requests, one at a time; `ctm.rtl.isa.link` declares them, docs/design/board.md explains them.

    A WRITE_REGISTER with the sequence number of the previous request repeats it, because its response was lost: it gets
    a response, and nothing is written.

    Members
    -------
    receive : ``In(1)``
    transmit : ``Out(1)``
    control : ``Out(ControlBusSignature())``
    bus : ``Out(BusSignature(data_bits))``
        Accesses beyond memory must get an error response.
    write : ``In({valid, address})``
        Each burst that the machine writes, see `WrittenMap`.
    """

    def __init__(self, config: BridgeConfig) -> None:
        self._config = config
        self._receiver, self._transmitter = SerialReceiver(config.period), SerialTransmitter(config.period)
        self._frames, self._sender, self._keeper = FrameReceiver(), FrameSender(), RequestKeeper()
        self._greeter = Greeter(
            {
                "magic": MAGIC,
                "protocol": PROTOCOL,
                "fingerprint": config.fingerprint,
                "memory_bytes": config.memory_bytes,
                "frequency": config.frequency,
            }
        )
        self._registers, self._memory = RegisterAction(), MemoryAction(config.data_bits)
        self._written = WrittenMap(config.memory_bytes)
        super().__init__(
            {
                "receive": In(1),
                "transmit": Out(1),
                "control": Out(ControlBusSignature()),
                "bus": Out(BusSignature(config.data_bits)),
                "write": In(self._written.signature.members["write"].shape),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.receiver, m.submodules.transmitter = self._receiver, self._transmitter
        m.submodules.frames, m.submodules.sender, m.submodules.keeper = self._frames, self._sender, self._keeper
        m.submodules.greeter, m.submodules.registers = self._greeter, self._registers
        m.submodules.memory, m.submodules.written = self._memory, self._written
        m.d.comb += [self._receiver.line.eq(self.receive), self.transmit.eq(self._transmitter.line)]
        connect(m, self._receiver.byte, self._frames.line)
        connect(m, self._sender.line, self._transmitter.byte)
        connect(m, self._registers.control, flipped(self.control))
        connect(m, self._memory.bus, flipped(self.bus))
        m.d.comb += [
            self._keeper.begins.eq(self._frames.begins),
            self._keeper.byte.eq(self._frames.byte),
            self._keeper.good.eq(self._frames.good),
            self._written.write.eq(self.write),
        ]
        self._respond(m)
        return m

    def _respond(self, m: Module) -> None:
        """Send a request's response, byte by byte."""
        keeper, content, request = self._keeper, self._sender.content, self._keeper.request
        header, verdict = request.header, Signal(Verdict)
        last_sequence, has_last, repeated = Signal(BYTE_BITS), Signal(), Signal()
        with m.FSM() as fsm:
            m.d.comb += keeper.held.eq(~fsm.ongoing("idle"))
            with m.State("idle"), m.If(keeper.arrives):
                m.next = "code"
            with m.State("code"):
                m.d.comb += [content.valid.eq(1), content.payload.byte.eq(Value.cast(header.code) | RESPONSE)]
                m.d.sync += verdict.eq(Mux(self._is_legal(request), Verdict.DONE, Verdict.MALFORMED))
                m.d.sync += repeated.eq(has_last & (header.sequence == last_sequence))
                with m.If(content.ready):
                    m.next = "sequence"
            with m.State("sequence"):
                m.d.comb += [content.valid.eq(1), content.payload.byte.eq(header.sequence)]
                m.d.sync += [last_sequence.eq(header.sequence), has_last.eq(1)]
                skips = (header.code == Request.WRITE_REGISTER) & repeated
                with m.If(content.ready):
                    m.next = "act"
                    with m.If((verdict == Verdict.MALFORMED) | skips):
                        m.next = "verdict"
            with m.State("act"):
                self._act(m, header, verdict)
            with m.State("verdict"):
                m.d.comb += [content.valid.eq(1), content.payload.byte.eq(verdict), content.payload.last.eq(1)]
                with m.If(content.ready):
                    m.next = "idle"

    def _act(self, m: Module, header: data.View, verdict: Value) -> None:
        """Start the action of a request, and send its data, until it is done."""
        keeper, content, begun = self._keeper, self._sender.content, Signal()
        m.d.sync += begun.eq(1)
        with m.Switch(header.code):
            for codes, action in self._actions:
                with m.Case(*codes):
                    m.d.comb += [
                        action.start.eq(~begun),
                        action.header.eq(header),
                        action.brought.valid.eq(keeper.data.valid),
                        action.brought.payload.eq(keeper.data.payload),
                        keeper.data.ready.eq(action.brought.ready),
                        content.valid.eq(action.found.valid),
                        content.payload.byte.eq(action.found.payload),
                        action.found.ready.eq(content.ready),
                    ]
                    with m.If(begun & action.done):
                        m.d.sync += begun.eq(0)
                        with m.If(action.error):
                            m.d.sync += verdict.eq(Verdict.BUS_ERROR)
                        m.next = "verdict"

    @property
    def _actions(self) -> tuple[tuple[tuple[Request, ...], wiring.PureInterface], ...]:
        """The actions, and their requests."""
        return (
            ((Request.HELLO,), self._greeter.action),
            ((Request.READ_REGISTERS, Request.WRITE_REGISTER), self._registers.action),
            ((Request.READ_MEMORY, Request.WRITE_MEMORY, Request.CLEAR_MEMORY), self._memory.action),
            ((Request.READ_WRITTEN, Request.CLEAR_WRITTEN), self._written.action),
        )

    def _is_legal(self, request: data.View) -> Value:
        """Whether length and address are legal for the request; accesses beyond memory get an error response."""
        length, address = request.header.length, request.header.address
        is_some = (length != 0) & (length <= LARGEST)
        end = address + length
        whole_lines = is_some & (length % LINE_BYTES == 0) & (address % LINE_BYTES == 0)
        in_map = (address % MAP_BYTES == 0) & (address + length * MAP_BYTES <= self._config.memory_bytes)
        words = is_some & (length % WORD_BYTES == 0) & (address % WORD_BYTES == 0) & (end <= REGISTER_SPACE)
        legal = {
            Request.HELLO: length == GREETING_BYTES,
            Request.READ_REGISTERS: words,
            Request.WRITE_REGISTER: words & (length == WORD_BYTES),
            Request.READ_MEMORY: whole_lines,
            Request.WRITE_MEMORY: whole_lines,
            Request.CLEAR_MEMORY: (length == WORD_BYTES) & (address % LINE_BYTES == 0),
            Request.READ_WRITTEN: is_some & in_map,
            Request.CLEAR_WRITTEN: length == 0,
        }
        result: Value = Const(0)
        for code, is_right in legal.items():
            brought = length if code in BRINGS else 0
            result |= (request.header.code == code) & is_right & (request.brought == brought)
        return Value.cast(result & request.whole)
