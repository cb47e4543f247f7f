"""The bridge's access to the machine's registers."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.board.actions import Action, Bytes
from ctm.rtl.host.control_bus import ControlBusSignature
from ctm.rtl.isa.limits import WORD_BYTES
from ctm.rtl.isa.link import Request


class RegisterAction(wiring.Component):
    """Reads words, one at a time, or writes one: READ_REGISTERS and WRITE_REGISTER.

    Members
    -------
    action : ``In(Action())``
    control : ``Out(ControlBusSignature())``
    """

    action: In(Action())
    control: Out(ControlBusSignature())

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        action, control = self.action, self.control
        word, offset, remaining = Bytes(WORD_BYTES, "word"), Signal(control.ar.payload.shape()), Signal(16)
        addressed, written = Signal(), Signal()
        m.d.comb += [
            control.ar.payload.eq(offset),
            control.aw.payload.eq(offset),
            control.w.payload.bits.eq(word.bits),
            control.w.payload.strobe.eq(-1),
        ]
        with m.FSM():
            with m.State("idle"):
                m.d.comb += action.done.eq(1)
                m.d.sync += [addressed.eq(0), written.eq(0)]
                with m.If(action.start):
                    m.d.sync += [action.error.eq(0), offset.eq(action.header.address)]
                    m.d.sync += remaining.eq(action.header.length - WORD_BYTES)
                    word.expect(m)
                    m.next = "take"
                    with m.If(action.header.code == Request.READ_REGISTERS):
                        m.next = "read"
            with m.State("read"):
                m.d.comb += [control.ar.valid.eq(~addressed), control.r.ready.eq(1)]
                m.d.sync += addressed.eq(addressed | control.ar.ready)
                with m.If(control.r.valid):
                    word.fill(m, control.r.payload.bits)
                    m.d.sync += action.error.eq(action.error | control.r.payload.response[1])
                    m.d.sync += addressed.eq(0)
                    m.next = "give"
            with m.State("give"), m.If(word.give(m, action.found)):
                m.d.sync += [offset.eq(offset + WORD_BYTES), remaining.eq(remaining - WORD_BYTES)]
                m.next = "read"
                with m.If(remaining == 0):
                    m.next = "idle"
            with m.State("take"), m.If(word.take(m, action.brought)):
                m.next = "write"
            with m.State("write"):
                m.d.comb += [control.aw.valid.eq(~addressed), control.w.valid.eq(~written), control.b.ready.eq(1)]
                m.d.sync += [addressed.eq(addressed | control.aw.ready), written.eq(written | control.w.ready)]
                with m.If(control.b.valid):
                    m.d.sync += action.error.eq(control.b.payload[1])
                    m.next = "idle"
        return m
