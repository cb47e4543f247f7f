"""Elements of vertex buffers: their formats, and a channel of one as a word.

Source: docs/draws.md, vertex fetches.
"""

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.number import BIAS, EXPONENT_BITS, FRACTION_BITS, SIGNIFICAND_BITS
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.fetch import VERTEX_FORMATS
from ctm.rtl.lib.shift import shift_left
from ctm.rtl.lib.zeros import leading_zeros


class Numeric(enum.Enum, shape=2):
    """What a channel is, by NUM_FORMAT: normalised, an integer, scaled to a float; or a float, by DATA_FORMAT."""

    NORMALISED = 0
    INTEGER = 1
    SCALED = 2
    FLOAT = 3


SIZES = (8, 16, 32)
"""Bits of a channel, by the code in a format."""
VERTEX_FORMAT = data.StructLayout({"size": range(len(SIZES)), "numeric": Numeric, "signed": 1})
"""A channel of an element."""

_HALF_FRACTION, _HALF_EXPONENT, _HALF_BIAS = 10, 5, 15
_PATTERN_BITS = 2 * WORD_BITS
_KEPT = SIGNIFICAND_BITS + 1


def element_format(m: Module, code: Value, numeric: Value, signed: Value) -> tuple[data.View, Signal, Signal]:
    """The format of a DATA_FORMAT, the channels of an element, and whether there is such a format."""
    found, channels, exists = Signal(VERTEX_FORMAT), Signal(range(5)), Signal()
    with m.Switch(code):
        for number, (count, bits, is_float) in VERTEX_FORMATS.items():
            with m.Case(number):
                m.d.comb += [
                    exists.eq(1 if is_float else numeric != Numeric.FLOAT.value),
                    channels.eq(count),
                    found.size.eq(SIZES.index(bits)),
                    Value.cast(found.numeric).eq(Numeric.FLOAT.value if is_float else numeric),
                    found.signed.eq(0 if is_float else signed),
                ]
    return found, channels, exists


