"""Every code of the declarations can be written, arrives in its field and survives disassembly."""

from enum import Enum

import pytest

from ctm.rtl.isa.r5xx.opcodes import (
    AddressOperation,
    AlphaOperation,
    BranchOperation,
    Channel,
    FlowOperation,
    InputModifier,
    InstructionType,
    JumpFunction,
    OutputModifier,
    PredicateSelect,
    Presubtract,
    RgbOperation,
    Select,
    Swizzle,
    TextureOperation,
    UmrtTarget,
    ZeroTest,
)
from ctm.rtl.isa.r5xx.operations import RGB_DOT_PRODUCTS, TRANSCENDENTALS
from ctm.sim.assembler import disassemble
from ctm.sim.assembler.r5xx.draft import Draft, field_names
from ctm.sim.assembler.r5xx.encoder.pairing import ARITY
from ctm.tb.assembler.r5xx.assembly import assemble

CASES: list[tuple[str, str, str, Enum]] = []
"""(source, word, field, code)."""


def case(text: str, word: str, field: str, code: Enum) -> None:
    CASES.append((text, word, field, code))


def operands(operation: RgbOperation | AlphaOperation) -> str:
    return ", ".join(["r0.r"] * ARITY[operation][0])


for rgb_operation in RgbOperation:
    partner = " || alpha: RCP(r0)" if rgb_operation is RgbOperation.SOP else ""
    case(f"ALU r1.rgb = {rgb_operation.name}({operands(rgb_operation)}){partner}", "rgba_inst", "rgb_op", rgb_operation)
for alpha_operation in AlphaOperation:
    partner = "rgb: DP3(r0, r1) || " if alpha_operation is AlphaOperation.DP else ""
    computed = f"{alpha_operation.name}({operands(alpha_operation)})"
    case(f"ALU {partner}r1.a = {computed}", "alpha_inst", "op", alpha_operation)
for dot_product in RGB_DOT_PRODUCTS:
    arguments = ", ".join(["r0"] * ARITY[dot_product][0])
    case(f"ALU r1.a = {dot_product.name}({arguments})", "rgba_inst", "rgb_op", dot_product)
    case(f"ALU r1.a = {dot_product.name}({arguments})", "alpha_inst", "op", AlphaOperation.DP)
for transcendental in TRANSCENDENTALS:
    case(f"ALU r1.g = {transcendental.name}(r0.r)", "alpha_inst", "op", transcendental)
    case(f"ALU r1.g = {transcendental.name}(r0.r)", "rgba_inst", "rgb_op", RgbOperation.SOP)
for swizzle, letter in zip(Swizzle, "rgba0h1", strict=True):
    for color, text in (("red", f"{letter}rr"), ("green", f"r{letter}r"), ("blue", f"rr{letter}")):
        case(f"ALU r1.rgb = MIN(r0.{text}, r0)", "rgb_inst", f"{color}_swiz_a", swizzle)
    case(f"ALU r1.a = MAD(0, 0, r0.{letter})", "rgba_inst", "alpha_swiz_c", swizzle)
for modifier, text in zip(InputModifier, ("r0", "-r0", "|r0|", "-|r0|"), strict=True):
    case(f"ALU r1.rgb = MIN(r2, {text})", "rgb_inst", "mod_b", modifier)
    case(f"ALU r1.a = MIN({text}, r2)", "alpha_inst", "mod_a", modifier)
for output_modifier, text in zip(OutputModifier, ("", "*2", "*4", "*8", "/2", "/4", "/8", "exact"), strict=True):
    case(f"ALU r1.rgb = MIN(r2, r3) {text}", "rgb_inst", "omod", output_modifier)
    case(f"ALU r1.a = CMP(r2, r3, r0) {text}", "alpha_inst", "omod", output_modifier)
for modifier, text in zip(InputModifier, ("r0", "-r0", "|r0|", "-|r0|"), strict=True):
    case(f"ALU r1.rgb = MDV(r0, -1, {text})", "rgba_inst", "rgb_mod_c", modifier)
    case(f"ALU r1.a = MDH({text}, -1, r0)", "alpha_inst", "mod_a", modifier)
