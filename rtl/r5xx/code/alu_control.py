"""Decoding of ALU and OUTPUT instructions: what the lanes do, and whether the words are legal.

Source: CTM Guide pp. 26-32; docs/design/choices.md lists what is illegal.
"""

from collections.abc import Mapping
from typing import Any

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.reduction import Function
from ctm.rtl.fp.selection import Choice
from ctm.rtl.isa.r5xx.instruction import ADDRESS_INLINE, ALPHA_INST, COMMON, INSTRUCTION, RGB_INST, RGBA_INST, WORDS
from ctm.rtl.isa.r5xx.opcodes import (
    AlphaOperation,
    InstructionType,
    OutputModifier,
    PredicateSelect,
    RgbOperation,
    Swizzle,
)
from ctm.rtl.isa.r5xx.operations import ALPHA, RGB, RGB_DOT_PRODUCTS, TRANSCENDENTALS, Arithmetic
from ctm.rtl.r5xx.entries import ChannelControl, Dot, LaneControl, Operation

_SELECTIONS: dict[RgbOperation | None, Choice] = {
    RgbOperation.MIN: Choice.MINIMUM,
    RgbOperation.MAX: Choice.MAXIMUM,
    RgbOperation.CND: Choice.ABOVE_HALF,
    RgbOperation.CMP: Choice.NOT_NEGATIVE,
}
_DOTS = {RgbOperation.DP3: Dot.DOT3, RgbOperation.DP4: Dot.DOT4, RgbOperation.D2A: Dot.DOT2_ADD}
_SCALES = {
    OutputModifier.U1: 0,
    OutputModifier.U2: 1,
    OutputModifier.U4: 2,
    OutputModifier.U8: 3,
    OutputModifier.D2: -1,
    OutputModifier.D4: -2,
    OutputModifier.D8: -3,
}


class AluControl(wiring.Component):
    """Decodes an ALU or OUTPUT instruction. Combinational; an instruction is decoded once, when it is fetched.

    Members
    -------
    words : ``In(INSTRUCTION)``
        Word 0 first.
    uncached_writes : ``In(1)``
        Whether the program's outputs are uncached writes, of which a partial one is illegal.
    control : ``Out(LaneControl)``
        But for `zero_times_anything`, which is the program's.
    illegal : ``Out(1)``
    """

    words: In(INSTRUCTION)
    uncached_writes: In(1)
    control: Out(LaneControl)
    illegal: Out(1)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        common, rgb_inst = COMMON(self.words[0]), RGB_INST(self.words[3])
        alpha_inst, both = ALPHA_INST(self.words[4]), RGBA_INST(self.words[5])
        rgb_operation, alpha_operation = Value.cast(both.rgb_op), Value.cast(alpha_inst.op)

        rgb_legal = self._operation(m, self.control.vector, RGB, rgb_operation)
        alpha_legal = self._operation(m, self.control.scalar, ALPHA, alpha_operation)
        self._result(m, self.control.vector, Value.cast(rgb_inst.omod), common.rgb_clamp)
        self._result(m, self.control.scalar, Value.cast(alpha_inst.omod), common.alpha_clamp)
        with m.Switch(rgb_operation):
            for operation, dot in _DOTS.items():
                with m.Case(operation.value):
                    m.d.comb += self.control.dot.eq(dot)
        with m.Switch(alpha_operation):
            for function in TRANSCENDENTALS:
                with m.Case(function.value):
                    m.d.comb += self.control.function.eq(Function[function.name])

        is_transcendental = alpha_operation.matches(*(operation.value for operation in TRANSCENDENTALS))
        is_dot = rgb_operation.matches(*(operation.value for operation in RGB_DOT_PRODUCTS))
        omask = Cat(common.rgb_omask, common.alpha_omask)
        is_output = Value.cast(common.type) == InstructionType.OUTPUT.value
        m.d.comb += self.illegal.eq(
            Cat(
                ~rgb_legal,
                ~alpha_legal,
                (rgb_operation == RgbOperation.SOP.value) & ~is_transcendental,
                (alpha_operation == AlphaOperation.DP.value) & ~is_dot,
                self.control.vector.untouched & (self.control.vector.operation != Operation.SELECTION),
                self.control.scalar.untouched & (self.control.scalar.operation != Operation.SELECTION),
                is_output & self.uncached_writes & omask.any() & ~omask.all(),
                self._illegal_fields(),
            ).any()
        )
        return m

    def _operation(
        self, m: Module, control: ChannelControl, operations: Mapping[Any, Arithmetic], code: Value
    ) -> Value:
        """Set what a unit's channels compute; give whether the code is legal."""
        is_legal = Signal()
        with m.Switch(code):
            for own, operation in operations.items():
                with m.Case(own.value):
                    m.d.comb += is_legal.eq(1)
                    if operation.copies_bits:
                        m.d.comb += [
                            control.operation.eq(Operation.SELECTION),
                            control.choice.eq(_SELECTIONS[operation.rgb]),
                        ]
                    elif operation.is_dot or own is AlphaOperation.DP:
                        m.d.comb += control.operation.eq(Operation.DOT)
                    elif operation.is_transcendental or own is RgbOperation.SOP:
                        m.d.comb += control.operation.eq(Operation.TRANSCENDENTAL)
                    else:
                        is_fraction = operation.rgb is RgbOperation.FRC
                        m.d.comb += [control.operation.eq(Operation.SUM), control.fraction.eq(is_fraction)]
        return is_legal

    def _result(self, m: Module, control: ChannelControl, modifier: Value, clamp: Value) -> None:
        """Set what happens to a unit's results. A result with unchanged bits is not clamped either."""
        untouched = modifier == OutputModifier.DISABLED.value
        m.d.comb += [control.untouched.eq(untouched), control.clamp.eq(clamp & ~untouched)]
        with m.Switch(modifier):
            for code, scale in _SCALES.items():
                with m.Case(code.value):
                    m.d.comb += control.scale.eq(scale)

    def _illegal_fields(self) -> Value:
        """Whether a swizzle, a predicate select or a source address has an illegal value, used or not."""
        illegal = []
        for word, layout in zip(self.words, WORDS[InstructionType.ALU], strict=True):
            view = layout(word)
            for name, field in layout:
                value = Value.cast(view[name])
                if field.shape is Swizzle:
                    illegal.append(value > Swizzle.ONE.value)
                elif field.shape is PredicateSelect:
                    illegal.append(value > PredicateSelect.AAAA.value)
                elif name in ("addr0", "addr1", "addr2"):
                    is_inline = value[ADDRESS_INLINE.bit_length() - 1] & ~view[f"{name}_const"]
                    illegal.append(is_inline & view[f"{name}_rel"])
        return Cat(illegal).any()
