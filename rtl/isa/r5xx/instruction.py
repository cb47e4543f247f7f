"""The six words of an instruction as layouts, least significant field first.

Source: R5xx register reference, US_CMN_INST to US_FC_ADDR; CTM Guide pp. 23-38 for what the fields mean. Fields whose
name starts with `reserved` have no meaning and are written as 0.
"""

from collections.abc import Mapping

from amaranth.lib import data

from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_WORDS
from ctm.rtl.isa.r5xx.opcodes import (
    AddressOperation,
    AlphaOperation,
    BranchOperation,
    Channel,
    FlowOperation,
    InputModifier,
    InstructionType,
    OutputModifier,
    PredicateSelect,
    Presubtract,
    RgbOperation,
    Select,
    Swizzle,
    TextureOperation,
    ZeroTest,
)

INSTRUCTION = data.ArrayLayout(WORD_BITS, INSTRUCTION_WORDS)
"""An instruction's words, word 0 first."""

COMMON = data.StructLayout(
    {
        "type": InstructionType,
        "tex_sem_wait": 1,
        "rgb_pred_sel": PredicateSelect,
        "rgb_pred_inv": 1,
        "write_inactive": 1,
        "last": 1,
        "nop": 1,
        "alu_wait": 1,
        "rgb_wmask": 3,
        "alpha_wmask": 1,
        "rgb_omask": 3,
        "alpha_omask": 1,
        "rgb_clamp": 1,
        "alpha_clamp": 1,
        "alu_result_sel": 1,
        "alpha_pred_inv": 1,
        "alu_result_op": ZeroTest,
        "alpha_pred_sel": PredicateSelect,
        "stat_we": 4,
    }
)
"""US_CMN_INST, word 0 of every instruction. `alu_result_sel`: 0 red, 1 alpha."""


def _source_addresses() -> data.StructLayout:
    fields: dict[str, object] = {}
    for source in range(3):
        fields |= {f"addr{source}": 8, f"addr{source}_const": 1, f"addr{source}_rel": 1}
    return data.StructLayout({**fields, "srcp_op": Presubtract})


RGB_ADDR = _source_addresses()
"""US_ALU_RGB_ADDR, word 1 of ALU and OUTPUT."""
ALPHA_ADDR = _source_addresses()
"""US_ALU_ALPHA_ADDR, word 2 of ALU and OUTPUT."""


def _rgb_operand(operand: str, prefix: str = "") -> Mapping[str, object]:
    return {
        f"{prefix}sel_{operand}": Select,
        f"red_swiz_{operand}": Swizzle,
        f"green_swiz_{operand}": Swizzle,
        f"blue_swiz_{operand}": Swizzle,
        f"{prefix}mod_{operand}": InputModifier,
    }


def _alpha_operand(operand: str, prefix: str = "") -> Mapping[str, object]:
    return {
        f"{prefix}sel_{operand}": Select,
        f"{prefix}swiz_{operand}": Swizzle,
        f"{prefix}mod_{operand}": InputModifier,
    }


RGB_INST = data.StructLayout(
    {
        **_rgb_operand("a"),
        **_rgb_operand("b"),
        "omod": OutputModifier,
        "target": 2,
        "alu_wmask": 1,
    }
)
"""US_ALU_RGB_INST, word 3. `target`: an OUTPUT's register, an ALU's `ZeroTest`, a UMRT write's `UmrtTarget`."""

ALPHA_INST = data.StructLayout(
    {
        "op": AlphaOperation,
        "addrd": 7,
        "addrd_rel": 1,
        **_alpha_operand("a"),
        **_alpha_operand("b"),
        "omod": OutputModifier,
        "target": 2,
        "w_omask": 1,
    }
)
"""US_ALU_ALPHA_INST, word 4. `w_omask`: an OUTPUT sets the conditional value to the alpha result."""

RGBA_INST = data.StructLayout(
    {
        "rgb_op": RgbOperation,
        "rgb_addrd": 7,
        "rgb_addrd_rel": 1,
        **_rgb_operand("c", "rgb_"),
        **_alpha_operand("c", "alpha_"),
    }
)
"""US_ALU_RGBA_INST, word 5."""

TEX_INST = data.StructLayout(
    {
        "reserved_low": 16,
        "tex_id": 4,
        "reserved_middle": 2,
        "inst": TextureOperation,
        "tex_sem_acquire": 1,
        "ignore_uncovered": 1,
        "unscaled": 1,
        "reserved_high": 4,
    }
)
"""US_TEX_INST, word 1 of TEX."""

TEX_ADDR = data.StructLayout(
    {
        "src_addr": 7,
        "src_addr_rel": 1,
        **{f"src_{coordinate}_swiz": Channel for coordinate in "strq"},
        "dst_addr": 7,
        "dst_addr_rel": 1,
        **{f"dst_{channel}_swiz": Channel for channel in "rgba"},
    }
)
"""US_TEX_ADDR, word 2 of TEX."""

TEX_ADDR_DXDY = data.StructLayout(
    {
        "dx_addr": 7,
        "dx_addr_rel": 1,
        **{f"dx_{coordinate}_swiz": Channel for coordinate in "strq"},
        "dy_addr": 7,
        "dy_addr_rel": 1,
        **{f"dy_{coordinate}_swiz": Channel for coordinate in "strq"},
    }
)
"""US_TEX_ADDR_DXDY, word 3 of TEX."""

FC_INST = data.StructLayout(
    {
        "op": FlowOperation,
        "reserved_low": 1,
        "b_else": 1,
        "jump_any": 1,
        "a_op": AddressOperation,
        "jump_func": 8,
        "b_pop_cnt": 5,
        "reserved_middle": 3,
        "b_op0": BranchOperation,
        "b_op1": BranchOperation,
        "ignore_uncovered": 1,
        "reserved_high": 3,
    }
)
"""US_FC_INST, word 2 of FC. `jump_func`: see `JumpFunction`."""

FC_ADDR = data.StructLayout(
    {
        "bool_addr": 5,
        "reserved_low": 3,
        "int_addr": 5,
        "reserved_middle": 3,
        "jump_addr": 9,
        "reserved_high": 6,
        "jump_global": 1,
    }
)
"""US_FC_ADDR, word 3 of FC."""

UNUSED = data.StructLayout({"reserved": 32})

WORDS: Mapping[InstructionType, tuple[data.StructLayout, ...]] = {
    InstructionType.ALU: (COMMON, RGB_ADDR, ALPHA_ADDR, RGB_INST, ALPHA_INST, RGBA_INST),
    InstructionType.OUTPUT: (COMMON, RGB_ADDR, ALPHA_ADDR, RGB_INST, ALPHA_INST, RGBA_INST),
    InstructionType.FC: (COMMON, UNUSED, FC_INST, FC_ADDR, UNUSED, UNUSED),
    InstructionType.TEX: (COMMON, TEX_INST, TEX_ADDR, TEX_ADDR_DXDY, UNUSED, UNUSED),
}
"""The six layouts of each instruction type, word 0 first."""

ADDRESS_INLINE = 0x80
"""Set in a source address without CONST: the lower seven bits are an inline constant's code."""


def inline_constant(code: int) -> float:
    """The value of inline constant `code` (0..127): unsigned, 4-bit exponent, 3-bit mantissa, denormals.

    Source: R5xx register reference, US_ALU_RGB_ADDR.
    """
    exponent, mantissa = code >> 3, code & 7
    return mantissa * 2.0**-9 if exponent == 0 else (8 + mantissa) * 2.0 ** (exponent - 10)
