"""From a rounded result to the word that is written: output modifier, clamp, packing.

Source: CTM Guide p. 29.
"""

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl.config import PipelineConfig
from rtl.fp.number import (
    BIAS,
    EXPONENT_BITS,
    INFINITY,
    LARGEST_EXPONENT,
    NAN,
    ONE,
    SMALLEST_EXPONENT,
    WIDE_EXPONENT,
    WORD_BITS,
    ZERO,
    Rounded,
    Word,
    unpack,
)
from rtl.lib.pipeline import delay

SCALE = signed(3)
"""The output modifier: results are multiplied by 2^scale, -3 to 3."""


def scaled(m: Module, value: Rounded, scale: Value) -> Value:
    """The word of value * 2^scale: out of range, before or after scaling, an infinity or a zero of its sign."""
    exponent = Signal(WIDE_EXPONENT)
    infinite, zero = Signal(), Signal()
    m.d.comb += [
        exponent.eq(value.exponent + scale),
        infinite.eq(
            value.infinite
            | ~value.zero & ((value.exponent > LARGEST_EXPONENT) | (exponent > LARGEST_EXPONENT))
        ),
        zero.eq(
            value.zero
            | ~value.infinite & ((value.exponent < SMALLEST_EXPONENT) | (exponent < SMALLEST_EXPONENT))
        ),
    ]
    finite = Cat(value.fraction, (exponent + BIAS)[:EXPONENT_BITS])
    magnitude = Mux(infinite, INFINITY, Mux(zero, ZERO, finite))
    return Mux(value.nan, NAN, Cat(magnitude[: WORD_BITS - 1], value.sign))


def clamped(word: Value) -> Value:
    """The word clamped to [0, 1]; NaN and -0 give +0."""
    fields = Word(word)
    nan = fields.exponent.all() & fields.fraction.any()
    return Mux(fields.sign | nan, ZERO, Mux(fields.exponent >= BIAS, ONE, word))


def unpacked(m: Module, word: Value) -> Rounded:
    """A word as if it were a rounded result."""
    operand = unpack(m, word, name="copied_operand")
    value = Signal(Rounded, name="copied_value")
    m.d.comb += [
        value.fraction.eq(operand.significand),
        value.exponent.eq(operand.exponent - BIAS),
        value.sign.eq(operand.sign),
        value.zero.eq(operand.zero),
        value.infinite.eq(operand.infinite),
        value.nan.eq(operand.nan),
    ]
    return value


class Result(wiring.Component):
    """Gives the word that is written: a rounded result or a copied word, behind output modifier and clamp.

    Latency is `result` of the configuration.

    Members
    -------
    rounded : ``In(Rounded)``
    word : ``In(32)``
        The operand that a selection copies.
    copies : ``In(1)``
        Whether `word` is the result, not `rounded`.
    untouched : ``In(1)``
        Whether a copied word skips the output modifier, which otherwise makes every NaN 0x7FFFFFFF and a denormal a
        zero.
    scale : ``In(signed(3))``
        The output modifier.
    clamp : ``In(1)``
    result : ``Out(32)``
    """

    rounded: In(Rounded)
    word: In(WORD_BITS)
    copies: In(1)
    untouched: In(1)
    scale: In(SCALE)
    clamp: In(1)
    result: Out(WORD_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self.latency = config.result
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        value = Signal(Rounded)
        m.d.comb += value.eq(Mux(self.copies, Value.cast(unpacked(m, self.word)), Value.cast(self.rounded)))
        word = Mux(self.copies & self.untouched, self.word, scaled(m, value, self.scale))
        m.d.comb += self.result.eq(delay(m, Mux(self.clamp, clamped(word), word), self.latency, name="result"))
        return m
