"""Streams: memory that the vertices of primitives are streamed out to.

Source: docs/draws.md, stream-out.
"""

from amaranth import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.assembly import StreamSpace
from ctm.rtl.border.shading import DWORD_BITS, STREAM, STREAM_WRITE
from ctm.rtl.isa.draws import STREAMS
from ctm.rtl.isa.limits import WORD_BITS

_SET = data.StructLayout({"dword": DWORD_BITS, "dwords": WORD_BITS, "stride": WORD_BITS, "filled": WORD_BITS})
"""A stream as commands and draws left it, in dwords."""


class Streams(wiring.Component):
    """Keeps how far each stream is filled, and gives a draw's primitives space in all of them, or in none.

    A stream of 0 dwords, or whose vertices have 0, is disabled.

    Members
    -------
    write : ``In(STREAM_WRITE)``
        A command sets a stream, which is then empty; not during a draw.
    begin : ``In(1)``
        A draw begins.
    commit : ``In(1)``
        It has ended: streams that were written are filled.
    written : ``In(STREAMS)``
        Streams to which a wavefront writes in this cycle.
    space : ``In(StreamSpace())``
    streams : ``Out(STREAM)``, 4 of them
        Constant from the cycle after `begin` to the next one.
    number : ``In(range(STREAMS))``
    filled : ``Out(32)``
        Dwords of that stream that are filled.
    """

    write: In(STREAM_WRITE)
    begin: In(1)
    commit: In(1)
    written: In(STREAMS)
    space: In(StreamSpace())
    streams: Out(data.ArrayLayout(STREAM, STREAMS))
    number: In(range(STREAMS))
    filled: Out(WORD_BITS)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        space, write = self.space, self.write
        known = [Signal(_SET, name=f"stream_{number}") for number in range(STREAMS)]
        touched = Signal(STREAMS)
        m.d.sync += touched.eq(Mux(self.begin, 0, touched | self.written))
        # There are six corners at most, so the bits have space for the end, too.
        fits, sum_bits = [], WORD_BITS + len(space.corners)
        for number, (kept, stream) in enumerate(zip(known, self.streams, strict=True)):
            enabled = kept.dwords.any() & kept.stride.any()
            end, step, sum_ = Signal(WORD_BITS, name=f"end_{number}"), Signal(sum_bits), Signal(sum_bits)
            m.d.comb += [step.eq(kept.stride * space.corners), sum_.eq(end + step)]
            fits.append(~enabled | (sum_ <= kept.dwords))
            with m.If(space.take & enabled):
                m.d.sync += end.eq(sum_)
            with m.If(self.begin):
                m.d.sync += [
                    end.eq(kept.filled),
                    stream.enabled.eq(enabled),
                    stream.origin.eq(kept.dword + kept.filled),
                    stream.stride.eq(kept.stride),
                ]
            with m.If(self.commit & touched[number]):
                m.d.sync += kept.filled.eq(end)
            with m.If(write.valid & (write.number == number)):
                m.d.sync += [kept[name].eq(write[name]) for name in ("dword", "dwords", "stride")]
                m.d.sync += kept.filled.eq(0)
        with m.If(space.take):
            m.d.sync += space.number.eq(space.number + space.corners)
        with m.If(self.begin):
            m.d.sync += space.number.eq(0)
        enabled = Cat(stream.enabled for stream in self.streams)
        m.d.sync += [space.fits.eq(Cat(fits).all() & enabled.any()), space.known.eq(~space.take & ~self.begin)]
        m.d.comb += [space.streams.eq(enabled.any()), self.filled.eq(Array(each.filled for each in known)[self.number])]
        return m
