"""The post-multiplier of slot t: MULLO and MULHI, SQRT, and the correction of RECIP_INT and RECIP_UINT.

A root is a product with a function's result, and the reciprocal of an integer is corrected by a product with the
function table's estimate. So the multiplier of integers comes after the functions, and MULLO and MULHI wait for it.

Source: docs/arithmetic.md.
"""

from amaranth import Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import Rounded, unpack
from ctm.rtl.fp.product import PRODUCT_BITS
from ctm.rtl.fp.product_sum import RAW_BITS
from ctm.rtl.fp.reduction import WHOLE_BITS
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.transcendental import C0_FRACTION
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.shift import shift_right_sticky
from ctm.rtl.r700.border.lane import SLOT_OPERANDS, PostMultiply
from ctm.rtl.r700.lane.multiplier import Multiplier
from ctm.rtl.r700.lane.reciprocal import SMALL_BITS, QuotientCorrection, SmallQuotients
from ctm.rtl.r700.lane.root import RootProduct, rounded_significand
from ctm.rtl.r700.lane.timing import Timing

_BELOW_VALUE = RAW_BITS - (C0_FRACTION + WHOLE_BITS - 1)
"""Position of a function's significand, above zeros."""
_VALUE_BITS = C0_FRACTION + 2
"""Its bits that can be set in a reciprocal or a root, which are 1 to 2."""
_ESTIMATE_BITS = WORD_BITS - SMALL_BITS
"""Width of the quotient of the smallest x for which it is estimated."""
_AMOUNT_BITS = (_ESTIMATE_BITS - 1).bit_length()


class PostMultiplierResult(data.Struct):
    """An integer, or with `is_number` a rounded number."""

    word: WORD_BITS
    number: Rounded
    is_number: 1


class PostMultiplier(wiring.Component):
    """Multiplies operands, or x by a function's result; `Timing` has the cycles.

    Members
    -------
    words : ``In(ArrayLayout(32, 2))``
        In the cycle `chosen`, as all inputs but `function`.
    operation : ``In(PostMultiply)``
    is_signed : ``In(1)``
    magnitude : ``In(32)``
    negative : ``In(1)``
        Operand 0 as an integer.
    position : ``In(5)``
        The position of its leading one.
    function : ``In(52)``
        Significand of its reciprocal, or of operand 0's RSQ; at `function`.
    result : ``Out(PostMultiplierResult)``
        At `normalised`.
    """

    words: In(data.ArrayLayout(WORD_BITS, SLOT_OPERANDS - 1))
    operation: In(PostMultiply)
    is_signed: In(1)
    magnitude: In(WORD_BITS)
    negative: In(1)
    position: In(range(WORD_BITS))
    function: In(RAW_BITS)
    result: Out(PostMultiplierResult)

    def __init__(self, config: PipelineConfig) -> None:
        self._config, self._timing = config, Timing(config)
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, timing = self._config, self._timing
        is_product = (self.operation == PostMultiply.LOW_PRODUCT) | (self.operation == PostMultiply.HIGH_PRODUCT)
        first, is_signed = (
            delay(m, value, timing.factor - timing.chosen, name="first")
            for value in (self._first(m), self.is_signed & is_product)
        )
        factor = self._factor(m)
        m.submodules.multiplier = multiplier = Multiplier(config.partial_products, config.normalisation)
        m.d.comb += [
            multiplier.a.eq(first),
            multiplier.b.eq(factor),
            multiplier.a_is_signed.eq(is_signed),
            multiplier.b_is_signed.eq(is_signed),
        ]
        first, factor = (delay(m, value, multiplier.latency, name="factor") for value in (first, factor))

        operation, is_signed, negative = (
            delay(m, value, timing.normalised - timing.chosen, name="beside_product")
            for value in (Value.cast(self.operation), self.is_signed, self.negative)
        )
        x = delay(m, unpack(m, self.words[0], name="x"), timing.normalised - timing.chosen, name="beside_product")
        m.submodules.correction = correction = QuotientCorrection()
        m.submodules.root = root = RootProduct()
        product = multiplier.product
        m.d.comb += [
            correction.estimate.eq(factor),
            correction.x.eq(first),
            correction.product.eq(product),
            correction.negative.eq(negative),
            correction.is_signed.eq(is_signed),
            root.x.eq(x),
            root.product.eq(product[:PRODUCT_BITS]),
            self.result.number.eq(root.root),
            self.result.is_number.eq(operation == PostMultiply.ROOT.value),
        ]
        half = Mux(operation == PostMultiply.HIGH_PRODUCT.value, product[WORD_BITS:], product[:WORD_BITS])
        m.d.comb += self.result.word.eq(Mux(operation == PostMultiply.RECIPROCAL.value, correction.result, half))
        return m

    def _first(self, m: Module) -> Value:
        radicand = Value.cast(unpack(m, self.words[0], name="radicand").significand)
        first = Mux(self.operation == PostMultiply.ROOT, radicand, self.words[0])
        return Mux(self.operation == PostMultiply.RECIPROCAL, self.magnitude, first)

    def _factor(self, m: Module) -> Value:
        """The second factor, at `factor`."""
        config, timing = self._config, self._timing
        value = self.function[_BELOW_VALUE : _BELOW_VALUE + _VALUE_BITS]
        value = delay(m, value, config.addition, name="value")
        waiting = timing.factor - config.rounding - timing.chosen
        word, operation = (
            delay(m, value, waiting, name="word") for value in (self.words[1], Value.cast(self.operation))
        )
        estimate, root = self._estimate(m, value, waiting), rounded_significand(m, value)
        factor = Mux(
            operation == PostMultiply.RECIPROCAL.value, estimate, Mux(operation == PostMultiply.ROOT.value, root, word)
        )
        return delay(m, factor, config.rounding, name="factor")

    def _estimate(self, m: Module, value: Value, waiting: int) -> Value:
        """2^32 / x from the reciprocal's significand, or from the table for small ones; `waiting` after the words."""
        config = self._config
        m.submodules.small = small = SmallQuotients(config)
        m.d.comb += small.x.eq(delay(m, self.magnitude[:SMALL_BITS], config.operands, name="small"))
        quotient = delay(m, small.quotient, waiting - config.operands - small.latency, name="quotient")
        is_small, amount = (
            delay(m, value, waiting, name="waiting")
            for value in (
                ~self.magnitude[SMALL_BITS:].any(),
                (self.position - SMALL_BITS)[:_AMOUNT_BITS],
            )
        )
        # All its bits are significant for 2^8, whose reciprocal is 2: they are above the point.
        whole = value[_VALUE_BITS - 1 - _ESTIMATE_BITS :]
        estimate, _ = shift_right_sticky(m, whole, amount)
        return Mux(is_small, quotient, estimate)
