"""From a rounded result to the word that is written: output modifier, clamp, packing.

Source: CTM Guide p. 29; docs/arithmetic.md.
"""

from amaranth import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import EXPONENT_BITS, INFINITY, NAN, ONE, WIDE_EXPONENT, ZERO, Rounded, unpack
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.views import record

SCALE = signed(3)
"""The output modifier: results are multiplied by 2^scale, -3 to 3."""


def as_rounded(m: Module, word: Value) -> Rounded:
    """A word as if it were a rounded result."""
    operand = unpack(m, word, name="copied_operand")
    value = record(Rounded, name="copied_value")
    m.d.comb += [
        value.fraction.eq(operand.significand),
        value.exponent.eq(operand.exponent),
        value.sign.eq(operand.sign),
        value.zero.eq(operand.zero),
        value.infinite.eq(operand.infinite),
        value.nan.eq(operand.nan),
    ]
    return value


def _reaches(exponent: Value, bits: int) -> Value:
    """Whether a signed number is at least 2^bits - 1. Comparing with a constant would make a carry chain of it."""
    return ~exponent[-1] & (exponent[bits:-1].any() | exponent[:bits].all())


def _is_below_one(exponent: Value) -> Value:
    return exponent[-1] | ~exponent.any()


class Result(wiring.Component):
    """Gives the word that is written: a number after output modifier, clamp and packing, or a word's own bits.

    What is out of range before or after the output modifier is an infinity or a zero of its sign, a NaN 0x7FFFFFFF.
    The clamp makes 0 of a NaN and of -0. Latency is `result` of the configuration.

    Members
    -------
    value : ``In(Rounded)``
    word : ``In(32)``
        Used with `untouched` only.
    untouched : ``In(1)``
        The result is `word`, of which `value` then is the number; it may still be clamped.
    scale : ``In(signed(3))``
    clamp : ``In(1)``
    result : ``Out(32)``
    """

    value: In(Rounded)
    word: In(WORD_BITS)
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
        value, clamp = self.value, self.clamp
        exponent = Signal(WIDE_EXPONENT)
        infinite, zero, at_least_one = Signal(), Signal(), Signal()
        m.d.comb += [
            exponent.eq(value.exponent + self.scale),
            infinite.eq(
                value.infinite
                | (~value.zero & (_reaches(value.exponent, EXPONENT_BITS) | _reaches(exponent, EXPONENT_BITS)))
            ),
            zero.eq(value.zero | (~value.infinite & (_is_below_one(value.exponent) | _is_below_one(exponent)))),
            at_least_one.eq(value.infinite | (~value.zero & _reaches(exponent, EXPONENT_BITS - 1))),
        ]
        result = Signal(WORD_BITS)
        with m.If(clamp & (value.nan | value.sign)):
            m.d.comb += result.eq(ZERO)
        with m.Elif(clamp & at_least_one):
            m.d.comb += result.eq(ONE)
        with m.Elif(self.untouched):
            m.d.comb += result.eq(self.word)
        with m.Elif(value.nan):
            m.d.comb += result.eq(NAN)
        with m.Else():
            finite = Cat(value.fraction, exponent[:EXPONENT_BITS])
            magnitude = Mux(infinite, INFINITY, Mux(zero, ZERO, finite))
            m.d.comb += result.eq(Cat(magnitude[: WORD_BITS - 1], value.sign))
        m.d.comb += self.result.eq(delay(m, result, self.latency, name="result"))
        return m


class OutputModifier(wiring.Component):
    """Output modifier and clamp as a unit of its own, for words. Latency is `rounding` + `result`.

    Members
    -------
    word : ``In(32)``
    untouched : ``In(1)``
        Leave the word as it is, but for the clamp; `scale` must be 0.
    scale : ``In(signed(3))``
    clamp : ``In(1)``
    result : ``Out(32)``
    """

    word: In(WORD_BITS)
    untouched: In(1)
    scale: In(SCALE)
    clamp: In(1)
    result: Out(WORD_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.rounding + config.result
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.result = result = Result(self._config)
        cycles = self._config.rounding
        m.d.comb += [
            result.value.eq(delay(m, as_rounded(m, self.word), cycles)),
            *(
                getattr(result, name).eq(delay(m, getattr(self, name), cycles))
                for name in ("word", "untouched", "scale", "clamp")
            ),
            self.result.eq(result.result),
        ]
        return m
