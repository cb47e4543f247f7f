"""The end of memory: what lies beyond answers with an error."""

from typing import Any

from amaranth import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.mc.bus.axi import BusSignature, Response

_MOST = 1 << 8
"""Bursts under way of which account is kept; more have to wait."""


class MemoryBounds(wiring.Component):
    """Lets bursts through that begin below `memory_bytes`, and answers all others with DECERR.

    Combinational for those that go through. Answers have to come in the order of the requests, so a burst beyond waits
    until all before it have been answered, and all behind it until it has been.

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

    def _pass(self, m: Module, source: Any, target: Any, allowed: Value) -> None:
        m.d.comb += [
            target.payload.eq(source.payload),
            target.valid.eq(source.valid & allowed),
            source.ready.eq(target.ready & allowed),
        ]

    def _underway(self, m: Module, begins: Value, ends: Value, name: str) -> Signal:
        count = Signal(range(_MOST), name=name)
        m.d.sync += count.eq(count + begins - ends)
        return count

    def _read(self, m: Module) -> None:
        inner, outer = self.inner, self.outer
        refuses, left = Signal(name="refuses_read"), Signal(8, name="beats_left")
        count = self._underway(
            m, outer.ar.valid & outer.ar.ready, outer.r.valid & outer.r.ready & outer.r.payload.last, "reads"
        )
        is_inside = inner.ar.payload.address < self._memory_bytes
        self._pass(m, inner.ar, outer.ar, is_inside & ~refuses & (count != _MOST - 1))
        self._pass(m, outer.r, inner.r, ~refuses)
        with m.If(refuses):
            m.d.comb += [inner.r.valid.eq(1), inner.r.payload.eq(0), inner.r.payload.response.eq(Response.DECERR)]
            m.d.comb += inner.r.payload.last.eq(left == 0)
            with m.If(inner.r.ready):
                m.d.sync += [left.eq(left - 1), refuses.eq(left != 0)]
        with m.Elif(inner.ar.valid & ~is_inside & (count == 0)):
            m.d.comb += inner.ar.ready.eq(1)
            m.d.sync += [refuses.eq(1), left.eq(inner.ar.payload.length)]

    def _write(self, m: Module) -> None:
        """Beats may be offered before their address, and go to memory only behind it."""
        inner, outer = self.inner, self.outer
        refuses, answers = Signal(name="refuses_write"), Signal()
        ends = inner.w.valid & inner.w.ready & inner.w.payload.last
        begins = inner.aw.valid & inner.aw.ready
        count = self._underway(m, outer.aw.valid & outer.aw.ready, outer.b.valid & outer.b.ready, "writes")
        addressed = self._underway(m, begins, ends, "addressed")
        is_inside = inner.aw.payload.address < self._memory_bytes
        self._pass(m, inner.aw, outer.aw, is_inside & ~refuses & (count != _MOST - 1))
        self._pass(m, inner.w, outer.w, ~refuses & (addressed != 0))
        self._pass(m, outer.b, inner.b, ~refuses)
        with m.If(refuses):
            m.d.comb += [inner.w.ready.eq(~answers), inner.b.valid.eq(answers)]
            m.d.comb += inner.b.payload.response.eq(Response.DECERR)
            with m.If(ends):
                m.d.sync += answers.eq(1)
            with m.If(inner.b.valid & inner.b.ready):
                m.d.sync += [answers.eq(0), refuses.eq(0)]
        with m.Elif(inner.aw.valid & ~is_inside & (count == 0) & (addressed == 0)):
            m.d.comb += inner.aw.ready.eq(1)
            m.d.sync += refuses.eq(1)