for presubtract, text in zip(Presubtract, ("1 - 2*r1", "r2 - r1", "r2 + r1", "1 - r1"), strict=True):
    case(f"ALU r1.rgb = MUL(r5, ({text}))", "rgb_addr", "srcp_op", presubtract)
    case(f"ALU r1.rgb = MUL(r5, ({text}))", "rgb_inst", "sel_b", Select.SRCP)
    case(f"ALU r1.a = MUL(r5, ({text}))", "alpha_addr", "srcp_op", presubtract)
for select, text in zip(Select, ("src0", "src1", "src2", "srcp"), strict=True):
    case(f"ALU r1.rgb = MIN({text}, r3) rgb_src(r1, r2, r3)", "rgb_inst", "sel_a", select)
for predicate, text in zip(PredicateSelect, ("always", "p", "p.r", "p.g", "p.b", "p.a"), strict=True):
    case(f"ALU ({text}) r1.rgb = MOV(r0)", "common", "rgb_pred_sel", predicate)
    case(f"ALU ({text}) r1.a = MOV(r0)", "common", "alpha_pred_sel", predicate)
for test, text in zip(ZeroTest, ("==", "<", ">=", "!="), strict=True):
    case(f"ALU p.rg[{text}0] = MOV(r0)", "rgb_inst", "target", test)
    case(f"ALU alu_result.r[{text}0] = ADD(r0, r1)", "common", "alu_result_op", test)
for umrt in UmrtTarget:
    case(f".uncached_writes\nOUT umrt[{umrt.name}] = MOV(r0)", "rgb_inst", "target", umrt)
for texture_operation in TextureOperation:
    more = ", r2, r3" if texture_operation is TextureOperation.DXDY else ""
    case(f"TEX r1 = {texture_operation.name}(i3, r0{more})", "tex_inst", "inst", texture_operation)
for channel in Channel:
    letter = channel.name.lower()
    case(f"TEX r1 = LOOKUP(i0, r0.gg{letter}g)", "tex_addr", "src_r_swiz", channel)
    case(f"TEX r1 = LOOKUP(i0, r0).gg{letter}g", "tex_addr", "dst_b_swiz", channel)
    case(f"TEX r1 = DXDY(i0, r0, r1, r2.ggg{letter})", "tex_addr_dxdy", "dy_q_swiz", channel)
for flow_operation in FlowOperation:
    case(f"FC {flow_operation.name} -> 1", "fc_inst", "op", flow_operation)
for function in JumpFunction:
    case(f"FC JUMP -> 1 jump_func={function.name}", "fc_inst", "jump_func", function)
for address_operation in AddressOperation:
    case(f"FC JUMP -> 1 a_op={address_operation.name}", "fc_inst", "a_op", address_operation)
for branch_operation in BranchOperation:
    case(f"FC JUMP -> 1 b_op1={branch_operation.name}", "fc_inst", "b_op1", branch_operation)


@pytest.mark.parametrize(("text", "word", "field", "code"), CASES)
def test_a_code_arrives_and_comes_back(text: str, word: str, field: str, code: Enum) -> None:
    executable = assemble(f".manual\n{text}")
    draft = Draft(InstructionType(executable.instructions[0][0] & 3), executable.instructions[0])
    assert draft.get(word)[field] == code.value
    again = disassemble(executable)
    assert assemble(again) == executable
    assert "{" not in again and ".word" not in again


def test_every_enum_of_the_instruction_set_is_walked() -> None:
    walked = {type(code) for *_, code in CASES}
    assert walked == {
        AddressOperation, AlphaOperation, BranchOperation, Channel, FlowOperation, InputModifier, JumpFunction,
        OutputModifier, PredicateSelect, Presubtract, RgbOperation, Select, Swizzle, TextureOperation, UmrtTarget,
        ZeroTest,
    }  # fmt: skip
    for kind in walked:
        assert {code for *_, code in CASES if type(code) is kind} == set(kind), kind


@pytest.mark.parametrize("kind", InstructionType)
def test_every_field_can_be_overridden(kind: InstructionType) -> None:
    keyword = {"ALU": "ALU", "OUTPUT": "OUT", "FC": "FC JUMP", "TEX": "TEX NOP"}[kind.name]
    for name, (word, field, width) in field_names(kind).items():
        executable = assemble(f".manual\n{keyword} {{{name}={2**width - 1}}}")
        before = Draft(kind, assemble(f".manual\n{keyword}").instructions[0])
        before.set(word, **{field: 2**width - 1})
        assert executable.instructions[0] == tuple(before.words), name
