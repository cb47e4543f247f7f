"""Decoding of one ALU instruction: its slot control, and other facts of its operation."""

from typing import Any

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.result import SCALE
from ctm.rtl.isa.r700.alu import Op2, Op3, OutputModifier
from ctm.rtl.isa.r700.operations import OPERATIONS
from ctm.rtl.r700.border.lane import SLOT_OPERANDS, OperationFacts, SlotControl
from ctm.rtl.r700.code.controls import Fields, control, facts

CODE_BITS = 11
"""Width of ALU_INST with two operands; with three it is narrower."""
_ABSOLUTE = 2
"""Operands that have ABS, in the encoding with two; it has none with three."""
_SCALES = {OutputModifier.OFF: 0, OutputModifier.MUL_2: 1, OutputModifier.MUL_4: 2, OutputModifier.DIV_2: -1}


def _constant(layout: Any, fields: Fields) -> Any:
    return layout.const(fields)


class SlotDecoder(wiring.Component):
    """Decodes an ALU instruction. Combinational; the same for every slot.

    Members
    -------
    code : ``In(11)``
        ALU_INST; that of the encoding with three operands is in the low 5 bits.
    three_operands : ``In(1)``
        The encoding is the one with three operands (OP3). It has no ABS and OMOD: `absolute` and `omod` are ignored.
    absolute : ``In(2)``
    negate : ``In(3)``
        ABS and NEG of operands, operand 0 first.
    omod : ``In(OutputModifier)``
    clamp : ``In(1)``
    control : ``Out(SlotControl)``
        For an unknown operation that of NOP, with the modifiers.
    facts : ``Out(OperationFacts)``
        For an unknown operation 0.
    """

    code: In(CODE_BITS)
    three_operands: In(1)
    absolute: In(_ABSOLUTE)
    negate: In(SLOT_OPERANDS)
    omod: In(OutputModifier)
    clamp: In(1)
    control: Out(SlotControl)
    facts: Out(OperationFacts)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        operation = Signal(SlotControl)
        m.d.comb += operation.eq(_constant(SlotControl, control(OPERATIONS[Op2.NOP])))
        with m.If(self.three_operands):
            self._decode(m, operation, Op3, self.code[: Value.cast(Op3.CNDE).shape().width])
        with m.Else():
            self._decode(m, operation, Op2, self.code)

        scale = Signal(SCALE)
        with m.Switch(self.omod):
            for modifier, exponent in _SCALES.items():
                with m.Case(modifier):
                    m.d.comb += scale.eq(exponent)
        m.d.comb += [
            self.control.eq(operation),
            self.control.absolute.eq(Mux(self.three_operands, 0, self.absolute)),
            # PRED_SET_POP adds what it subtracts.
            self.control.negate.eq(self.negate ^ (operation.pops << 1)),
            self.control.scale.eq(Mux(self.three_operands, operation.scale, scale)),
            self.control.clamp.eq(self.clamp),
        ]
        return m

    def _decode(self, m: Module, operation: data.View, codes: type[Op2] | type[Op3], code: Value) -> None:
        with m.Switch(code):
            for operation_code, declared in OPERATIONS.items():
                if isinstance(operation_code, codes):
                    with m.Case(operation_code.value):
                        m.d.comb += [
                            operation.eq(_constant(SlotControl, control(declared))),
                            self.facts.eq(_constant(OperationFacts, facts(declared))),
                        ]
