"""EX2, LN2, RCP, RSQ, SIN and COS: one table and one quadratic for all.

Source: docs/arithmetic.md, steps 2 to 4.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.function_table import FunctionReader, share_tables
from ctm.rtl.fp.product_sum import RAW, RAW_BITS
from ctm.rtl.fp.reduction import WHOLE_BITS, Function, Reduced, Reduction
from ctm.rtl.fp.result import Result
from ctm.rtl.fp.rounding import Rounding
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.transcendental import (
    C0_FRACTION,
    SQUARE_ALIGNMENT,
    SQUARE_SHIFT,
    SUM_SHIFT,
)
from ctm.rtl.lib.pipeline import delay

_C1_LOW_BITS = 17
"""Width of an unsigned factor of a signed 18-bit multiplier."""
_MAGNITUDE_BITS = C0_FRACTION + WHOLE_BITS - 1


class Interpolation(wiring.Component):
    """Has the coefficients looked up and adds up the quadratic.

    Latency is `partial_products` + `product` + `alignment` of the configuration; of the first two one is the table's.
    One argument per cycle; four 18x18 multipliers.

    Members
    -------
    reduced : ``In(Reduced)``
    functions : ``Out(FunctionReader)``
    raw : ``Out(RAW)``
    """

    reduced: In(Reduced)
    functions: Out(FunctionReader)
    raw: Out(RAW)

    def __init__(self, config: PipelineConfig) -> None:
        if config.partial_products + config.product == 0:
            raise ValueError("pipeline.partial_products or pipeline.product must be 1: a table takes a cycle")
        self._config = config
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        after_table = config.partial_products + config.product - 1
        m.d.comb += self.functions.address.eq(self.reduced.address)
        entry = self.functions.entry
        c0, c1, c2 = (delay(m, entry[name], after_table, name=name) for name in ("c0", "c1", "c2"))
        reduced = delay(m, self.reduced, 1)
        square = (reduced.distance * reduced.distance)[SQUARE_SHIFT:]
        square = delay(m, square, after_table, name="square")
        reduced = delay(m, reduced, after_table)

        # A negative logarithm's magnitude is -floor(sum) = floor(-sum + 1 - 2^-SUM_SHIFT), with -x = ~x + 1 in each of
        # the four terms of the sum; all its constants go into the upper term.
        negate = reduced.integer[-1]
        low = c1[:_C1_LOW_BITS] * reduced.distance
        high = c1[_C1_LOW_BITS:].as_signed() * reduced.distance
        products = low, high.shift_left(_C1_LOW_BITS), (c2 * square).shift_left(SQUARE_ALIGNMENT)
        upper = self._upper(c0, reduced.integer, negate)
        upper, *terms = (delay(m, term, config.alignment, name="term") for term in (upper, *products))
        reduced = delay(m, reduced, config.alignment)
        negate = reduced.integer[-1]
        total = upper + sum((term.as_unsigned() ^ negate.replicate(len(term))).as_signed() for term in terms)
        magnitude = total[SUM_SHIFT : SUM_SHIFT + _MAGNITUDE_BITS]

        raw = Signal(RAW)
        kept = Mux(reduced.one, 1 << C0_FRACTION, Mux(reduced.zero, 0, magnitude))
        m.d.comb += [
            raw.significand.eq(kept.shift_left(RAW_BITS - _MAGNITUDE_BITS)),
            raw.exponent.eq(reduced.exponent + _MAGNITUDE_BITS - 1 - C0_FRACTION),
        ]
        m.d.comb += [getattr(raw, name).eq(getattr(reduced, name)) for name in ("sign", "zero_sign", "infinite", "nan")]
        m.d.comb += self.raw.eq(raw)
        return m

    def _upper(self, c0: Value, integer: Value, negate: Value) -> Value:
        """Give integer + c0 as a term of the sum; or its negative, with the constants of all terms' negatives."""
        # Only a logarithm has an integer part, and its c0 is below 1.
        whole = Mux(integer == 0, c0[C0_FRACTION:], integer)
        value = Cat(c0[:C0_FRACTION], whole).as_signed()
        # -sum + 2^SUM_SHIFT - 1 is the sum of the four ~x, and 4, and 2^SUM_SHIFT - 1. Shifted, ~value lacks as much as
        # ~ of the shifted value has in its low bits, 2^SUM_SHIFT - 1. Together 2 * 2^SUM_SHIFT + 2.
        return Cat(Const(0, 1), negate, Const(0, SUM_SHIFT - 2), Mux(negate, ~value + 2, value)).as_signed()


class TranscendentalPath(wiring.Component):
    """A transcendental function before its rounding.

    Latency is `raw_latency` of the configuration; one result per cycle.

    Members
    -------
    word : ``In(32)``
    function : ``In(Function)``
    functions : ``Out(FunctionReader)``
    raw : ``Out(RAW)``
    """

    word: In(WORD_BITS)
    function: In(Function)
    functions: Out(FunctionReader)
    raw: Out(RAW)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.raw_latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.reduction = reduction = Reduction(self._config)
        m.submodules.interpolation = interpolation = Interpolation(self._config)
        connect(m, interpolation.functions, flipped(self.functions))
        m.d.comb += [
            reduction.word.eq(self.word),
            reduction.function.eq(self.function),
            interpolation.reduced.eq(reduction.reduced),
            self.raw.eq(interpolation.raw),
        ]
        return m


class Transcendental(wiring.Component):
    """A transcendental function as a unit of its own, with a table.

    Latency is that of the configuration; one result per cycle.

    Members
    -------
    word : ``In(32)``
    function : ``In(Function)``
    result : ``Out(32)``
    """

    word: In(WORD_BITS)
    function: In(Function)
    result: Out(WORD_BITS)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        m.submodules.path = path = TranscendentalPath(config)
        share_tables(m, [path.functions])
        m.submodules.rounding = rounding = Rounding(RAW_BITS, config)
        m.submodules.result = result = Result(config)
        m.d.comb += [
            path.word.eq(self.word),
            path.function.eq(self.function),
            rounding.raw.eq(path.raw),
            result.value.eq(rounding.rounded),
            self.result.eq(result.result),
        ]
        return m
