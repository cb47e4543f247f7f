"""ALU words: the instructions of ALU clauses, and the codes in them.

Source: R700-Family Instruction Set Architecture, ALU_DWORD0 to ALU_DWORD1_OP3; numbers confirmed by Mesa and LLVM.
"""

from amaranth.lib import data, enum

from ctm.rtl.isa.r700.limits import KCACHE_SET_ROWS


class Op2(enum.Enum, shape=11):
    """ALU_INST of instructions with up to two operands."""

    ADD = 0x00
    MUL = 0x01
    MUL_IEEE = 0x02
    MAX = 0x03
    MIN = 0x04
    MAX_DX10 = 0x05
    MIN_DX10 = 0x06
    FREXP_64 = 0x07
    SETE = 0x08
    SETGT = 0x09
    SETGE = 0x0A
    SETNE = 0x0B
    SETE_DX10 = 0x0C
    SETGT_DX10 = 0x0D
    SETGE_DX10 = 0x0E
    SETNE_DX10 = 0x0F
    FRACT = 0x10
    TRUNC = 0x11
    CEIL = 0x12
    RNDNE = 0x13
    FLOOR = 0x14
    MOVA = 0x15
    MOVA_FLOOR = 0x16
    ADD_64 = 0x17
    MOVA_INT = 0x18
    MOV = 0x19
    NOP = 0x1A
    MUL_64 = 0x1B
    FLT64_TO_FLT32 = 0x1C
    FLT32_TO_FLT64 = 0x1D
    PRED_SETGT_UINT = 0x1E
    PRED_SETGE_UINT = 0x1F
    PRED_SETE = 0x20
    PRED_SETGT = 0x21
    PRED_SETGE = 0x22
    PRED_SETNE = 0x23
    PRED_SET_INV = 0x24
    PRED_SET_POP = 0x25
    PRED_SET_CLR = 0x26
    PRED_SET_RESTORE = 0x27
    PRED_SETE_PUSH = 0x28
    PRED_SETGT_PUSH = 0x29
    PRED_SETGE_PUSH = 0x2A
    PRED_SETNE_PUSH = 0x2B
    KILLE = 0x2C
    KILLGT = 0x2D
    KILLGE = 0x2E
    KILLNE = 0x2F
    AND_INT = 0x30
    OR_INT = 0x31
    XOR_INT = 0x32
    NOT_INT = 0x33
    ADD_INT = 0x34
    SUB_INT = 0x35
    MAX_INT = 0x36
    MIN_INT = 0x37
    MAX_UINT = 0x38
    MIN_UINT = 0x39
    SETE_INT = 0x3A
    SETGT_INT = 0x3B
    SETGE_INT = 0x3C
    SETNE_INT = 0x3D
    SETGT_UINT = 0x3E
    SETGE_UINT = 0x3F
    KILLGT_UINT = 0x40
    KILLGE_UINT = 0x41
    PRED_SETE_INT = 0x42
    PRED_SETGT_INT = 0x43
    PRED_SETGE_INT = 0x44
    PRED_SETNE_INT = 0x45
    KILLE_INT = 0x46
    KILLGT_INT = 0x47
    KILLGE_INT = 0x48
    KILLNE_INT = 0x49
    PRED_SETE_PUSH_INT = 0x4A
    PRED_SETGT_PUSH_INT = 0x4B
    PRED_SETGE_PUSH_INT = 0x4C
    PRED_SETNE_PUSH_INT = 0x4D
    PRED_SETLT_PUSH_INT = 0x4E
    PRED_SETLE_PUSH_INT = 0x4F
    DOT4 = 0x50
    DOT4_IEEE = 0x51
    CUBE = 0x52
    MAX4 = 0x53
    MOVA_GPR_INT = 0x60
    EXP_IEEE = 0x61
    LOG_CLAMPED = 0x62
    LOG_IEEE = 0x63
    RECIP_CLAMPED = 0x64
    RECIP_FF = 0x65
    RECIP_IEEE = 0x66
    RECIPSQRT_CLAMPED = 0x67
    RECIPSQRT_FF = 0x68
    RECIPSQRT_IEEE = 0x69
    SQRT_IEEE = 0x6A
    FLT_TO_INT = 0x6B
    INT_TO_FLT = 0x6C
    UINT_TO_FLT = 0x6D
    SIN = 0x6E
    COS = 0x6F
    ASHR_INT = 0x70
    LSHR_INT = 0x71
    LSHL_INT = 0x72
    MULLO_INT = 0x73
    MULHI_INT = 0x74
    MULLO_UINT = 0x75
    MULHI_UINT = 0x76
    RECIP_INT = 0x77
    RECIP_UINT = 0x78
    FLT_TO_UINT = 0x79
    LDEXP_64 = 0x7A
    FRACT_64 = 0x7B
    PRED_SETGT_64 = 0x7C
    PRED_SETE_64 = 0x7D
    PRED_SETGE_64 = 0x7E


