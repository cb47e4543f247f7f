"""Vertex fetches from the float constants: every pixel reads its own element.

Source: R700-Family Instruction Set Architecture, chapter 5 (VTX_DWORD0 to 2); docs/design/r700-core.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS, ConstantBank
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS, WORD_BITS
from ctm.rtl.r700.border.constants import ROW_BITS, ConstantPort
from ctm.rtl.r700.border.walk import PixelWalk
from ctm.rtl.r700.fetch.operation import FETCH

ROWS = 2
"""Rows in which an element may lie."""
_WORDS = CHANNELS * FLOAT_CONSTANTS


class ConstantFetch(wiring.Component):
    """Reads elements pixel by pixel: two rows each, in cycles in which the ALU does not read constants.

    A walk takes a cycle before its first pixel. A pixel that executes takes four cycles if its lines are loaded and
    both reads are free, another pixel one. The address of an element is registered, as rows and lines follow from it.

    An element beyond the last constant reads zeros. The walk waits for lines that are missing, and ends at a pixel one
    of whose lines had an error response.

    Members
    -------
    walk : ``Out(PixelWalk(pixels))``
        An element has the four words that the pixel reads; pixels that do not execute have none.
    fetch : ``In(FETCH)``
    own : ``In(WORDS)``
        The source's words of the wanted pixel.
    executing : ``In(pixels)``
    port : ``Out(ConstantPort(ROWS))``
        A miss is held until its lines are loaded.
    is_error : ``Out(1)``
        With `walk.done`: a line had an error response.
    """

    def __init__(self, pixels: int) -> None:
        self._pixels = pixels
        super().__init__(
            {
                "walk": Out(PixelWalk(pixels)),
                "fetch": In(FETCH),
                "own": In(WORDS),
                "executing": In(pixels),
                "port": Out(ConstantPort(ROWS)),
                "is_error": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        fetch, pixel = self.fetch, Signal(range(self._pixels))
        index = Signal(WORD_BITS)
        first = Signal(WORD_BITS + CHANNELS, reset_less=True)
        m.d.comb += index.eq(Value.cast(self.own).word_select(fetch.coordinates[0][:2], WORD_BITS))
        # Of the wanted pixel, which is the next one where this one ends.
        m.d.sync += first.eq(index * CHANNELS + fetch.offset)
        exists = first + fetch.channels <= _WORDS
        row = first[2 : 2 + ROW_BITS]
        next_row = Mux(row == FLOAT_CONSTANTS - 1, row, row + 1)[:ROW_BITS]
        lines = row[2:], next_row[2:]
        missing = Cat(~self.port.loaded.bit_select(line, 1) for line in lines)
        error = Cat(self.port.error.bit_select(line, 1) for line in lines)
        # The second row counts only if the element reaches it.
        reaches = first[:2] + fetch.channels > CHANNELS
        counts = Cat(Const(1, 1), reaches)
        executes = self.executing.bit_select(pixel, 1)
        m.d.comb += [
            self.walk.pixel.eq(pixel),
            *(
                target.eq(Cat(exists & missing[number] & counts[number], ConstantBank.FLOAT, line))
                for number, (target, line) in enumerate(zip(self.port.miss.lines, lines, strict=True))
            ),
        ]
        held = Signal(CHANNELS * WORD_BITS, reset_less=True)
        both = Cat(held, Value.cast(self.port.words))
        one = Mux(fetch.one_is_float, ONE, 1)
        for channel in range(CHANNELS):
            word = Mux(exists, both.word_select((first[:2] + channel)[:3], WORD_BITS), 0)
            missing_word = one if channel == CHANNELS - 1 else 0
            m.d.comb += self.walk.element[channel].eq(Mux(fetch.channels > channel, word, missing_word))

        self._step(m, pixel, executes, exists, missing & counts, error & counts, (row, next_row), held)
        return m

    def _step(
        self, m: Module, pixel: Signal, executes: Value, exists: Value, missing: Value, error: Value,
        rows: tuple[Value, Value], held: Signal,
    ) -> None:  # fmt: skip
        """Go from pixel to pixel: read the first row, then the second, then give the element."""

        def advance() -> None:
            m.d.sync += pixel.eq(pixel + 1)
            m.next = "pixel"
            with m.If(pixel == self._pixels - 1):
                m.d.sync += pixel.eq(0)
                m.d.comb += self.walk.done.eq(1)
                m.next = "begin"

        with m.FSM() as fsm:
            with m.State("begin"), m.If(self.walk.start):
                m.next = "pixel"
            with m.State("pixel"):
                with m.If(~executes):
                    advance()
                with m.Elif(exists & missing.any()):
                    m.d.comb += self.port.miss.valid.eq(1)
                with m.Elif(exists & error.any()):
                    m.d.comb += [self.walk.done.eq(1), self.is_error.eq(1)]
                    m.d.sync += pixel.eq(0)
                    m.next = "begin"
                with m.Elif(self.port.free):
                    m.d.comb += self.port.row.eq(rows[0])
                    m.next = "first"
            with m.State("first"):
                m.d.sync += held.eq(self.port.words)
                m.next = "second"
            with m.State("second"):
                m.d.comb += self.port.row.eq(rows[1])
                with m.If(self.port.free):
                    m.next = "element"
            with m.State("element"):
                m.d.comb += self.walk.valid.eq(1)
                advance()
        goes_on = fsm.ongoing("element") | (fsm.ongoing("pixel") & ~executes)
        m.d.comb += self.walk.wanted.eq(pixel + goes_on)
