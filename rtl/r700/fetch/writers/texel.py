"""Columns and rows from coordinates of fetches.

Source: R700-Family Instruction Set Architecture, section 5.3; docs/design/r700-core.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import LIMIT_BITS
from ctm.rtl.fp.number import BIAS, SIGNIFICAND_BITS, unpack
from ctm.rtl.isa.limits import COORDINATE_BITS, WORD_BITS

_HALF_BITS = COORDINATE_BITS + 2
"""Width of a magnitude in half texels; larger ones are beyond every input, with any offset."""
_OFFSET_BITS = 5


class TexelIndex(wiring.Component):
    """A column or row: floor(word + offset / 2), clamped to [0, limit - 1], of a NaN 0. Combinational.

    Members
    -------
    word : ``In(32)``
        A float, or with `integer` a signed integer.
    integer : ``In(1)``
    offset : ``In(signed(5))``
        In half texels.
    limit : ``In(13)``
        Columns or rows of the input, 1 to 4096.
    index : ``Out(12)``
    """

    word: In(WORD_BITS)
    integer: In(1)
    offset: In(signed(_OFFSET_BITS))
    limit: In(LIMIT_BITS)
    index: Out(COORDINATE_BITS)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        operand = unpack(m, self.word, name="operand")
        # With this exponent the significand's upper bits are the halves.
        highest = BIAS + _HALF_BITS - 2
        exponent, significand = Value.cast(operand.exponent), Value.cast(operand.significand)
        float_beyond = (exponent > highest) & ~operand.nan
        distance = Signal(len(exponent) + 1)
        m.d.comb += distance.eq(highest - exponent)
        shifted = Signal(SIGNIFICAND_BITS + _HALF_BITS)
        padded = significand.shift_left(_HALF_BITS)
        m.d.comb += shifted.eq(Mux(distance > _HALF_BITS, 0, padded >> distance[: _HALF_BITS.bit_length()]))
        magnitude = shifted[SIGNIFICAND_BITS:]
        inexact = (shifted[:SIGNIFICAND_BITS].any() | (distance > _HALF_BITS)) & ~operand.zero
        float_halves = Signal(signed(_HALF_BITS + 2))
        m.d.comb += float_halves.eq(
            Mux(operand.nan | operand.zero, 0, Mux(operand.sign, -(magnitude + inexact), magnitude))
        )
        upper = self.word[_HALF_BITS - 1 :]
        integer_beyond = upper.any() & ~upper.all()
        halves = Signal(signed(_HALF_BITS + 3))
        beyond, negative = Signal(), self.word[-1]
        m.d.comb += [
            beyond.eq(Mux(self.integer, integer_beyond, float_beyond)),
            halves.eq(Mux(self.integer, Cat(0, self.word[:_HALF_BITS]).as_signed(), float_halves) + self.offset),
        ]
        texel = Signal(signed(_HALF_BITS + 2))
        m.d.comb += texel.eq(halves >> 1)
        last = (self.limit - 1)[:COORDINATE_BITS]
        with m.If(beyond):
            m.d.comb += self.index.eq(Mux(negative, 0, last))
        with m.Elif(texel < 0):
            m.d.comb += self.index.eq(0)
        with m.Else():
            m.d.comb += self.index.eq(Mux(texel >= self.limit, last, texel.as_unsigned()[:COORDINATE_BITS]))
        return m
