"""Converts the elements that a wavefront writes to bytes of lines."""

from collections.abc import Iterable
from functools import reduce
from operator import and_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.buffers import BUFFER
from ctm.rtl.border.clients import PAGE_BITS, WORDS
from ctm.rtl.border.lines import LINE_BITS, line_write_layout
from ctm.rtl.isa.limits import CHANNELS, COORDINATE_BITS
from ctm.rtl.lib.clock_gating import GatedStateless
from ctm.rtl.lib.register_slice import RegisterSlice, SliceMode
from ctm.rtl.lib.views import record
from ctm.rtl.mc.area import in_page
from ctm.rtl.mc.lines.coalescer import Coalescer
from ctm.rtl.mc.outputs.wavefront_bytes import ELEMENT, LineMerge, WavefrontElements, element_slice


def element_writes_layout(lanes: int, passenger: ShapeLike, *, memory: bool = False) -> data.StructLayout:
    """Words of each lane, to be written at its pair as far as the mask says; pairs outside the buffer are dropped.

    With `memory` a pair is in a `page` of memory, where the buffer begins at 0.
    """
    pages: dict[str, ShapeLike] = {"page": data.ArrayLayout(PAGE_BITS, lanes)} if memory else {}
    return data.StructLayout(
        {
            **pages,
            "buffer": BUFFER,
            "x": data.ArrayLayout(COORDINATE_BITS + 1, lanes),
            "y": data.ArrayLayout(COORDINATE_BITS, lanes),
            "words": data.ArrayLayout(WORDS, lanes),
            "mask": data.ArrayLayout(CHANNELS, lanes),
            "uncached": 1,
            "passenger": passenger,
        }
    )


def wavefront_line_layout(passenger: ShapeLike, written: int) -> data.StructLayout:
    """A wavefront's write to one line; `last` is its last one in the bank. Without `writes` it writes nothing.

    The write is the line, or one slice of `written` bits.
    """
    write = line_write_layout(written)
    return data.StructLayout({"write": write, "writes": 1, "last": 1, "uncached": 1, "passenger": passenger})


class ElementWriter(wiring.Component):
    """Converts a wavefront's elements and gathers them by lines, one line in each cycle in each bank.

    Neighbouring lines are in different banks; all uncached writes use the first bank, and so stay in order. All banks
    begin a wavefront in the same cycle, and offer its first line three cycles after it was taken. If two lanes write
    the same byte, the higher lane wins. A wavefront that writes nothing in a bank gives one line without `writes`
    there. Lines are written in slices of `written` bits: whole ones, or one lane's elements.

    Members
    -------
    wavefront : ``In(stream.Signature(element_writes_layout(lanes, passenger)))``
    lines : ``Out(stream.Signature(wavefront_line_layout(passenger, written)))`` for each bank
    idle : ``Out(1)``
        The unit is empty.
    """

    def __init__(
        self,
        lanes: int,
        passenger: ShapeLike,
        *,
        written: int = LINE_BITS,
        banks: int = 1,
        memory: bool = False,
    ) -> None:
        self._written = written
        self._lanes, self._bank_bits, self._memory = lanes, (banks - 1).bit_length(), memory
        self._wavefront = element_writes_layout(lanes, passenger, memory=memory)
        self._line = wavefront_line_layout(passenger, written)
        self._elements = data.StructLayout({"elements": data.ArrayLayout(ELEMENT, lanes), "passenger": passenger})
        super().__init__(
            {
                "wavefront": In(stream.Signature(self._wavefront)),
                "lines": Out(stream.Signature(self._line)).array(banks),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        busy, wavefront = Signal(), record(self._wavefront)
        m.submodules.elements = elements = GatedStateless(WavefrontElements(self._lanes))
        m.d.comb += [
            elements.wanted.eq(busy),
            *(getattr(elements, name).eq(wavefront[name]) for name in ("buffer", "x", "y", "words", "mask")),
        ]
        coalescers, slices = [], []
        lines = Signal.like(elements.lines, name="lines_of_lanes")
        m.d.comb += lines.eq(elements.lines)
        if self._memory:
            m.d.comb += [
                line.eq(in_page(own, page))
                for line, own, page in zip(lines, elements.lines, wavefront.page, strict=True)
            ]
        for bank, line in enumerate(self.lines):
            m.submodules[f"coalescer_{bank}"] = coalescer = Coalescer(self._lanes, self._elements)
            coalescers.append(coalescer)
            m.d.comb += [
                coalescer.touches.payload.lines.eq(lines),
                coalescer.touches.payload.reads.eq(elements.writes & self._in_bank(bank, lines, wavefront.uncached)),
                coalescer.touches.payload.uncached.eq(wavefront.uncached),
                coalescer.touches.payload.passenger.elements.eq(elements.elements),
                coalescer.touches.payload.passenger.passenger.eq(wavefront.passenger),
            ]
            # The bytes of a line are chosen in one cycle, and its entry in the output cache in the next. Of whole lines
            # a second register would be too many.
            mode = SliceMode.FULL if self._written < LINE_BITS else SliceMode.FORWARD
            m.submodules[f"slice_{bank}"] = slice_ = RegisterSlice(self._line, mode)
            slices.append(slice_)
            self._merge(m, bank, coalescer.access, slice_.input)
            connect(m, slice_.output, flipped(line))
        for coalescer in coalescers:
            others = (other.touches.ready for other in coalescers if other is not coalescer)
            m.d.comb += coalescer.touches.valid.eq(reduce(and_, others, busy))
        m.d.comb += [
            self.wavefront.ready.eq(~busy | Cat(coalescer.touches.ready for coalescer in coalescers).all()),
            self.idle.eq(~busy & Cat(*(each.idle for each in coalescers), *(each.empty for each in slices)).all()),
        ]
        with m.If(self.wavefront.ready):
            m.d.sync += [busy.eq(self.wavefront.valid), wavefront.eq(self.wavefront.payload)]
        return m

    def _in_bank(self, bank: int, lines: Iterable[Value], uncached: Value) -> Value:
        """The lanes whose element is in a bank."""
        own = Cat(line[: self._bank_bits] == bank for line in lines)
        return Mux(uncached, Const(bank == 0).replicate(self._lanes), own)

    def _merge(self, m: Module, bank: int, access: stream.Interface, line: stream.Interface) -> None:
        """The bytes of a line, of all lanes that are in it."""
        share, write = access.payload.passenger, line.payload.write
        if self._written < LINE_BITS:
            element_slice(m, share.passenger.elements[0], write)
        else:
            m.submodules[f"merge_{bank}"] = merge = GatedStateless(LineMerge(self._lanes))
            m.d.comb += [
                merge.wanted.eq(access.valid),
                merge.elements.eq(share.passenger.elements),
                merge.chosen.eq(share.channels),
                write.bits.eq(merge.bits),
                write.mask.eq(merge.mask),
            ]
        m.d.comb += [
            line.valid.eq(access.valid),
            access.ready.eq(line.ready),
            line.payload.writes.eq(access.payload.reads),
            line.payload.last.eq(share.last),
            line.payload.uncached.eq(access.payload.uncached),
            line.payload.passenger.eq(share.passenger.passenger),
            write.line.eq(access.payload.line),
        ]
