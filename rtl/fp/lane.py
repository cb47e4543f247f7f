"""One processor's arithmetic: three vector channels and a scalar one, with everything behind the operands.

Each channel has a product sum, a selection, a rounding and a result path; the four share a dot sum and a transcendental
unit. Multipliers are those of the product sums: a dot product is the four products, aligned by the channels' own
shifters. Both shared units give their result where the channels' sums come out, a dot sum in channel 0's place and a
transcendental in channel 3's, so there is one rounding for each channel. The other channels copy the rounded number.

Source: CTM Guide pp. 23, 28-32.
"""

from amaranth import Module, Signal, Value
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from rtl.config import PipelineConfig
from rtl.fp.dot_product import DotSum, connect_dot
from rtl.fp.fraction import operands
from rtl.fp.number import ONE, WORD_BITS
from rtl.fp.product_sum import RAW, RAW_BITS, ProductSum
from rtl.fp.reduction import Function, Reduction
from rtl.fp.result import SCALE, Result, as_rounded
from rtl.fp.rounding import Rounding
from rtl.fp.selection import Choice, Selection
from rtl.fp.transcendental import Interpolation
from rtl.fp.zero_test import Comparison, ZeroTest
from rtl.lib.pipeline import delay

CHANNELS = 4
SCALAR = 3
_MINUS_ZERO = 0x8000_0000


class Operation(enum.Enum, shape=2):
    """What a channel's result is."""

    SUM = 0
    SELECTION = 1
    DOT = 2
    TRANSCENDENTAL = 3


class Dot(enum.Enum, shape=2):
    """Which products a dot product has; DOT2_ADD adds operand c of channel 2 instead of its product."""

    DOT3 = 0
    DOT4 = 1
    DOT2_ADD = 2


class ChannelControl(data.Struct):
    """What one channel does.

    `fraction` makes a SUM the fraction of `a`. `untouched` makes the result of a SELECTION the chosen word's bits.
    """

    operation: Operation
    choice: Choice
    fraction: 1
    untouched: 1
    scale: SCALE
    clamp: 1


class LaneControl(data.Struct):
    """What a lane does: the same in channels 0 to 2."""

    vector: ChannelControl
    scalar: ChannelControl
    dot: Dot
    function: Function
    zero_times_anything: 1


class ChannelOperands(data.Struct):
    """Three words, behind swizzle and input modifiers."""

    a: WORD_BITS
    b: WORD_BITS
    c: WORD_BITS


class _Channel:
    """The parts of one channel; the lane wires them."""

    def __init__(self, config: PipelineConfig) -> None:
        self.product_sum = ProductSum(config)
        self.selection = Selection(config)
        self.rounding = Rounding(RAW_BITS, config)
        self.result = Result(config)
        self.test = ZeroTest()


