"""Results of single slots worked by hand, in literal words: they hold for the arrays and for the specification."""

import pytest

from ctm.sim.golden.r700 import formulas
from ctm.tb.golden.r700 import scalar
from ctm.tb.lib.words import bits, floats, show

INF, MINUS_INF = 0x7F800000, 0xFF800000
NAN, PAYLOAD, MINUS_NAN = 0x7FFFFFFF, 0x7F812345, 0xFFC00001
ZERO, MINUS_ZERO = 0x00000000, 0x80000000
HALF, ONE, TWO, THREE, SIX = 0x3F000000, 0x3F800000, 0x40000000, 0x40400000, 0x40C00000
MINUS_HALF, MINUS_ONE, MINUS_TWO = 0xBF000000, 0xBF800000, 0xC0000000
LARGEST, MINUS_LARGEST, SMALLEST = 0x7F7FFFFF, 0xFF7FFFFF, 0x00800000
DENORMAL, MINUS_DENORMAL = 0x00000001, 0x807FFFFF
ALL = 0xFFFFFFFF

ARITHMETIC = [
    ("ADD", [ONE, TWO], THREE),
    ("ADD", [MINUS_ZERO, MINUS_ZERO], MINUS_ZERO),
    ("ADD", [MINUS_DENORMAL, MINUS_ZERO], MINUS_ZERO),
    ("ADD", [ONE, MINUS_ONE], ZERO),
    ("ADD", [ONE, 0x33800000], ONE),  # 1 + 2^-24: a tie, to the even 1
    ("ADD", [0x00800001, 0x80800000], ZERO),  # 2^-149 is denormal
    ("ADD", [INF, MINUS_INF], NAN),
    ("ADD", [PAYLOAD, ONE], NAN),
    ("MUL", [ZERO, INF], ZERO),
    ("MUL", [MINUS_NAN, ZERO], MINUS_ZERO),
    ("MUL", [DENORMAL, NAN], ZERO),
    ("MUL", [INF, MINUS_TWO], MINUS_INF),
    ("MUL_IEEE", [ZERO, INF], NAN),
    ("MUL_IEEE", [MINUS_DENORMAL, ONE], MINUS_ZERO),
    ("MUL_IEEE", [LARGEST, TWO], INF),
    # 31 * 2^-20 times 1082401 * 2^-131 is 2^-126 - 2^-151, the tie between 24 bits and 2^-126.
    ("MUL_IEEE", [0x37F80000, 0x08042108], SMALLEST),
    ("MUL_IEEE", [0x37F80000, 0x08042107], ZERO),
    ("MUL_IEEE", [0x80FFFFFF, HALF], MINUS_ZERO),  # -(2^-126 - 2^-150), which IEEE rounds to -2^-126
    ("MULADD", [TWO, THREE, ONE], 0x40E00000),
    # (1 + 2^-12)^2 - 1: the product is a tie and loses its 2^-24.
    ("MULADD", [0x3F800800, 0x3F800800, MINUS_ONE], 0x3A000000),
    ("MULADD", [LARGEST, TWO, MINUS_LARGEST], INF),  # the product overflows by itself
    ("MULADD", [LARGEST, TWO, MINUS_INF], NAN),
    ("MULADD", [SMALLEST, HALF, SMALLEST], SMALLEST),  # and is a zero by itself
    ("MULADD", [0x80800000, HALF, MINUS_ZERO], MINUS_ZERO),
    ("MULADD", [ZERO, INF, ONE], ONE),
    ("MULADD", [ZERO, MINUS_NAN, MINUS_ZERO], MINUS_ZERO),
    ("MULADD", [ZERO, INF, PAYLOAD], NAN),
    ("MULADD_IEEE", [ZERO, INF, ONE], NAN),
    ("MULADD_IEEE", [TWO, THREE, MINUS_TWO], 0x40800000),
    ("MULADD_M2", [TWO, THREE, MINUS_TWO], 0x41000000),
    ("MULADD_M4", [TWO, THREE, MINUS_TWO], 0x41800000),
    ("MULADD_D2", [TWO, THREE, MINUS_TWO], TWO),
    # The sum is a result already: too large or too small, scaling does not bring it back.
    ("MULADD_IEEE_D2", [LARGEST, ONE, LARGEST], INF),
    ("MULADD_IEEE_M4", [0x00C00000, ONE, 0x80800000], ZERO),
    ("MULADD_IEEE_D2", [SMALLEST, ONE, ZERO], ZERO),
    ("MULADD_IEEE_M2", [LARGEST, MINUS_ONE, ZERO], MINUS_INF),
    ("MUL_LIT", [TWO, THREE, ONE], SIX),
    ("MUL_LIT", [TWO, INF, ONE], INF),
    ("MUL_LIT", [ZERO, INF, ONE], ZERO),
    ("MUL_LIT", [TWO, MINUS_LARGEST, ONE], MINUS_LARGEST),
    ("MUL_LIT", [TWO, 0xFF7FFFFE, ONE], MINUS_INF),
    ("MUL_LIT", [TWO, MINUS_INF, ONE], MINUS_LARGEST),
    ("MUL_LIT", [TWO, PAYLOAD, ONE], MINUS_LARGEST),
    ("MUL_LIT", [TWO, THREE, ZERO], MINUS_LARGEST),
    ("MUL_LIT", [TWO, THREE, DENORMAL], MINUS_LARGEST),
    ("MUL_LIT", [TWO, THREE, MINUS_ONE], MINUS_LARGEST),
    ("MUL_LIT", [TWO, THREE, NAN], MINUS_LARGEST),
    ("MUL_LIT_M4", [TWO, THREE, ONE], 0x41C00000),
    ("MUL_LIT_M2", [TWO, THREE, ZERO], MINUS_INF),
    ("MUL_LIT_D2", [TWO, THREE, ZERO], 0xFEFFFFFF),
    ("FRACT", [0xBE800000], 0x3F400000),  # -0.25 - -1
    ("FRACT", [0xB3000000], 0x3F7FFFFF),  # 1 - 2^-25, towards zero
    ("FRACT", [MINUS_ZERO], ZERO),
    ("FRACT", [INF], NAN),
    ("TRUNC", [0xBFC00000], MINUS_ONE),
    ("TRUNC", [MINUS_HALF], MINUS_ZERO),
    ("CEIL", [MINUS_HALF], MINUS_ZERO),
    ("CEIL", [0x3F000001], ONE),
    ("CEIL", [DENORMAL], ZERO),
    ("RNDNE", [HALF], ZERO),
    ("RNDNE", [MINUS_HALF], MINUS_ZERO),
    ("RNDNE", [0x3FC00000], TWO),
    ("RNDNE", [0x40200000], TWO),  # 2.5
    ("RNDNE", [0x3EFFFFFF], ZERO),  # just below 0.5, to which adding 0.5 would give 1
    ("FLOOR", [MINUS_HALF], MINUS_ONE),
    ("FLOOR", [MINUS_DENORMAL], MINUS_ZERO),
    ("FLOOR", [MINUS_INF], MINUS_INF),
    ("FLOOR", [0xCB000001], 0xCB000001),
    ("FLOOR", [PAYLOAD], NAN),
]

