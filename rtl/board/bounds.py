"""Bounds of memory: accesses beyond them get an error response."""

from amaranth import Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.mc.bus.axi import BusSignature, Response

_MOST = 1 << 8
"""Most bursts in flight."""


class MemoryBounds(wiring.Component):
    """Passes bursts that begin below `memory_bytes`, and responds to all others with DECERR.

    Combinational for bursts that pass. Responses keep the order of the requests: a burst beyond the bounds waits for
    the responses of all earlier ones, and all later ones wait for its response.

    Members
    -------
    inner : ``In(BusSignature(data_bits))``
        The machine.
    outer : ``Out(BusSignature(data_bits))``
        Memory.
    """

    def __init__(self, memory_bytes: int, data_bits: int) -> None:
        self._memory_bytes = memory_bytes
        super().__init__({"inner": In(BusSignature(data_bits)), "outer": Out(BusSignature(data_bits))})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        self._read(m)
        self._write(m)
        return m

    def _pass(self, m: Module, source: stream.Interface, target: stream.Interface, allowed: Value) -> None:
        m.d.comb += [
            target.payload.eq(source.payload),
            target.valid.eq(source.valid & allowed),
            source.ready.eq(target.ready & allowed),
        ]

    def _in_flight(self, m: Module, begins: Value, ends: Value, name: str) -> Signal:
        count = Signal(range(_MOST), name=name)
        m.d.sync += count.eq(count + begins - ends)
        return count

    def _read(self, m: Module) -> None:
        inner, outer = self.inner, self.outer
        fails, remaining = Signal(name="fails_read"), Signal(8, name="beats_remaining")
        count = self._in_flight(
            m, outer.ar.valid & outer.ar.ready, outer.r.valid & outer.r.ready & outer.r.payload.last, "reads"
        )
        is_inside = inner.ar.payload.address < self._memory_bytes
        self._pass(m, inner.ar, outer.ar, is_inside & ~fails & (count != _MOST - 1))
        self._pass(m, outer.r, inner.r, ~fails)
        with m.If(fails):
            m.d.comb += [inner.r.valid.eq(1), inner.r.payload.eq(0), inner.r.payload.response.eq(Response.DECERR)]
            m.d.comb += inner.r.payload.last.eq(remaining == 0)
            with m.If(inner.r.ready):
                m.d.sync += [remaining.eq(remaining - 1), fails.eq(remaining != 0)]
        with m.Elif(inner.ar.valid & ~is_inside & (count == 0)):
            m.d.comb += inner.ar.ready.eq(1)
            m.d.sync += [fails.eq(1), remaining.eq(inner.ar.payload.length)]

    def _write(self, m: Module) -> None:
        """Beats may be offered before their address, and go to memory only after it."""
        inner, outer = self.inner, self.outer
        fails, responds = Signal(name="fails_write"), Signal()
        ends = inner.w.valid & inner.w.ready & inner.w.payload.last
        begins = inner.aw.valid & inner.aw.ready
        count = self._in_flight(m, outer.aw.valid & outer.aw.ready, outer.b.valid & outer.b.ready, "writes")
        addressed = self._in_flight(m, begins, ends, "addressed")
        is_inside = inner.aw.payload.address < self._memory_bytes
        self._pass(m, inner.aw, outer.aw, is_inside & ~fails & (count != _MOST - 1))
        self._pass(m, inner.w, outer.w, ~fails & (addressed != 0))
        self._pass(m, outer.b, inner.b, ~fails)
        with m.If(fails):
            m.d.comb += [inner.w.ready.eq(~responds), inner.b.valid.eq(responds)]
            m.d.comb += inner.b.payload.response.eq(Response.DECERR)
            with m.If(ends):
                m.d.sync += responds.eq(1)
            with m.If(inner.b.valid & inner.b.ready):
                m.d.sync += [responds.eq(0), fails.eq(0)]
        with m.Elif(inner.aw.valid & ~is_inside & (count == 0) & (addressed == 0)):
            m.d.comb += inner.aw.ready.eq(1)
            m.d.sync += fails.eq(1)
