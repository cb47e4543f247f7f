"""One lane's arithmetic: three vector channels and a scalar one, from the operands to the results.

Each channel has a product, its sum, a selection, a rounding and a result path; the four share a dot sum and a
transcendental unit. A dot product is the sum of the channels' products, aligned by the vector channels' own shifters;
the scalar channel's product has one more shifter, because it may enter a sum at the same time. Both shared units
give their exact result when the channels' sums come out, and every channel that wants it rounds it for itself. So
there is one rounding for each channel, and none waits for another's. All lanes have one instruction and want the same
of the shared units, so the ALU gates these units of all lanes together (`Lane.gate_together`).

Source: CTM Guide pp. 23, 28-32.
"""

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.dot_product import DotPath, largest
from ctm.rtl.fp.fraction import fraction_bits
from ctm.rtl.fp.function_table import FunctionReader
from ctm.rtl.fp.number import EXPONENT_BITS, ONE, WIDE_EXPONENT, ZERO_EXPONENT, Rounded, unpack
from ctm.rtl.fp.product import Product
from ctm.rtl.fp.product_sum import RAW, RAW_BITS, ProductSum
from ctm.rtl.fp.result import Result
from ctm.rtl.fp.rounding import Rounding
from ctm.rtl.fp.selection import SelectionPath
from ctm.rtl.fp.transcendental import TranscendentalPath
from ctm.rtl.fp.zero_comparison import Comparison, ZeroComparison
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r5xx.limits import SCALAR
from ctm.rtl.lib.clock_gating import GatedStateless, gate_together
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.views import record
from ctm.rtl.r5xx.entries import ChannelControl, ChannelOperands, Dot, LaneControl, Operation

_ADDED = 2
"""The channel whose operand c DOT2_ADD adds."""
_DOT, _SELECTIONS, _TRANSCENDENTAL = "dot", "selections", "transcendental"
"""Clocks of gated units."""


class _Channel:
    """The units of one channel; the lane wires them."""

    def __init__(self, config: PipelineConfig) -> None:
        self.product = Product(config)
        self.product_sum = ProductSum(config)
        self.rounding = Rounding(RAW_BITS, config)
        self.result = Result(config)
        self.test = ZeroComparison()