class VertexConversion(wiring.Component):
    """A channel of an element, in the word of memory that has it, as the word that a fetch gives.

    Latency is two cycles, throughput one word in each cycle. A normalised number n / (2^bits - 1) is 0.nnn... in
    binary, n repeated for ever; so the nearest float follows from its first bits, and there is no tie.

    Members
    -------
    raw : ``In(32)``
    byte : ``In(2)``
        The channel's first byte, a multiple of its size.
    element : ``In(VERTEX_FORMAT)``
    word : ``Out(32)``
    """

    raw: In(WORD_BITS)
    byte: In(2)
    element: In(VERTEX_FORMAT)
    word: Out(WORD_BITS)

    latency = 2

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        element, numeric = self.element, Value.cast(self.element.numeric)
        field, sign, magnitude = self._field(m)
        is_half = (numeric == Numeric.FLOAT.value) & (SIZES.index(16) == element.size)
        is_normalised = numeric == Numeric.NORMALISED.value
        exact = (numeric == Numeric.INTEGER.value) | ((numeric == Numeric.FLOAT.value) & ~is_half)
        half_exponent = magnitude[_HALF_FRACTION : _HALF_FRACTION + _HALF_EXPONENT]
        fraction = magnitude[:_HALF_FRACTION]
        normal_half = Cat(
            Const(0, FRACTION_BITS - _HALF_FRACTION), fraction, self._exponent_of_half(half_exponent), sign
        )
        is_word = exact | (is_half & half_exponent.any())
        pattern, zero_point = self._pattern(m, magnitude, fraction, is_half)
        # The first register: what is known already, or a number that is to be normalised.
        plain, known, below = Signal(WORD_BITS), Signal(), Signal(_PATTERN_BITS)
        point, negative, repeats = Signal.like(zero_point, name="point"), Signal(), Signal()
        m.d.sync += [
            plain.eq(Mux(exact, field, normal_half)),
            known.eq(is_word),
            below.eq(pattern),
            point.eq(zero_point),
            negative.eq(sign),
            repeats.eq(is_normalised),
        ]
        zeros = leading_zeros(m, below[-WORD_BITS:])
        shifted, rounded = shift_left(m, below, zeros, _PATTERN_BITS), Signal(WORD_BITS)
        kept, half = shifted[-SIGNIFICAND_BITS:], shifted[-_KEPT]
        increment = half & (repeats | kept[0] | shifted[:-_KEPT].any())
        exponent = Signal(EXPONENT_BITS)
        m.d.comb += [
            exponent.eq(point - zeros),
            rounded.eq(Cat(kept[:FRACTION_BITS], exponent) + increment),
        ]
        m.d.sync += self.word.eq(Mux(known, plain, Mux(shifted[-1], rounded, 0) | (negative << WORD_BITS - 1)))
        return m

    def _field(self, m: Module) -> tuple[Signal, Signal, Signal]:
        """The channel as an integer of 32 bits, its sign, and its magnitude; of a half the sign and the other bits."""
        element, numeric = self.element, Value.cast(self.element.numeric)
        shifted, field = Signal(WORD_BITS, name="shifted"), Signal(WORD_BITS, name="field")
        sign, magnitude = Signal(name="sign"), Signal(WORD_BITS, name="magnitude")
        is_float, is_normalised = numeric == Numeric.FLOAT.value, numeric == Numeric.NORMALISED.value
        m.d.comb += shifted.eq(self.raw >> Cat(Const(0, 3), self.byte))
        with m.Switch(element.size):
            for code, bits in enumerate(SIZES):
                top = shifted[bits - 1]
                largest = (1 << bits - 1) - 1
                with m.Case(code):
                    m.d.comb += [
                        sign.eq(top & (element.signed | (is_float & (bits == 16)))),
                        field.eq(Cat(shifted[:bits], (top & element.signed).replicate(WORD_BITS - bits))),
                        magnitude.eq(Mux(sign & ~is_float, -field, field)),
                    ]
                    with m.If(sign & ~is_float & is_normalised & (field[: bits - 1] == 0)):
                        # The least number is -1, as is the one above it.
                        m.d.comb += magnitude.eq(largest)
                    with m.If(is_float):
                        m.d.comb += magnitude.eq(shifted[: bits - 1])
        return field, sign, magnitude

    @staticmethod
    def _exponent_of_half(exponent: Value) -> Value:
        """The biased exponent of a half that is no denormal."""
        return Mux(exponent.all(), (1 << EXPONENT_BITS) - 1, exponent + (BIAS - _HALF_BIAS))[:EXPONENT_BITS]

    def _pattern(self, m: Module, magnitude: Value, fraction: Value, is_half: Value) -> tuple[Signal, Signal]:
        """Binary digits, the highest first, and the biased exponent of a number whose first digit is 1."""
        element = self.element
        pattern, point = Signal(_PATTERN_BITS, name="pattern"), Signal(EXPONENT_BITS, name="zero_point")
        widths = [bits - is_signed for bits in SIZES for is_signed in (0, 1)]
        repeated = Array(_repeated(magnitude, width) for width in widths)[Cat(element.signed, element.size)]
        m.d.comb += [pattern.eq(repeated), point.eq(BIAS - 1)]
        with m.If(Value.cast(element.numeric) == Numeric.SCALED.value):
            m.d.comb += [pattern.eq(Cat(Const(0, WORD_BITS), magnitude)), point.eq(BIAS + WORD_BITS - 1)]
        with m.If(is_half):
            m.d.comb += [
                pattern.eq(Cat(Const(0, _PATTERN_BITS - _HALF_FRACTION), fraction)),
                point.eq(BIAS - _HALF_BIAS),
            ]
        return pattern, point


def _repeated(number: Value, width: int) -> Value:
    """The low bits of a number again and again, from the top of a pattern on."""
    copies = -(-_PATTERN_BITS // width)
    return Cat(*[number[:width]] * copies)[copies * width - _PATTERN_BITS :]
