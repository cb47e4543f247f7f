"""Decoding of ALU instructions: every code is known or not as the declarations say, and modifiers reach their slots."""

from typing import Any

import pytest
from amaranth.sim import Simulator

from ctm.rtl.fp.reduction import Function
from ctm.rtl.isa.r700.alu import Op2, Op3, OutputModifier
from ctm.rtl.isa.r700.operations import ILLEGAL, OPERATIONS, Result, Slots
from ctm.rtl.r700.border.lane import Limit, Source
from ctm.rtl.r700.code.slot_control import CODE_BITS, SlotDecoder


def decoded(*instructions: dict[str, Any]) -> list[tuple[Any, Any]]:
    """(control, facts) of instructions, whose fields are the decoder's inputs; those not named are 0."""
    decoder: Any = SlotDecoder()
    inputs = ("code", "three_operands", "absolute", "negate", "omod", "clamp")
    results = []

    async def testbench(context: Any) -> None:
        for fields in instructions:
            for name in inputs:
                context.set(getattr(decoder, name), fields.get(name, OutputModifier.OFF if name == "omod" else 0))
            await context.delay(1e-9)
            results.append((context.get(decoder.control), context.get(decoder.facts)))

    simulator = Simulator(decoder)
    simulator.add_testbench(testbench)
    simulator.run()
    return results


def fields_of(code: Op2 | Op3) -> dict[str, Any]:
    return {"code": code.value, "three_operands": isinstance(code, Op3)}


def test_exactly_the_declared_codes_are_known() -> None:
    words = [{"code": code} for code in range(1 << CODE_BITS)] + [
        {"code": code, "three_operands": 1} for code in range(32)
    ]
    legal = {(fields.get("three_operands", 0), fields["code"]) for fields, (_, facts) in
             zip(words, decoded(*words), strict=True) if facts.is_legal}  # fmt: skip
    assert legal == {(int(isinstance(code, Op3)), code.value) for code in OPERATIONS}
    assert legal.isdisjoint((int(isinstance(code, Op3)), code.value) for code in ILLEGAL)


def test_facts_are_those_of_the_declaration() -> None:
    operations = list(OPERATIONS.values())
    for operation, (_, facts) in zip(operations, decoded(*(fields_of(each.code) for each in operations)), strict=True):
        assert facts.operands == operation.operands
        assert facts.vector_only == (operation.slots is Slots.VECTOR)
        assert facts.trans_only == (operation.slots is Slots.TRANS)
        assert facts.is_reduction == (operation.slots is Slots.REDUCTION)
        assert facts.takes_modifiers == (operation.result is Result.FLOAT)
        assert (facts.sets_predicate, facts.kills) == (operation.sets_predicate, operation.kills)
        assert facts.sets_address == operation.sets_address


def test_what_is_unknown_does_nothing() -> None:
    [(control, facts)] = decoded({"code": Op2.ADD_64.value})
    assert not facts.is_legal
    assert control.if_false == Source.ZERO
    assert not (control.sets_predicate or control.kills or facts.sets_predicate or facts.kills)


@pytest.mark.parametrize(
    ("modifier", "scale"),
    [(OutputModifier.OFF, 0), (OutputModifier.MUL_2, 1), (OutputModifier.MUL_4, 2), (OutputModifier.DIV_2, -1)],
)
def test_modifiers_with_two_operands(modifier: OutputModifier, scale: int) -> None:
    fields = {**fields_of(Op2.ADD), "omod": modifier, "absolute": 2, "negate": 1, "clamp": 1}
    [(control, _)] = decoded(fields)
    assert (control.scale, control.absolute, control.negate, control.clamp) == (scale, 2, 1, 1)


def test_an_encoding_with_three_operands_has_scales_of_its_own() -> None:
    fields = {**fields_of(Op3.MULADD_D2), "omod": OutputModifier.MUL_4, "absolute": 3, "negate": 4, "clamp": 1}
    [(control, _)] = decoded(fields)
    assert (control.scale, control.absolute, control.negate, control.clamp) == (-1, 0, 4, 1)


def test_a_pop_subtracts() -> None:
    plain, negated = decoded(fields_of(Op2.PRED_SET_POP), {**fields_of(Op2.PRED_SET_POP), "negate": 2})
    assert (plain[0].negate, negated[0].negate) == (2, 0)


def test_functions_and_their_limits() -> None:
    codes = (Op2.RECIPSQRT_CLAMPED, Op2.RECIP_FF, Op2.LOG_IEEE)
    found = [(control.trans.function, control.trans.limit) for control, _ in decoded(*map(fields_of, codes))]
    assert found == [
        (Function.RSQ, Limit.LARGEST), (Function.RCP, Limit.ZERO), (Function.LN2, Limit.NONE),
    ]  # fmt: skip