class Lane(wiring.Component):
    """The arithmetic of one lane, from operands to the words that are written.

    Latency is that of the configuration; one instruction per cycle. The scalar channel has any operation beside a
    vector DOT; with DOT4 its operands a and b are the fourth product's too. A scalar DOT copies the vector's, and a
    vector TRANSCENDENTAL the scalar's.

    Members
    -------
    operands : ``In(ArrayLayout(ChannelOperands, 4))``
    control : ``In(LaneControl)``
        In the cycle of the operands.
    results : ``Out(ArrayLayout(32, 4))``
    comparisons : ``Out(ArrayLayout(Comparison, 4))``
        The results against zero.
    functions : ``Out(FunctionReader)``
    """

    operands: In(data.ArrayLayout(ChannelOperands, CHANNELS))
    control: In(LaneControl)
    results: Out(data.ArrayLayout(WORD_BITS, CHANNELS))
    comparisons: Out(data.ArrayLayout(Comparison, CHANNELS))
    functions: Out(FunctionReader)

    def __init__(self, config: PipelineConfig) -> None:
        self._config = config
        self._dot, self._selections = DotPath(config), SelectionPath(CHANNELS, config)
        self._transcendental = TranscendentalPath(config)
        self.latency = config.latency
        super().__init__()

    def gate_together(self, m: Module, platform: object, control: data.View) -> None:
        """Gate the shared units of all lanes inside `m` while `control`, which all lanes have, wants none of them."""
        vector, scalar = control.vector.operation, control.scalar.operation

        def wanted(operation: Operation) -> Value:
            return Value.cast((vector == operation) | (scalar == operation))

        gate_together(m, platform, _DOT, vector == Operation.DOT, self._dot.latency)
        gate_together(m, platform, _SELECTIONS, wanted(Operation.SELECTION), self._selections.latency)
        function = wanted(Operation.TRANSCENDENTAL)
        gate_together(m, platform, _TRANSCENDENTAL, function, self._transcendental.latency)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        channels = [_Channel(config) for _ in range(CHANNELS)]
        m.submodules.selections = selections = GatedStateless(self._selections, together=_SELECTIONS)
        m.submodules.transcendental = transcendental = GatedStateless(self._transcendental, together=_TRANSCENDENTAL)
        connect(m, transcendental.functions, flipped(self.functions))
        for index, channel in enumerate(channels):
            for name, unit in vars(channel).items():
                m.submodules[f"{name}_{index}"] = unit

        control = self.control
        for index, channel in enumerate(channels):
            self._connect_operands(m, channel, index, selections)
        dot = self._connect_dot(m, channels)
        m.d.comb += [
            transcendental.word.eq(self.operands[SCALAR].a),
            transcendental.function.eq(control.function),
        ]
        at_raw = delay(m, control, config.raw_latency, name="control_raw")
        at_normalisation = delay(m, at_raw, config.addition, name="control_normalisation")
        at_rounding = delay(m, at_normalisation, config.normalisation, name="control_rounding")
        at_result = delay(m, at_rounding, config.rounding, name="control_result")
        shared = {}
        for unit in ("vector", "scalar"):
            shared[unit] = record(RAW, name=f"{unit}_raw")
            m.d.comb += shared[unit].eq(dot.raw)
            with m.If(getattr(at_raw, unit).operation == Operation.TRANSCENDENTAL):
                m.d.comb += shared[unit].eq(transcendental.raw)
        for index, channel in enumerate(channels):
            unit = "scalar" if index == SCALAR else "vector"
            self._connect_raw(m, channel, shared[unit], getattr(at_raw, unit))
            self._connect_selection(m, channel, index, selections, getattr(at_normalisation, unit))
            self._connect_result(m, channel, index, getattr(at_result, unit))
        return m

    def _connect_operands(self, m: Module, channel: _Channel, index: int, selections: GatedStateless) -> None:
        control, words = self.control, self.operands[index]
        own = control.scalar if index == SCALAR else control.vector
        a, b, c = (unpack(m, word, name=name) for word, name in ((words.a, "a"), (words.b, "b"), (words.c, "c")))
        product, product_sum = channel.product, channel.product_sum
        m.d.comb += [
            product.a.eq(a),
            product.b.eq(b),
            product.zero_times_anything.eq(control.zero_times_anything),
            product_sum.product.eq(product.product),
            product_sum.addend.eq(c),
            product_sum.fraction.eq(own.fraction),
            *(getattr(selections, name)[index].eq(words[name]) for name in "abc"),
            selections.choice[index].eq(own.choice),
        ]
        with m.If(own.fraction):
            m.d.comb += product_sum.addend.eq(fraction_bits(m, a))
        if index == _ADDED:
            with m.If((control.vector.operation == Operation.DOT) & (control.dot == Dot.DOT2_ADD)):
                m.d.comb += [product.a.eq(c), product.b.eq(unpack(m, Const(ONE, WORD_BITS), name="one"))]

    def _connect_dot(self, m: Module, channels: list[_Channel]) -> GatedStateless:
        """Give the products their largest exponent, and the aligned products to the dot sum, which it returns."""
        config = self._config
        m.submodules.dot = dot = GatedStateless(self._dot, together=_DOT)
        is_dot, has_fourth = self.control.vector.operation == Operation.DOT, self.control.dot == Dot.DOT4
        exponents = [channel.product.exponent for channel in channels]
        exponents[SCALAR] = Mux(delay(m, has_fourth, config.operands), exponents[SCALAR], ZERO_EXPONENT).as_signed()
        exponent = Signal(WIDE_EXPONENT)
        m.d.comb += [
            exponent.eq(largest(exponents)),
            dot.exponent.eq(exponent),
            dot.product.eq(channels[SCALAR].product.product),
            dot.takes_part.eq(has_fourth),
        ]
        for index, channel in enumerate(channels[:SCALAR]):
            product_sum = channel.product_sum
            m.d.comb += [
                product_sum.dot.eq(is_dot),
                product_sum.common_exponent.eq(exponent),
                dot.terms[index].eq(product_sum.dot_term),
            ]
        return dot

    def _connect_selection(
        self, m: Module, channel: _Channel, index: int, selections: GatedStateless, control: ChannelControl
    ) -> None:
        """Replace the rounded sum by a selected operand, and keep its bits beside."""
        cycles, selects = self._config.normalisation, Value.cast(control.operation == Operation.SELECTION)
        selected, substitute = selections.rounded[index], channel.rounding.substitute
        for name, _ in data.Layout.cast(Rounded):
            # An operand's exponent has no more bits. All are 0 by the reset of their flip-flops if none is selected.
            bits = Value.cast(selected[name])[: EXPONENT_BITS if name == "exponent" else None]
            m.d.comb += substitute[name].eq(delay(m, Mux(selects, bits, 0), cycles, name=f"substitute_{name}"))
        m.d.comb += [
            channel.rounding.substitutes.eq(delay(m, selects, cycles, name="substitutes")),
            channel.result.word.eq(selections.word[index]),
        ]

    def _connect_raw(self, m: Module, channel: _Channel, shared: data.View, control: ChannelControl) -> None:
        """Choose what a channel rounds: its own sum, or what a shared unit has for all channels of its half."""
        raw = channel.rounding.raw
        m.d.comb += raw.eq(channel.product_sum.raw)
        with m.If(control.operation.as_value().matches(Operation.DOT.value, Operation.TRANSCENDENTAL.value)):
            m.d.comb += raw.eq(shared)

    def _connect_result(self, m: Module, channel: _Channel, index: int, control: ChannelControl) -> None:
        """Output modifier, clamp and comparison."""
        result = channel.result
        m.d.comb += [
            result.value.eq(channel.rounding.rounded),
            result.untouched.eq(control.untouched),
            result.scale.eq(control.scale),
            result.clamp.eq(control.clamp),
            self.results[index].eq(result.result),
            channel.test.word.eq(result.result),
            self.comparisons[index].eq(channel.test.holds),
        ]