class Lane(wiring.Component):
    """The arithmetic of one processor, from operands to the words that are written.

    Latency is that of the configuration; one instruction per cycle. With DOT in one or more channels, and only then,
    the channels' products are the dot product's, so no channel may have a SUM beside it, and with DOT4 the scalar
    channel's operands are the fourth product's.

    Members
    -------
    operands : ``In(ArrayLayout(ChannelOperands, 4))``
    control : ``In(LaneControl)``
        With the operands.
    results : ``Out(ArrayLayout(32, 4))``
    comparisons : ``Out(ArrayLayout(Comparison, 4))``
        The results against zero.
    """

    operands: In(data.ArrayLayout(ChannelOperands, CHANNELS))
    control: In(LaneControl)
    results: Out(data.ArrayLayout(WORD_BITS, CHANNELS))
    comparisons: Out(data.ArrayLayout(Comparison, CHANNELS))

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self.latency = config.latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        channels = [_Channel(config) for _ in range(CHANNELS)]
        m.submodules.dot_sum = dot_sum = DotSum(config)
        m.submodules.reduction = reduction = Reduction(config)
        m.submodules.interpolation = interpolation = Interpolation(config)
        for index, channel in enumerate(channels):
            for name, part in vars(channel).items():
                m.submodules[f"{name}_{index}"] = part

        control = self.control
        has_dot = (control.vector.operation == Operation.DOT) | (control.scalar.operation == Operation.DOT)
        for index, channel in enumerate(channels):
            self._connect_operands(m, channel, index, has_dot)
        connect_dot(m, [channel.product_sum for channel in channels], dot_sum, config)
        m.d.comb += [
            reduction.word.eq(self.operands[SCALAR].a),
            reduction.function.eq(control.function),
            interpolation.reduced.eq(reduction.reduced),
        ]

        at_raw = delay(m, control, config.raw_latency, name="control_raw")
        for index, channel in enumerate(channels):
            raw = Signal(RAW)
            m.d.comb += raw.eq(channel.product_sum.raw)
            if index == 0:
                with m.If(delay(m, has_dot, config.raw_latency)):
                    m.d.comb += raw.eq(dot_sum.raw)
            elif index == SCALAR:
                with m.If(at_raw.scalar.operation == Operation.TRANSCENDENTAL):
                    m.d.comb += raw.eq(interpolation.raw)
            m.d.comb += channel.rounding.raw.eq(raw)

        at_rounding = delay(m, at_raw, config.normalisation, name="control_rounding")
        at_result = delay(m, at_rounding, config.rounding, name="control_result")
        for index, channel in enumerate(channels):
            unit = "scalar" if index == SCALAR else "vector"
            self._connect_selection(m, channel, getattr(at_rounding, unit))
            self._connect_result(m, channels, index, getattr(at_result, unit))
        return m

    def _connect_operands(self, m: Module, channel: _Channel, index: int, has_dot: Value) -> None:
        """Give a channel its operands; a product that does not take part in a dot product is -0 * 0."""
        control, words = self.control, self.operands[index]
        own = control.scalar if index == SCALAR else control.vector
        a, b = Signal(WORD_BITS), Signal(WORD_BITS)
        m.d.comb += [a.eq(words.a), b.eq(words.b)]
        if index == 2:
            with m.If(has_dot & (control.dot == Dot.DOT2_ADD)):
                m.d.comb += [a.eq(words.c), b.eq(ONE)]
        elif index == SCALAR:
            with m.If(has_dot & (control.dot != Dot.DOT4)):
                m.d.comb += [a.eq(_MINUS_ZERO), b.eq(0)]

        path, selection = channel.product_sum, channel.selection
        fraction = own.fraction & ~has_dot
        chosen = operands(m, a, b, words.c, fraction)
        m.d.comb += [port.eq(operand) for port, operand in zip((path.a, path.b, path.c), chosen, strict=True)]
        m.d.comb += [
            path.zero_times_anything.eq(control.zero_times_anything),
            path.truncate.eq(fraction),
            path.dot.eq(has_dot),
            selection.a.eq(words.a),
            selection.b.eq(words.b),
            selection.c.eq(words.c),
            selection.choice.eq(own.choice),
        ]

    def _connect_selection(self, m: Module, channel: _Channel, control: ChannelControl) -> None:
        """Put a selected operand in the place of the rounded sum, and its bits beside."""
        config = self._config
        cycles = config.raw_latency + config.normalisation - channel.selection.latency
        selected = delay(m, channel.selection.word, cycles, name="selected")
        m.d.comb += [
            channel.rounding.substitute.eq(as_rounded(m, selected)),
            channel.rounding.substitutes.eq(control.operation == Operation.SELECTION),
            channel.result.word.eq(delay(m, selected, config.rounding, name="selected")),
        ]

    def _connect_result(self, m: Module, channels: list[_Channel], index: int, control: ChannelControl) -> None:
        """Choose what a channel's result is, and give it to the output."""
        channel = channels[index]
        result = channel.result
        m.d.comb += result.value.eq(channel.rounding.rounded)
        # A shared unit's number is rounded in the channel that stands for it.
        with m.If(control.operation == Operation.DOT):
            m.d.comb += result.value.eq(channels[0].rounding.rounded)
        with m.Elif(control.operation == Operation.TRANSCENDENTAL):
            m.d.comb += result.value.eq(channels[SCALAR].rounding.rounded)
        m.d.comb += [
            result.untouched.eq(control.untouched),
            result.scale.eq(control.scale),
            result.clamp.eq(control.clamp),
            self.results[index].eq(result.result),
            channel.test.word.eq(result.result),
            self.comparisons[index].eq(channel.test.holds),
        ]