SELECTION = [
    ("NOP", [], ZERO),
    ("MOV", [PAYLOAD], PAYLOAD),
    ("MOV", [MINUS_DENORMAL], MINUS_DENORMAL),
    ("MOVA", [PAYLOAD], PAYLOAD),
    ("MOVA_FLOOR", [0x3FC00000], 0x3FC00000),
    ("MOVA_INT", [3], 3),
    ("MAX", [ONE, TWO], TWO),
    ("MAX", [ZERO, MINUS_ZERO], ZERO),
    ("MAX", [MINUS_ZERO, ZERO], MINUS_ZERO),
    ("MAX", [MINUS_DENORMAL, ZERO], MINUS_DENORMAL),
    ("MAX", [PAYLOAD, ONE], ONE),
    ("MAX", [ONE, PAYLOAD], PAYLOAD),
    ("MIN", [ONE, TWO], ONE),
    ("MIN", [ZERO, MINUS_ZERO], MINUS_ZERO),
    ("MIN", [MINUS_ZERO, DENORMAL], DENORMAL),
    ("MIN", [PAYLOAD, ONE], ONE),
    ("MIN", [ONE, PAYLOAD], PAYLOAD),
    ("MAX_DX10", [PAYLOAD, MINUS_INF], MINUS_INF),
    ("MAX_DX10", [MINUS_INF, PAYLOAD], MINUS_INF),
    ("MAX_DX10", [NAN, MINUS_NAN], MINUS_NAN),
    ("MAX_DX10", [MINUS_ZERO, ZERO], MINUS_ZERO),
    ("MIN_DX10", [INF, PAYLOAD], INF),
    ("MIN_DX10", [MINUS_NAN, INF], INF),
    ("MIN_DX10", [MINUS_NAN, PAYLOAD], PAYLOAD),
    ("MIN_DX10", [ZERO, MINUS_ZERO], MINUS_ZERO),
    ("SETE", [DENORMAL, MINUS_ZERO], ONE),
    ("SETE", [NAN, NAN], ZERO),
    ("SETNE", [NAN, NAN], ONE),
    ("SETGT", [DENORMAL, ZERO], ZERO),
    ("SETGT", [MINUS_ONE, MINUS_TWO], ONE),
    ("SETGE", [MINUS_ZERO, ZERO], ONE),
    ("SETGE", [ONE, NAN], ZERO),
    ("SETGE_DX10", [ONE, ONE], ALL),
    ("SETNE_DX10", [ONE, PAYLOAD], ALL),
    ("SETGT_DX10", [INF, LARGEST], ALL),
    ("SETE_DX10", [ONE, TWO], 0),
    ("SETE_INT", [ZERO, MINUS_ZERO], 0),
    ("SETGT_INT", [1, ALL], ALL),
    ("SETGT_UINT", [1, ALL], 0),
    ("SETGE_UINT", [ALL, 1], ALL),
    ("SETGE_INT", [0x80000000, 0x7FFFFFFF], 0),
    ("SETNE_INT", [PAYLOAD, PAYLOAD], 0),
    ("CNDE", [MINUS_DENORMAL, PAYLOAD, TWO], PAYLOAD),
    ("CNDE", [NAN, ONE, TWO], TWO),
    ("CNDGT", [DENORMAL, ONE, MINUS_DENORMAL], MINUS_DENORMAL),
    ("CNDGT", [SMALLEST, ONE, TWO], ONE),
    ("CNDGE", [MINUS_DENORMAL, ONE, TWO], ONE),
    ("CNDGE", [MINUS_NAN, ONE, TWO], TWO),
    ("CNDE_INT", [MINUS_ZERO, ONE, TWO], TWO),
    ("CNDGT_INT", [DENORMAL, ONE, TWO], ONE),
    ("CNDGE_INT", [MINUS_NAN, ONE, TWO], TWO),
]