class Op3(enum.Enum, shape=5):
    """ALU_INST of instructions with three operands."""

    MULADD_64 = 0x08
    MULADD_64_M2 = 0x09
    MULADD_64_M4 = 0x0A
    MULADD_64_D2 = 0x0B
    MUL_LIT = 0x0C
    MUL_LIT_M2 = 0x0D
    MUL_LIT_M4 = 0x0E
    MUL_LIT_D2 = 0x0F
    MULADD = 0x10
    MULADD_M2 = 0x11
    MULADD_M4 = 0x12
    MULADD_D2 = 0x13
    MULADD_IEEE = 0x14
    MULADD_IEEE_M2 = 0x15
    MULADD_IEEE_M4 = 0x16
    MULADD_IEEE_D2 = 0x17
    CNDE = 0x18
    CNDGT = 0x19
    CNDGE = 0x1A
    CNDE_INT = 0x1C
    CNDGT_INT = 0x1D
    CNDGE_INT = 0x1E


class IndexMode(enum.Enum, shape=3):
    """Index that a relative operand adds to its number; the last two are not supported."""

    AR_X = 0
    AR_Y = 1
    AR_Z = 2
    AR_W = 3
    LOOP = 4
    GLOBAL = 5
    GLOBAL_AR_X = 6


class PredicateSelect(enum.Enum, shape=2):
    """Pixels in which an instruction has an effect: all, those with predicate 0, those with predicate 1."""

    OFF = 0
    ZERO = 2
    ONE = 3


class OutputModifier(enum.Enum, shape=2):
    """OMOD: factor of a float result, applied before the clamp."""

    OFF = 0
    MUL_2 = 1
    MUL_4 = 2
    DIV_2 = 3


class VectorSwizzle(enum.Enum, shape=3):
    """BANK_SWIZZLE of the slots x to w: the cycles in which operands 0, 1 and 2 are read."""

    VEC_012 = 0
    VEC_021 = 1
    VEC_120 = 2
    VEC_102 = 3
    VEC_201 = 4
    VEC_210 = 5


class TransSwizzle(enum.Enum, shape=3):
    """BANK_SWIZZLE of slot t."""

    SCL_210 = 0
    SCL_122 = 1
    SCL_212 = 2
    SCL_221 = 3


KCACHE_0 = 128
KCACHE_1 = KCACHE_0 + KCACHE_SET_ROWS
"""SRC_SEL of the first row of each kcache set; below are general-purpose registers."""
KCACHE_END = KCACHE_1 + KCACHE_SET_ROWS
LITERAL = 253
PREVIOUS_VECTOR = 254
PREVIOUS_SCALAR = 255
CONSTANT_FILE = 256
"""SRC_SEL of the constant file, which a machine with kcaches does not have, and all above it."""

INLINE_CONSTANTS = {
    244: ("1_DBL_L", 0x00000000),
    245: ("1_DBL_M", 0x3FF00000),
    246: ("0_5_DBL_L", 0x00000000),
    247: ("0_5_DBL_M", 0x3FE00000),
    248: ("0", 0x00000000),
    249: ("1.0", 0x3F800000),
    250: ("1_INT", 0x00000001),
    251: ("M_1_INT", 0xFFFFFFFF),
    252: ("0.5", 0x3F000000),
}
"""SRC_SEL of constants in the word itself: the name and the value of each."""


def _source(number: int) -> dict[str, int]:
    return {f"src{number}_sel": 9, f"src{number}_rel": 1, f"src{number}_chan": 2, f"src{number}_neg": 1}


ALU_DWORD0 = data.StructLayout(
    {**_source(0), **_source(1), "index_mode": IndexMode, "pred_sel": PredicateSelect, "last": 1}
)

_DESTINATION = {"dst_gpr": 7, "dst_rel": 1, "dst_chan": 2, "clamp": 1}

ALU_DWORD1_OP2 = data.StructLayout(
    {
        "src0_abs": 1,
        "src1_abs": 1,
        "update_execute_mask": 1,
        "update_pred": 1,
        "write_mask": 1,
        "omod": OutputModifier,
        "alu_inst": Op2,
        "bank_swizzle": 3,
        **_DESTINATION,
    }
)
"""ALU_DWORD1_OP2_V2. `bank_swizzle`: `VectorSwizzle`, in slot t `TransSwizzle`."""

ALU_DWORD1_OP3 = data.StructLayout({**_source(2), "alu_inst": Op3, "bank_swizzle": 3, **_DESTINATION})

ENCODING = data.StructLayout({"operands": 15, "op3": 3, "upper": 14})
"""The second word has three operands if `op3` is not 0."""
