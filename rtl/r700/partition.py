"""How the pixels of a wavefront are divided: into passes, slices and segments.

A wavefront has more pixels than there are lanes, so the lanes compute it in *passes*, one in a cycle.

Registers are read and written by *slices*. A slice is the pixels of as many passes as there are cycles from one read of
an operand to the next, or a whole wavefront of fewer passes. It has registers as if it were a wavefront: those of the
first slice come first, then those of the second one, and so on.

The conditional unit and the outputs take a wavefront by *segments*, each as large as an R5xx wavefront of the same
array: `array.lanes`. Where fewer pixels are computed or exported in a cycle, a segment has several beats
(`ctm.rtl.dpp.beats`).
"""

from dataclasses import dataclass

from amaranth import Cat, Const, Value
from amaranth.lib import data

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.outputs import OutputSizes
from ctm.rtl.isa.r700.limits import READ_CYCLES

PERIOD = READ_CYCLES + 1
"""Cycles in which the operands of a slice are read, and one for other units' reads."""
_BLOCK_RAM_ROWS = 512
"""Rows of a block RAM that has a word in each."""


@dataclass(frozen=True, kw_only=True)
class Partition:
    """The pixels of a `wavefront`, of a `segment` and of a `slice`; a pass has `lanes` pixels. All are powers of two.

    A wavefront is a row of quads, and its pixels are numbered quad by quad. Those of a segment, a slice or a pass are
    consecutive ones.
    """

    wavefront: int
    segment: int
    lanes: int

    @staticmethod
    def of(array: ArrayConfig) -> "Partition":
        """That of an array's wavefronts."""
        return Partition(wavefront=array.wavefront_lanes, segment=array.lanes, lanes=array.at_once)

    @property
    def slice(self) -> int:
        """Pixels of a slice."""
        return min(self.wavefront, PERIOD * self.lanes)

    @property
    def passes(self) -> int:
        """Passes of a wavefront, and cycles in which the lanes compute one instruction of it."""
        return self.wavefront // self.lanes

    @property
    def slice_passes(self) -> int:
        """Passes of a slice."""
        return self.slice // self.lanes

    @property
    def slices(self) -> int:
        """Slices of a wavefront."""
        return self.wavefront // self.slice

    @property
    def segments(self) -> int:
        """Segments of a wavefront."""
        return self.wavefront // self.segment

    @property
    def pass_bits(self) -> int:
        """Width of a pass's number in its wavefront, 1 at least."""
        return max(1, (self.passes - 1).bit_length())

    @property
    def slice_pass_bits(self) -> int:
        """Width of a pass's number in its slice, 1 at least."""
        return max(1, (self.slice_passes - 1).bit_length())

    @property
    def slice_bits(self) -> int:
        """Width of a slice's number, 0 for the only one."""
        return (self.slices - 1).bit_length()

    @property
    def slice_fields(self) -> dict[str, int]:
        """The field `slice` of a layout, if there are several."""
        return {"slice": self.slice_bits} if self.slices > 1 else {}

    def slice_in(self, holder: data.View) -> Value:
        """The number of the slice that a view with `slice_fields` holds."""
        return Value.cast(holder.slice) if self.slices > 1 else Const(0)

    def slice_of(self, values: Value | data.View, number: Value) -> Value:
        """A slice's values of a value that each pixel of a wavefront has, pixel 0 first."""
        value = Value.cast(values)
        return value.word_select(number, len(value) // self.slices) if self.slices > 1 else value

    def first_pixel(self, number: Value) -> Value:
        """The first pixel of a pass."""
        return Cat(Const(0, (self.lanes - 1).bit_length()), number)

    def segment_row(self, pixel: Value, wave: Value) -> Value:
        """The row, in tables of all wave slots' segments, of the segment of wave slot `wave` that has a pixel."""
        first, end = ((size - 1).bit_length() for size in (self.segment, self.wavefront))
        return Cat(pixel[first:end], wave)


def position(pixel: Value) -> tuple[Value, Value]:
    """Column and row of a pixel in its wavefront."""
    return Cat(pixel[0], pixel[2:]), pixel[1]


def segment_outputs(array: ArrayConfig) -> OutputSizes:
    """Sizes of the outputs of segments, which have a row each (`Partition.segment_row`).

    Half a pass is exported and sent in a cycle, if block RAMs of that width hold all outputs. Output registers of a
    whole pass would be twice as many block RAMs, each half full.
    """
    partition = Partition.of(array)
    rows = array.outputs * array.threads * partition.passes
    halves = partition.lanes > 1 and 2 * rows <= _BLOCK_RAM_ROWS
    return OutputSizes(
        contexts=array.threads * partition.segments,
        lanes=partition.segment,
        at_once=partition.lanes // 2 if halves else partition.lanes,
        outputs=array.outputs,
    )
