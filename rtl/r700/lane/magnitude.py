"""Integers as a sign, a magnitude, and a significand, from which the reciprocal is interpolated."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import FRACTION_BITS
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.shift import shift_left
from ctm.rtl.lib.zeros import leading_zeros


class Magnitude(wiring.Component):
    """Takes the sign from an integer and normalises its magnitude.

    Latency is `config.operands`; one word is accepted in each cycle.

    The zeros above a negative integer's magnitude are counted while it is computed: their number is that of its leading
    ones, or one less for a power of two.

    Members
    -------
    word : ``In(32)``
    is_signed : ``In(1)``
        The word is in two's complement.
    negative : ``Out(1)``
    magnitude : ``Out(32)``
    fraction : ``Out(23)``
        The bits below the magnitude's leading one, truncated. Undefined for 0 and -1, and so is `position`.
    position : ``Out(5)``
        The position of the leading one.
    """

    word: In(WORD_BITS)
    is_signed: In(1)
    negative: Out(1)
    magnitude: Out(WORD_BITS)
    fraction: Out(FRACTION_BITS)
    position: Out(range(WORD_BITS))

    def __init__(self, config: PipelineConfig) -> None:
        self.latency = config.operands
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        negative = self.word[-1] & self.is_signed
        inverted = Signal(WORD_BITS)
        m.d.comb += inverted.eq(self.word ^ negative.replicate(WORD_BITS))
        magnitude, zeros, negative = (
            delay(m, value, self.latency, name="magnitude")
            for value in ((inverted + negative)[:WORD_BITS], leading_zeros(m, inverted), negative)
        )
        normalised = shift_left(m, magnitude, zeros, WORD_BITS)
        is_power = ~normalised[-1]
        m.d.comb += [
            self.negative.eq(negative),
            self.magnitude.eq(magnitude),
            self.fraction.eq(normalised[-FRACTION_BITS - 1 : -1]),
            self.position.eq(~zeros + is_power),
        ]
        return m
