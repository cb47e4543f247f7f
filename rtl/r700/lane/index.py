"""MOVA's results, which the address register takes: integers of 9 bits, saturated.

Source: R700-Family Instruction Set Architecture, chapter 4; docs/arithmetic.md.
"""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.alignment import LOW_BITS
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.limits import HIGHEST_INDEX
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r700.border.lane import INDEX
from ctm.rtl.r700.lane.adder import RAW

_MAGNITUDE_BITS = HIGHEST_INDEX.bit_length()


class Index(wiring.Component):
    """Takes an index from a number rounded to an integral value, or from an integer.

    Latency is `addition` and `normalisation` of the configuration, of which the second is that of the saturation.

    Members
    -------
    raw : ``In(RAW)``
        An integral value, at 2^23, as SlotAdder gives it; a larger one at its own exponent, as an infinity.
        A NaN is 0.
    word : ``In(32)``
    is_integer : ``In(1)``
        Take it from the word.
    index : ``Out(INDEX)``
    """

    raw: In(RAW)
    word: In(WORD_BITS)
    is_integer: In(1)
    index: Out(INDEX)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.addition + config.normalisation
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, raw, word = self._config, self.raw, self.word
        magnitude = raw.significand[LOW_BITS:]
        bits = Mux(self.is_integer, word, magnitude)[:_MAGNITUDE_BITS]
        upper = word[_MAGNITUDE_BITS:]
        is_large = Mux(
            self.is_integer, upper.any() & ~upper.all(), magnitude[_MAGNITUDE_BITS:].any()
        )  # fmt: skip
        negative = Mux(self.is_integer, word[-1], raw.sign)
        bits, is_large, negative, negate, nan = (
            delay(m, value, config.addition, name="magnitude")
            for value in (bits, is_large, negative, negative & ~self.is_integer, raw.nan & ~self.is_integer)
        )
        # An integer's lower bits are the index.
        saturated = Cat((~negative).replicate(_MAGNITUDE_BITS), negative)
        sign = Signal(INDEX)
        m.d.comb += sign.eq(Mux(negate, -bits, Cat(bits, negative).as_signed()))
        index = Mux(nan, 0, Mux(is_large, saturated, sign))
        m.d.comb += self.index.eq(delay(m, index, config.normalisation, name="index"))
        return m
