"""Units that only slot t has: functions, conversions, and the post-multiplier (`post_multiplier.py`).

Source: R700-Family Instruction Set Architecture, chapter 4; docs/design/r700-lane.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.function_table import FunctionReader
from ctm.rtl.fp.number import BIAS, raw_layout
from ctm.rtl.fp.reduction import Reduction
from ctm.rtl.fp.transcendental import Interpolation
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.transcendental import RECIPROCAL
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r700.border.lane import SLOT_OPERANDS, Limit, PostMultiply, SlotControl, Type
from ctm.rtl.r700.lane.magnitude import Magnitude
from ctm.rtl.r700.lane.post_multiplier import PostMultiplier, PostMultiplierResult
from ctm.rtl.r700.lane.timing import Timing
from ctm.rtl.r700.lane.to_integer import ToInteger

RAW_BITS = 44
"""Width of a function's result: a logarithm has 41 bits, and a rounding unit takes whole nibbles."""
RAW = raw_layout(RAW_BITS)


class Trans(wiring.Component):
    """Gives slot t the words and sums that it does not compute by itself; `Timing` has the cycles.

    Members
    -------
    words : ``In(ArrayLayout(32, 2))``
        Operands 0 and 1 of slot t with their modifiers.
    control : ``In(SlotControl)``
        That of slot t, in the cycle of the operands.
    word : ``Out(32)``
        An operand converted to an integer, at `product`.
    raw : ``Out(RAW)``
        A function or a converted integer, in the cycle `aligned` of the words.
    post_multiplied : ``Out(PostMultiplierResult)``
        At `normalised`.
    functions : ``Out(FunctionReader)``
    """

    words: In(data.ArrayLayout(WORD_BITS, SLOT_OPERANDS - 1))
    control: In(SlotControl)
    word: Out(WORD_BITS)
    raw: Out(RAW)
    post_multiplied: Out(PostMultiplierResult)
    functions: Out(FunctionReader)

    def __init__(self, config: PipelineConfig) -> None:
        self._config, self._timing = config, Timing(config)
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config, timing = self._config, self._timing
        is_signed = self.control.type == Type.SIGNED
        m.submodules.magnitude = magnitude = Magnitude(config)
        m.d.comb += [magnitude.word.eq(self.words[0]), magnitude.is_signed.eq(is_signed)]
        words, control, is_signed = (
            delay(m, value, timing.chosen, name="chosen") for value in (self.words, self.control, is_signed)
        )

        m.submodules.to_integer = to_integer = ToInteger(config)
        m.d.comb += [
            to_integer.word.eq(words[0]),
            to_integer.is_signed.eq(is_signed),
            self.word.eq(to_integer.result),
        ]
        function = self._function(m, magnitude, words[0], control)
        self._sum(m, function, magnitude, control)
        m.submodules.post_multiplier = post_multiplier = PostMultiplier(config)
        m.d.comb += [
            post_multiplier.words.eq(words),
            post_multiplier.operation.eq(control.trans.post_multiply),
            post_multiplier.is_signed.eq(is_signed),
            post_multiplier.magnitude.eq(magnitude.magnitude),
            post_multiplier.negative.eq(magnitude.negative),
            post_multiplier.position.eq(magnitude.position),
            post_multiplier.function.eq(function.significand),
            self.post_multiplied.eq(post_multiplier.result),
        ]
        return m

    def _function(self, m: Module, magnitude: Magnitude, word: Value, control: data.View) -> data.View:
        """The function's raw result, at `function`."""
        config = self._config
        m.submodules.reduction = reduction = Reduction(config)
        m.submodules.interpolation = interpolation = Interpolation(config)
        connect(m, interpolation.functions, flipped(self.functions))
        m.d.comb += [
            reduction.word.eq(word),
            reduction.function.eq(control.trans.function),
            interpolation.reduced.eq(reduction.reduced),
        ]
        gives_zero, is_reciprocal, fraction = (
            delay(m, value, config.operands, name="argument")
            for value in (
                control.trans.limit == Limit.ZERO,
                control.trans.post_multiply == PostMultiply.RECIPROCAL,
                magnitude.fraction,
            )
        )
        with m.If(gives_zero & reduction.reduced.infinite):
            # A reciprocal's infinity has the sign of the zero.
            m.d.comb += [interpolation.reduced.infinite.eq(0), interpolation.reduced.zero.eq(1)]
        with m.If(is_reciprocal):
            # An integer is normalised here, not before the reduction, whose floats need as many cycles.
            index, distance = fraction[-RECIPROCAL.index_bits :], fraction[: -RECIPROCAL.index_bits]
            below = Const(0, RECIPROCAL.width_bits - len(distance))
            m.d.comb += [
                interpolation.reduced.address.eq(index + RECIPROCAL.base),
                interpolation.reduced.distance.eq(Cat(below, distance[:-1], ~distance[-1]).as_signed()),
                interpolation.reduced.zero.eq(0),
            ]
        raw: data.View = interpolation.raw
        return raw

    def _sum(self, m: Module, function: data.View, magnitude: Magnitude, control: data.View) -> None:
        timing = self._timing
        gives_largest = delay(m, control.trans.limit == Limit.LARGEST, timing.function - timing.chosen)
        limited = delay(m, gives_largest & function.infinite, timing.aligned - timing.function, name="limited")
        function = delay(m, function, timing.aligned - timing.function, name="function")
        converts, integer, negative = (
            delay(m, value, timing.aligned - timing.chosen, name="integer")
            for value in (control.trans.converts, magnitude.magnitude, magnitude.negative)
        )
        raw = Signal(RAW)
        significand = Mux(
            converts, Cat(Const(0, RAW_BITS - WORD_BITS), integer), Value.cast(function.significand)[-RAW_BITS:]
        )
        m.d.comb += [
            *(getattr(raw, name).eq(getattr(function, name) & ~converts) for name in ("zero_sign", "nan")),
            # The largest number is all ones rounded towards zero.
            raw.significand.eq(significand | limited.replicate(RAW_BITS)),
            raw.exponent.eq(Mux(converts, WORD_BITS - 1, Mux(limited, BIAS, function.exponent))),
            raw.sign.eq(Mux(converts, negative, function.sign)),
            raw.infinite.eq(function.infinite & ~converts & ~limited),
            raw.truncate.eq(limited),
            self.raw.eq(raw),
        ]
