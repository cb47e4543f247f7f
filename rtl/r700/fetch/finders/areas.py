"""Areas of memory: the addresses of the words that the pixels of a wavefront access.

Source: R700-Family Instruction Set Architecture, section 3.4.2 (MEM_EXPORT, MEM_SCRATCH), MEM_RD;
docs/design/r700-core.md.
"""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import LIMIT_BITS
from ctm.rtl.isa.formats import LINEAR_ROW_ALIGNMENT
from ctm.rtl.isa.limits import CHANNELS, COORDINATE_BITS, WORD_BITS, WORD_BYTES
from ctm.rtl.isa.r700.exports import UNBOUNDED
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.views import record
from ctm.rtl.r700.border.walk import PixelWalk, count_walk
from ctm.rtl.r700.fetch.operation import ACCESS
from ctm.rtl.r700.shapes import AREA_WORD_BITS, PROGRAM

ELEMENT_ADDRESS = data.StructLayout({"dword": AREA_WORD_BITS, "inside": CHANNELS})
"""The number in its area of the dword of component 0, and the components whose dwords exist."""

_INDEX_BITS = WORD_BITS + 2
_STRIDE_WORDS = LINEAR_ROW_ALIGNMENT // WORD_BYTES
_COUNT_BITS = AREA_WORD_BITS + 1
_STEPS = 3


def pair(address: Value, component: Value | int) -> tuple[Value, Value]:
    """Column and row of a component of an element in its area, whose address is an `ELEMENT_ADDRESS`."""
    dword = data.View(ELEMENT_ADDRESS, address).dword + component
    return dword[:COORDINATE_BITS], dword[COORDINATE_BITS : 2 * COORDINATE_BITS]


class AreaAddresses(wiring.Component):
    """Finds the address of every pixel's element. Latency is three cycles, throughput one pixel in each cycle.

    So a walk takes 19 cycles for 16 pixels. Sums and products have full width, so none wraps.

    Members
    -------
    walk : ``Out(PixelWalk(pixels))``
        The first word of an element is an `ELEMENT_ADDRESS`; all pixels have one.
    program : ``In(PROGRAM)``
    access : ``In(ACCESS)``
    burst : ``In(4)``
        The number of the register among those of the instruction; each accesses the next element.
    index : ``In(32)``
        The index of the pixel that is wanted.
    covered : ``In(pixels)``
        Pixels in the domain: others have no scratch.
    first : ``In(AREA_WORD_BITS)``
        The number in the domain of pixel 0.
    """

    def __init__(self, pixels: int) -> None:
        super().__init__(
            {
                "walk": Out(PixelWalk(pixels)),
                "program": In(PROGRAM),
                "access": In(ACCESS),
                "burst": In(4),
                "index": In(WORD_BITS),
                "covered": In(pixels),
                "first": In(AREA_WORD_BITS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        count_walk(m, self.walk, _STEPS)
        address, reported = self._find(m), data.View(ELEMENT_ADDRESS, self.walk.element[0][: ELEMENT_ADDRESS.size])
        has_scratch = self.covered.bit_select(self.walk.pixel, 1)
        m.d.comb += [
            reported.dword.eq(address.dword),
            reported.inside.eq(Mux(~self.access.scratch | has_scratch, address.inside, 0)),
        ]
        return m

    def _find(self, m: Module) -> data.View:
        """The address of the pixel that was wanted three cycles ago."""
        access, words, pixels = self.access, self._words(m), Signal(_COUNT_BITS)
        number, beyond = Signal(_INDEX_BITS), Signal()
        product = Signal(AREA_WORD_BITS + _COUNT_BITS)
        own = Signal(AREA_WORD_BITS, name="number_of_pixel")
        m.d.sync += [
            pixels.eq(self.program.domain.width * self.program.domain.height),
            number.eq(access.base + self.burst + Mux(access.indexed, self.index, 0)),
            product.eq(number[:AREA_WORD_BITS] * Mux(access.scratch, pixels, access.element + 1)),
            beyond.eq(number[AREA_WORD_BITS:].any()),
            own.eq(self._number(m)),
        ]
        dword = Signal(len(product) + 3)
        m.d.comb += dword.eq(Mux(access.scratch, (product + own) * CHANNELS, product))
        bound = Signal(_COUNT_BITS, name="bound")
        m.d.comb += bound.eq((access.base + access.size + 1) * (access.element + 1))
        is_bounded = ~access.scratch & (access.size != UNBOUNDED)
        address: data.View = record(ELEMENT_ADDRESS, name="address", reset_less=True)
        m.d.sync += address.dword.eq(dword)
        for component in range(CHANNELS):
            word = dword + component
            m.d.sync += address.inside[component].eq(~beyond & (word < words) & ~(is_bounded & (word >= bound)))
        return address

    def _words(self, m: Module) -> Value:
        """The number of words of the area, a cycle later."""
        area = Array(self.program.areas)[self.access.scratch]
        words = Signal(_COUNT_BITS, name="words")
        rows = (area.limits.height - 1)[:LIMIT_BITS] * area.stride * _STRIDE_WORDS
        m.d.sync += words.eq(Mux(area.limits.width == 0, 0, rows + area.limits.width))
        return words

    def _number(self, m: Module) -> Value:
        """The number in the domain of the pixel that was wanted in the previous cycle."""
        pixel = delay(m, self.walk.wanted)
        column, row = Cat(pixel[0], pixel[2:]), pixel[1]
        return Value.cast(self.first) + column + Mux(row, self.program.domain.width, 0)