INTEGER = [
    ("AND_INT", [PAYLOAD, 0xFF800000], INF),
    ("OR_INT", [INF, 1], 0x7F800001),
    ("XOR_INT", [ALL, NAN], 0x80000000),
    ("NOT_INT", [0x80000000], NAN),
    ("ADD_INT", [ALL, 2], 1),
    ("SUB_INT", [1, 2], ALL),
    ("MAX_INT", [ALL, 1], 1),
    ("MAX_UINT", [ALL, 1], ALL),
    ("MIN_INT", [0x80000000, 0x7FFFFFFF], 0x80000000),
    ("MIN_UINT", [0x80000000, 0x7FFFFFFF], 0x7FFFFFFF),
    ("ASHR_INT", [0x80000000, 31], ALL),
    ("ASHR_INT", [0x80000000, 32], ALL),
    ("ASHR_INT", [0x7FFFFFFF, ALL], 0),
    ("LSHR_INT", [0x80000000, 31], 1),
    ("LSHR_INT", [ALL, 32], 0),
    ("LSHL_INT", [3, 31], 0x80000000),
    ("LSHL_INT", [ALL, 0x80000000], 0),
    ("MULLO_INT", [ALL, ALL], 1),
    ("MULLO_UINT", [0x10001, 0x10001], 0x00020001),
    ("MULHI_INT", [ALL, 2], ALL),
    ("MULHI_INT", [0x80000000, 0x80000000], 0x40000000),
    ("MULHI_UINT", [ALL, 2], 1),
    ("MULHI_UINT", [ALL, ALL], 0xFFFFFFFE),
    ("RECIP_UINT", [0], ALL),
    ("RECIP_UINT", [1], ALL),
    ("RECIP_UINT", [2], 0x80000000),
    ("RECIP_UINT", [3], 0x55555555),
    ("RECIP_UINT", [0x80000000], 2),
    ("RECIP_UINT", [0x80000001], 1),
    ("RECIP_UINT", [ALL], 1),
    ("RECIP_INT", [0], 0x7FFFFFFF),
    ("RECIP_INT", [1], 0x7FFFFFFF),
    ("RECIP_INT", [2], 0x7FFFFFFF),
    ("RECIP_INT", [3], 0x55555555),
    ("RECIP_INT", [ALL], 0x80000000),
    ("RECIP_INT", [0xFFFFFFFE], 0x80000000),
    ("RECIP_INT", [0xFFFFFFFD], 0xAAAAAAAB),
    ("RECIP_INT", [0x7FFFFFFF], 2),
    ("RECIP_INT", [0x80000000], 0xFFFFFFFE),
]

