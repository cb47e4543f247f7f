"""Arithmetic on coordinates of fetches, and the elements that the finders find.

Source: R700-Family Instruction Set Architecture, sections 5.3 and 5.5; docs/design/r700-core.md.
"""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import LIMIT_BITS
from ctm.rtl.border.clients import WORDS
from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.conversion import from_integer
from ctm.rtl.fp.multiply_add import MultiplyAdd
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.lib.pipeline import delay_valid
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.r700.fetch.operation import FETCH, Task
from ctm.rtl.r700.fetch.selection import QUAD_WORDS, pass_words_layout
from ctm.rtl.r700.partition import Partition

_NEGATIVE_ZERO = 1 << (WORD_BITS - 1)
"""The neutral addend of a product."""
_AXES = 2
_MINUEND, _SUBTRAHEND = {False: 3, True: 2}, {False: 2, True: 0}
"""Pixels of a quad whose difference is its gradient, without and with `vertical`."""


def coordinate(components: list[Value], select: Value) -> Value:
    """The component of a pixel, or the constant 0 or 1, that a `SourceSelect` chooses."""
    first = Mux(select == ComponentSelect.ONE.value, ONE, 0)
    return Mux(select[2], first, Array(components)[select[:2]])


class CoordinateScaling(wiring.Component):
    """Computes the coordinates of a slice, and holds the elements of its pixels, its own and those of other finders.

    Two components of a pixel are computed in each cycle. SAMPLE: x and y times `sizes`, rounded, in a cycle for each
    pixel. GRADIENT: all four components of the pixel's quad, which are the same in all pixels of the quad, in two
    cycles for each pixel. The latency of `MultiplyAdd` and one cycle are added.

    An element is held, by lane and pass, until another one of the same pixel is stored.

    Members
    -------
    start : ``In(1)``
        High from the first cycle of a computation to that of `done`.
    fetch : ``In(FETCH)``
        Stable while `start` is high.
    wanted : ``Out(range(partition.slice))``
        The pixel whose words are read in the same cycle.
    quad : ``In(QUAD_WORDS)``
        The words of its quad.
    own : ``In(WORDS)``
        Its own words.
    sizes : ``In(ArrayLayout(13, 2))``
        The input's columns and rows.
    done : ``Out(1)``
        The last cycle; all results can be read.
    stores, pixel, element : ``In(1)``, ``In(range(partition.slice))``, ``In(WORDS)``
        Another finder has found the element of a pixel; only while `start` is low.
    pass_number : ``In(partition.slice_pass_bits)``
    results : ``Out(pass_words_layout(lanes))``
        The elements of that pass, in the same cycle.
    """

    def __init__(self, partition: Partition, arithmetic: PipelineConfig) -> None:
        self._partition, self._arithmetic = partition, arithmetic
        super().__init__(
            {
                "start": In(1),
                "fetch": In(FETCH),
                "wanted": Out(range(partition.slice)),
                "quad": In(QUAD_WORDS),
                "own": In(WORDS),
                "sizes": In(data.ArrayLayout(LIMIT_BITS, _AXES)),
                "done": Out(1),
                "stores": In(1),
                "pixel": In(range(partition.slice)),
                "element": In(WORDS),
                "pass_number": In(partition.slice_pass_bits),
                "results": Out(pass_words_layout(partition.lanes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        fetch, size = self.fetch, self._partition.slice
        units = [MultiplyAdd(self._arithmetic) for _ in range(_AXES)]
        latency = units[0].latency
        is_gradient, pixel_bits = Signal(), (size - 1).bit_length()
        count = Signal(range(2 * size + latency + 1))
        steps = Mux(is_gradient, 2 * size, size)
        pixel, second = count[:pixel_bits], count[pixel_bits]
        own = [self.own[channel] for channel in range(CHANNELS)]
        minuend, subtrahend = (self._in_quad(pixels) for pixels in (_MINUEND, _SUBTRAHEND))
        m.d.comb += [
            is_gradient.eq(fetch.task == Task.GRADIENT),
            self.wanted.eq(pixel),
            self.done.eq(self.start & (count == steps + latency)),
        ]
        m.d.sync += count.eq(Mux(self.start & ~self.done, count + 1, 0))
        arrives = delay_valid(m, Cat(self.start & (count < steps), pixel, second), latency)[-1]
        for axis, unit in enumerate(units):
            m.submodules[f"multiply_add_{axis}"] = unit
            select = Mux(is_gradient & second, fetch.coordinates[axis + _AXES], fetch.coordinates[axis])
            lhs, rhs, plain = (coordinate(words, select) for words in (minuend, subtrahend, own))
            m.d.comb += [
                unit.a.eq(Mux(is_gradient, lhs, plain)),
                unit.b.eq(Mux(is_gradient, ONE, from_integer(m, self.sizes[axis]))),
                unit.c.eq(Mux(is_gradient, rhs ^ _NEGATIVE_ZERO, _NEGATIVE_ZERO)),
            ]
        self._keep(m, [unit.result for unit in units], arrives[0], arrives[1 : 1 + pixel_bits], arrives[-1])
        return m

    def _in_quad(self, pixels: dict[bool, int]) -> list[Value]:
        """The words of the pixel of the quad that the gradient's direction names, by channel."""
        vertical, quad = self.fetch.vertical, self.quad
        return [Mux(vertical, quad[channel][pixels[True]], quad[channel][pixels[False]]) for channel in range(CHANNELS)]

    def _keep(self, m: Module, computed: list[Value], arrives: Value, arriving: Value, second: Value) -> None:
        """Hold elements by lane and pass, apart from the source, which all pixels of a quad read."""
        lanes = self._partition.lanes
        pixel, bits = Mux(self.stores, self.pixel, arriving), (lanes - 1).bit_length()
        for lane in range(lanes):
            is_own = (pixel[:bits] == lane) & (self.stores | arrives) if bits else self.stores | arrives
            for channel in range(CHANNELS):
                m.submodules[f"kept_{lane}_{channel}"] = kept = DistributedRam(WORD_BITS, self._partition.slice_passes)
                word = Mux(self.stores, self.element[channel], computed[channel % _AXES])
                kept.write(m, pixel[bits:], word, is_own & (self.stores | (second == channel // _AXES)))
                m.d.comb += self.results[channel][lane].eq(kept.read(m, self.pass_number))
