"""The bridge's access to memory."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.board.actions import Action, Bytes
from ctm.rtl.isa.limits import BYTE_BITS, WORD_BYTES
from ctm.rtl.isa.link import LINE_BYTES, Request
from ctm.rtl.mc.bus.axi import BusSignature, is_error, line_beats


class MemoryAction(wiring.Component):
    """Reads, writes and clears lines, one burst at a time: READ_MEMORY, WRITE_MEMORY and CLEAR_MEMORY.

    Members
    -------
    action : ``In(Action())``
    bus : ``Out(BusSignature(data_bits))``
    """

    def __init__(self, data_bits: int) -> None:
        self._beats = line_beats(data_bits)
        self._address, self._remaining = Signal(32), Signal(32)
        self._beat, self._clears = Bytes(data_bits // BYTE_BITS, "beat"), Signal()
        self._number, self._addressed = Signal(range(self._beats)), Signal()
        super().__init__({"action": In(Action()), "bus": Out(BusSignature(data_bits))})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        action, bus = self.action, self.bus
        size = Bytes(WORD_BYTES, "size")
        for channel in (bus.ar, bus.aw):
            m.d.comb += [channel.payload.address.eq(self._address), channel.payload.length.eq(self._beats - 1)]
        m.d.comb += [
            bus.w.payload.bits.eq(Mux(self._clears, 0, self._beat.bits)),
            bus.w.payload.strobe.eq(-1),
            bus.w.payload.last.eq(self._number == self._beats - 1),
        ]
        header = action.header
        with m.FSM():
            with m.State("idle"):
                m.d.comb += action.done.eq(1)
                m.d.sync += [self._addressed.eq(0), self._number.eq(0)]
                with m.If(action.start):
                    m.d.sync += [
                        self._address.eq(header.address),
                        self._remaining.eq(header.length),
                        action.error.eq(0),
                    ]
                    m.d.sync += self._clears.eq(header.code == Request.CLEAR_MEMORY)
                    self._beat.expect(m)
                    size.expect(m)
                    m.next = "take"
                    with m.If(header.code == Request.READ_MEMORY):
                        m.next = "read"
                    with m.If(header.code == Request.CLEAR_MEMORY):
                        m.next = "size"
            with m.State("size"), m.If(size.take(m, action.brought)):
                m.d.sync += self._remaining.eq(size.bits)
                m.next = "idle"
                with m.If(size.bits != 0):
                    m.next = "write"
            self._read(m)
            self._write(m)
        return m

    def _read(self, m: Module) -> None:
        """A line: its address, its beats, and the bytes of each."""
        bus = self.bus
        with m.State("read"):
            m.d.comb += [bus.ar.valid.eq(~self._addressed), bus.r.ready.eq(1)]
            m.d.sync += self._addressed.eq(self._addressed | bus.ar.ready)
            with m.If(bus.r.valid):
                self._beat.fill(m, bus.r.payload.bits)
                self._note(m, is_error(bus.r.payload.response))
                m.next = "give"
        with m.State("give"), m.If(self._beat.give(m, self.action.found)):
            m.d.sync += self._number.eq(self._number + 1)
            m.next = "read"
            with m.If(self._number == self._beats - 1):
                self._go_on(m, "read")

    def _write(self, m: Module) -> None:
        """A line: the bytes of each of its beats, and its address beside the first one."""
        bus = self.bus
        with m.State("take"), m.If(self._beat.take(m, self.action.brought)):
            m.next = "write"
        with m.State("write"):
            m.d.comb += [bus.aw.valid.eq(~self._addressed), bus.w.valid.eq(1)]
            m.d.sync += self._addressed.eq(self._addressed | bus.aw.ready)
            with m.If(bus.w.ready):
                m.d.sync += self._number.eq(self._number + 1)
                self._beat.expect(m)
                m.next = "response"
                with m.If(~bus.w.payload.last):
                    m.next = "take"
                    with m.If(self._clears):
                        m.next = "write"
        with m.State("response"):
            m.d.comb += [bus.aw.valid.eq(~self._addressed), bus.b.ready.eq(1)]
            m.d.sync += self._addressed.eq(self._addressed | bus.aw.ready)
            with m.If(bus.b.valid):
                self._note(m, is_error(bus.b.payload.response))
                self._go_on(m, "take")
                with m.If(self._clears & (self._remaining != LINE_BYTES)):
                    m.next = "write"

    def _note(self, m: Module, error: object) -> None:
        m.d.sync += self.action.error.eq(self.action.error | error)

    def _go_on(self, m: Module, state: str) -> None:
        """To the next line, or to the end."""
        m.d.sync += [
            self._address.eq(self._address + LINE_BYTES),
            self._remaining.eq(self._remaining - LINE_BYTES),
            self._number.eq(0),
            self._addressed.eq(0),
        ]
        m.next = state
        with m.If(self._remaining == LINE_BYTES):
            m.next = "idle"