CONVERSION = [
    ("FLT_TO_INT", [0xBFF33333], ALL),  # -1.9
    ("FLT_TO_INT", [0x4EFFFFFF], 0x7FFFFF80),
    ("FLT_TO_INT", [0x4F000000], 0x7FFFFFFF),
    ("FLT_TO_INT", [0xCF000000], 0x80000000),
    ("FLT_TO_INT", [MINUS_INF], 0x80000000),
    ("FLT_TO_INT", [MINUS_NAN], 0),
    ("FLT_TO_INT", [DENORMAL], 0),
    ("FLT_TO_UINT", [0x4F7FFFFF], 0xFFFFFF00),
    ("FLT_TO_UINT", [0x4F800000], ALL),
    ("FLT_TO_UINT", [MINUS_ONE], 0),
    ("FLT_TO_UINT", [MINUS_INF], 0),
    ("FLT_TO_UINT", [PAYLOAD], 0),
    ("FLT_TO_UINT", [0x3F7FFFFF], 0),
    ("INT_TO_FLT", [ALL], MINUS_ONE),
    ("INT_TO_FLT", [0x01000001], 0x4B800000),  # 2^24 + 1: a tie, to even
    ("INT_TO_FLT", [0x01000003], 0x4B800002),
    ("INT_TO_FLT", [0x7FFFFFBF], 0x4EFFFFFF),
    ("INT_TO_FLT", [0x7FFFFFC0], 0x4F000000),
    ("INT_TO_FLT", [0x80000000], 0xCF000000),
    ("INT_TO_FLT", [0xFEFFFFFF], 0xCB800000),
    ("UINT_TO_FLT", [0x80000000], 0x4F000000),
    ("UINT_TO_FLT", [0xFFFFFF7F], 0x4F7FFFFF),
    ("UINT_TO_FLT", [0xFFFFFF80], 0x4F800000),
    ("UINT_TO_FLT", [0x00800000], 0x4B000000),
]

TRANSCENDENTAL = [
    ("EXP_IEEE", [MINUS_ZERO], ONE),
    ("EXP_IEEE", [THREE], 0x41000000),
    ("EXP_IEEE", [0xC2FC0000], SMALLEST),  # 2^-126
    ("EXP_IEEE", [0xC2FE0000], ZERO),
    ("LOG_IEEE", [0x41000000], THREE),
    ("LOG_IEEE", [ONE], ZERO),
    ("LOG_IEEE", [DENORMAL], MINUS_INF),
    ("LOG_IEEE", [MINUS_ONE], NAN),
    ("LOG_CLAMPED", [MINUS_ZERO], MINUS_LARGEST),
    ("LOG_CLAMPED", [INF], LARGEST),
    ("LOG_CLAMPED", [TWO], ONE),
    ("RECIP_IEEE", [MINUS_ZERO], MINUS_INF),
    ("RECIP_IEEE", [MINUS_TWO], MINUS_HALF),
    ("RECIP_CLAMPED", [MINUS_DENORMAL], MINUS_LARGEST),
    ("RECIP_CLAMPED", [MINUS_INF], MINUS_ZERO),
    ("RECIP_FF", [MINUS_ZERO], MINUS_ZERO),
    ("RECIP_FF", [ZERO], ZERO),
    ("RECIP_FF", [PAYLOAD], NAN),
    ("RECIPSQRT_IEEE", [0x40800000], HALF),
    ("RECIPSQRT_IEEE", [MINUS_ZERO], INF),
    ("RECIPSQRT_CLAMPED", [MINUS_ZERO], LARGEST),
    ("RECIPSQRT_FF", [MINUS_ZERO], ZERO),
    ("RECIPSQRT_FF", [MINUS_ONE], NAN),
    ("SQRT_IEEE", [0x40800000], TWO),
    ("SQRT_IEEE", [SMALLEST], 0x20000000),  # 2^-126, an even power of two
    ("SQRT_IEEE", [TWO], 0x3FB504F3),
    ("SQRT_IEEE", [MINUS_ZERO], MINUS_ZERO),
    ("SQRT_IEEE", [MINUS_DENORMAL], MINUS_ZERO),
    ("SQRT_IEEE", [INF], INF),
    ("SQRT_IEEE", [MINUS_INF], NAN),
    ("SQRT_IEEE", [MINUS_ONE], NAN),
    ("SIN", [0x3E800000], ONE),  # a quarter of a revolution
    ("SIN", [MINUS_HALF], MINUS_ZERO),
    ("COS", [HALF], MINUS_ONE),
    ("COS", [0x3E800000], ZERO),
    ("COS", [INF], NAN),
]


@pytest.mark.parametrize(
    ("name", "operands", "expected"), ARITHMETIC + SELECTION + INTEGER + CONVERSION + TRANSCENDENTAL
)
def test_values(name, operands, expected):
    from_arrays = int(bits(formulas.VALUES[name](*(floats([word]) for word in operands)))[0])
    from_scalar = scalar.VALUES[name](*operands)
    assert from_arrays == expected, f"arrays give {show(from_arrays)}, not {show(expected)}"
    assert from_scalar == expected, f"scalar gives {show(from_scalar)}, not {show(expected)}"
