"""Holds an error until the host clears it."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import ERROR
from ctm.rtl.isa.status import Status


class Errors(wiring.Component):
    """Holds the first error, and whether a push was rejected.

    Members
    -------
    error : ``In(stream.Signature(ERROR, always_ready=True))``
        Of the command processor.
    rejected : ``In(1)``
        A push was rejected, because the queue was full.
    lost : ``In(1)``
        A reset dropped work.
    invalidate : ``In(1)``
        The machine is reset: drop its error.
    clear : ``In(1)``
    record : ``Out(ERROR)``
        The first error; status OK if there is none.
    pending : ``Out(1)``
    holds : ``Out(1)``
        The command processor dropped a buffer and may not get another one.
    push_refused : ``Out(1)``
    raised : ``Out(1)``
        There is a new error in this cycle.
    """

    error: In(stream.Signature(ERROR, always_ready=True))
    rejected: In(1)
    lost: In(1)
    invalidate: In(1)
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
        m.d.comb += self.raised.eq(self.error.valid | self.rejected | self.lost)
        with m.If(self.error.valid):
            m.d.comb += new.eq(self.error.payload)
        with m.Elif(self.lost):
            m.d.comb += new.status.eq(Status.RESET)
        with m.Else():
            m.d.comb += new.status.eq(Status.QUEUE_FULL)

        with m.If(self.clear | self.invalidate):
            m.d.sync += [self.pending.eq(0), self.holds.eq(0), self.push_refused.eq(0), self.record.eq(0)]
        # A dropped buffer's error has priority: the host has to clear it.
        with m.If(self.raised & (~self.pending | self.clear | self.invalidate | (self.error.valid & ~self.holds))):
            m.d.sync += [self.pending.eq(1), self.record.eq(new)]
        with m.If(self.error.valid):
            m.d.sync += self.holds.eq(1)
        with m.If(self.rejected):
            m.d.sync += self.push_refused.eq(1)
        return m
