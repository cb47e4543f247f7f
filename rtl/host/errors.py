"""What went wrong, until the host clears it."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import ERROR
from ctm.rtl.isa.status import Status


class Errors(wiring.Component):
    """Keeps the first error, and whether a push was refused.

    Members
    -------
    error : ``In(stream.Signature(ERROR, always_ready=True))``
        Of the command processor.
    refused : ``In(1)``
        A push was refused.
    lost : ``In(1)``
        A reset dropped work.
    forget : ``In(1)``
        The machine is reset: its error concerns nobody any more.
    clear : ``In(1)``
    record : ``Out(ERROR)``
        The first error; status OK if there is none.
    pending : ``Out(1)``
    holds : ``Out(1)``
        The command processor dropped a buffer and may not get another one.
    push_refused : ``Out(1)``
    raised : ``Out(1)``
        There is a new one in this cycle.
    """

    error: In(stream.Signature(ERROR, always_ready=True))
    refused: In(1)
    lost: In(1)
    forget: In(1)
    clear: In(1)
    record: Out(ERROR)
    pending: Out(1)
    holds: Out(1)
    push_refused: Out(1)
    raised: Out(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        new = Signal(ERROR)
        m.d.comb += self.raised.eq(self.error.valid | self.refused | self.lost)
        with m.If(self.error.valid):
            m.d.comb += new.eq(self.error.payload)
        with m.Elif(self.lost):
            m.d.comb += new.status.eq(Status.RESET)
        with m.Else():
            m.d.comb += new.status.eq(Status.QUEUE_FULL)

        with m.If(self.clear | self.forget):
            m.d.sync += [self.pending.eq(0), self.holds.eq(0), self.push_refused.eq(0), self.record.eq(0)]
        # A dropped buffer's error is shown in any case: it is what the host has to answer.
        with m.If(self.raised & (~self.pending | self.clear | self.forget | (self.error.valid & ~self.holds))):
            m.d.sync += [self.pending.eq(1), self.record.eq(new)]
        with m.If(self.error.valid):
            m.d.sync += self.holds.eq(1)
        with m.If(self.refused):
            m.d.sync += self.push_refused.eq(1)
        return m
