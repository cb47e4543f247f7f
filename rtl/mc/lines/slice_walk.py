"""The slices of a line that is written."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_BITS, line_write_layout
from ctm.rtl.isa.limits import BYTE_BITS
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.views import record


def first_and_last(mask: Value, slice_bytes: int) -> tuple[Value, Value]:
    """The first and the last slice with a bit in `mask`; the first and the last one of all if it has none."""
    used = Cat(mask[start : start + slice_bytes].any() for start in range(0, len(mask), slice_bytes))
    return one_hot_index(lowest_one(used)), len(used) - 1 - one_hot_index(lowest_one(used[::-1]))


class SliceWalk(wiring.Component):
    """Walks over the slices of a line from the first to the last one with a byte to be written, one in each step.

    Combinational but for the slice that it is at, which is the first one again after the last one. The line may be
    itself a slice, of `written` bits.

    Members
    -------
    mask : ``In(written // 8)``
        The bytes to be written, the same in all steps over a line.
    steps : ``In(1)``
        Go on to the next slice, or, after the last one, to another line.
    slice : ``Out(range(slices))``
        The slice that it is at.
    remaining : ``Out(range(slices))``
        Slices that follow it.
    """

    def __init__(self, slice_bits: int, *, written: int = LINE_BITS) -> None:
        self._slice_bytes, bytes_ = slice_bits // BYTE_BITS, written // BYTE_BITS
        slices = range(written // slice_bits)
        super().__init__({"mask": In(bytes_), "steps": In(1), "slice": Out(slices), "remaining": Out(slices)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        first, last = first_and_last(self.mask, self._slice_bytes)
        begun, following = Signal(), Signal.like(self.slice)
        m.d.comb += [
            self.slice.eq(Mux(begun, following, first)),
            self.remaining.eq(last - self.slice),
        ]
        with m.If(self.steps):
            m.d.sync += [begun.eq(self.remaining.any()), following.eq(self.slice + 1)]
        return m


class LineSlices(wiring.Component):
    """Gives the slices of a line, one in each cycle from the one after the line was taken.

    A line is taken in the cycle after the last slice of the one before. Neither side's ready depends on the other's.
    The line may be itself a slice, of `written` bits.

    Members
    -------
    line : ``In(stream.Signature(line_write_layout(written)))``
    slices : ``Out(stream.Signature(line_write_layout(slice_bits)))``
    """

    def __init__(self, slice_bits: int, *, written: int = LINE_BITS) -> None:
        self._slice_bits, self._written = slice_bits, written
        super().__init__(
            {
                "line": In(stream.Signature(line_write_layout(written))),
                "slices": Out(stream.Signature(line_write_layout(slice_bits))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.walk = walk = SliceWalk(self._slice_bits, written=self._written)
        valid, held = Signal(), record(line_write_layout(self._written), reset_less=True)
        slices = self.slices
        m.d.comb += [
            self.line.ready.eq(~valid),
            walk.mask.eq(held.mask),
            walk.steps.eq(slices.valid & slices.ready),
            slices.valid.eq(valid),
        ]
        give_slice(m, held, walk, slices.payload)
        with m.If(self.line.ready):
            m.d.sync += [valid.eq(self.line.valid), held.eq(self.line.payload)]
        with m.Elif(slices.ready & ~walk.remaining.any()):
            m.d.sync += valid.eq(0)
        return m


def give_slice(m: Module, line: data.View, walk: SliceWalk, payload: data.View) -> None:
    """Set the payload of a stream of slices to that of a line at which the walk is."""
    m.d.comb += [
        payload.line.eq(line.line),
        payload.bits.eq(line.bits.word_select(walk.slice, len(payload.bits))),
        payload.mask.eq(line.mask.word_select(walk.slice, len(payload.mask))),
        payload.slice.eq(Cat(walk.slice, line.slice)),
        payload.remaining.eq(walk.remaining),
    ]
