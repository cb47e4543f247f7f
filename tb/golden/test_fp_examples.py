"""Examples worked by hand, in literal words: they hold for the array arithmetic and for the scalar specification."""

import numpy as np
import pytest

from ctm.sim.golden import fp
from ctm.tb.golden import scalar
from ctm.tb.lib.words import bits, floats, show

INF, NEGATIVE_INF = 0x7F800000, 0xFF800000
NAN, QUIET, NEGATIVE_NAN = 0x7FFFFFFF, 0x7FC00000, 0xFF812345
ZERO, MINUS_ZERO = 0x00000000, 0x80000000
ONE, TWO, THREE, HALF, MINUS_ONE, MINUS_TWO = 0x3F800000, 0x40000000, 0x40400000, 0x3F000000, 0xBF800000, 0xC0000000
LARGEST, SMALLEST = 0x7F7FFFFF, 0x00800000
DENORMAL, MINUS_DENORMAL = 0x007FFFFF, 0x807FFFFF


def word(result: np.ndarray) -> int:
    return int(bits(result)[0])


def one(value: int) -> np.ndarray:
    return floats([value])


def same(expected: int, from_arrays: int, from_scalar: int) -> None:
    assert from_arrays == expected, f"arrays give {show(from_arrays)}, not {show(expected)}"
    assert from_scalar == expected, f"scalar gives {show(from_scalar)}, not {show(expected)}"


@pytest.mark.parametrize(
    ("a", "b", "c", "zero_rule", "expected"),
    [
        (TWO, THREE, ONE, False, 0x40E00000),  # 2 * 3 + 1 = 7
        # (1 + 2^-12)^2 - 1 = 2^-11 + 2^-24: a product rounded by itself would lose the last term.
        (0x3F800800, 0x3F800800, MINUS_ONE, False, 0x3A000400),
        # 1 + 2^-24 is a tie and goes to the even 1; the next larger product does not.
        (0x33800000, ONE, ONE, False, ONE),
        (0x33800001, ONE, ONE, False, 0x3F800001),
        # (1 + 2^-23) + 2^-24: a tie that goes up to the even 1 + 2^-22.
        (0x33800000, ONE, 0x3F800001, False, 0x3F800002),
        # The tie 4097 * 4097 = 2^24 + 2^13 + 1, alone and with 2^-60 above and below it.
        (0x45800800, 0x45800800, ZERO, False, 0x4B801000),
        (0x45800800, 0x45800800, 0x21800000, False, 0x4B801001),
        (0x45800800, 0x45800800, 0xA1800000, False, 0x4B801000),
        # Zeros: +0 unless both addends are -0.
        (ONE, ONE, MINUS_ONE, False, ZERO),
        (MINUS_ZERO, ONE, MINUS_ZERO, False, MINUS_ZERO),
        (MINUS_ZERO, ONE, ZERO, False, ZERO),
        (ZERO, ONE, MINUS_ZERO, False, ZERO),
        # Denormal operands are zeros of their sign; denormal results too, unless rounding to 24 bits makes them normal.
        (MINUS_DENORMAL, ONE, MINUS_ZERO, False, MINUS_ZERO),
        (DENORMAL, LARGEST, ZERO, False, ZERO),
        (SMALLEST, 0xBF000000, ZERO, False, MINUS_ZERO),
        (SMALLEST, 0x3F7FFFFF, ZERO, False, ZERO),  # 2^-126 (1 - 2^-24) has 24 bits and is denormal
        (0x00FFFFFF, HALF, ZERO, False, ZERO),  # so has and is 2^-126 - 2^-150
        # 31 * 2^-20 times 1082401 * 2^-131 is 2^-126 - 2^-151, the tie between that and 2^-126.
        (0x37F80000, 0x08042108, ZERO, False, SMALLEST),
        (0x37F80000, 0x08042107, ZERO, False, ZERO),
        # Overflow and infinities.
        (LARGEST, TWO, ZERO, False, INF),
        (LARGEST, TWO, 0xFF7FFFFF, False, LARGEST),  # fused: 2 M - M = M
        (LARGEST, ONE, 0x73000000, False, INF),  # M + 2^103, half a unit: a tie, to infinity
        (LARGEST, ONE, 0x72FFFFFF, False, LARGEST),
        (INF, MINUS_TWO, ONE, False, NEGATIVE_INF),
        (INF, ONE, NEGATIVE_INF, False, NAN),
        (INF, ZERO, ONE, False, NAN),
        (DENORMAL, INF, ONE, False, NAN),
        (NEGATIVE_NAN, ONE, ONE, False, NAN),
        (ONE, ONE, QUIET, False, NAN),
        # The zero rule: 0 * anything is 0 with the signs' XOR; a NaN addend is still a NaN.
        (INF, ZERO, ONE, True, ONE),
        (NEGATIVE_NAN, ZERO, MINUS_ZERO, True, MINUS_ZERO),
        (QUIET, ZERO, MINUS_ZERO, True, ZERO),
        (ZERO, INF, QUIET, True, NAN),
        (INF, DENORMAL, THREE, True, THREE),
        (INF, ONE, NEGATIVE_INF, True, NAN),
    ],
)
def test_multiply_add(a, b, c, zero_rule, expected):
    arrays = fp.multiply_add(one(a), one(b), one(c), zero_times_anything=zero_rule)
    same(expected, word(arrays), scalar.multiply_add(a, b, c, zero_rule))


@pytest.mark.parametrize(
    ("operation", "source0", "source1", "expected"),
    [
        (0, 0x3E800000, NAN, HALF),  # 1 - 2 * 0.25
        (0, HALF, NAN, ZERO),
        (0, LARGEST, ONE, NEGATIVE_INF),
        (0, 0x32800000, ONE, ONE),  # 1 - 2^-25: a tie, to the even 1
        (1, ONE, THREE, TWO),
        (1, ZERO, MINUS_ZERO, MINUS_ZERO),  # -0 + -0
        (1, MINUS_ZERO, MINUS_ZERO, ZERO),
        (1, INF, INF, NAN),
        (1, 0x00800001, SMALLEST, MINUS_ZERO),  # -2^-149 is denormal
        (2, ONE, TWO, THREE),
        (2, MINUS_DENORMAL, MINUS_ZERO, MINUS_ZERO),
        (2, NEGATIVE_NAN, ONE, NAN),
        (3, HALF, NAN, HALF),
        (3, 0x33000000, NAN, ONE),  # 1 - 2^-25
        (3, 0x33000001, NAN, 0x3F7FFFFF),
    ],
)
def test_presubtract(operation, source0, source1, expected):
    arrays = fp.presubtract(operation, one(source0), one(source1))
    same(expected, word(arrays), scalar.presubtract(operation, source0, source1))


TWO_TO_24, TWO_TO_25, MINUS_TWO_TO_25 = 0x4B800000, 0x4C000000, 0xCC000000


@pytest.mark.parametrize(
    ("a", "b", "addend", "zero_rule", "expected"),
    [
        ([ONE, TWO, THREE], [ONE, ONE, ONE], None, False, 0x40C00000),
        ([ONE, TWO, THREE, ONE], [ONE, TWO, ONE, TWO], None, False, 0x41200000),
        ([ONE, TWO], [ONE, ONE], THREE, False, 0x40C00000),
        # Page 42: once the two largest have cancelled, a term 2^25 smaller is gone, one 2^24 smaller is not.
        ([TWO_TO_25, MINUS_TWO_TO_25, ONE], [ONE, ONE, ONE], None, False, ZERO),
        ([TWO_TO_25, MINUS_TWO_TO_25, MINUS_ONE], [ONE, ONE, ONE], None, False, ZERO),
        ([TWO_TO_24, 0xCB800000, ONE], [ONE, ONE, ONE], None, False, ONE),
        # One product is truncated at 2^(E - 24), so (1 + 2^-12)^2 (1 + ...) is not a MAD:
        # (1 + 2^-23)(1.5) = 1.5 + 1.5 * 2^-23 -> truncated to 1.5 + 2^-23 + 2^-24, a tie, to even 1.5 + 2^-22.
        ([0x3F800001, ZERO, ZERO], [0x3FC00000, ONE, ONE], None, False, 0x3FC00002),
        # (1 + 2^-23)^2 = 1 + 2^-22 + 2^-46: nothing to lose but the 2^-46.
        ([0x3F800001, ZERO, ZERO], [0x3F800001, ONE, ONE], None, False, 0x3F800002),
        # 4097 * 4097 = 2^24 + 2^13 + 1, E = 24: kept whole, a tie, to even.
        ([0x45800800, ZERO, ZERO], [0x45800800, ONE, ONE], None, False, 0x4B801000),
        # 2^24 + 2^13 + 1 + 2^-1 as a MAD would be past the tie; here the half is below 2^(24 - 24) and goes.
        ([0x45800800, HALF, ZERO], [0x45800800, ONE, ONE], None, False, 0x4B801000),
        # Truncation is towards zero on both sides: 2 - (2^-23 + 2^-24), E = 1, unit 2^-23.
        ([TWO, 0xB4400000, ZERO], [ONE, ONE, ONE], None, False, 0x3FFFFFFF),
        # Three halves of a unit: 2^-24 each below E = 1 are nothing, though they would sum to more than a unit.
        ([TWO, 0x33800000, 0x33800000, 0x33800000], [ONE, ONE, ONE, ONE], None, False, TWO),
        # Products beyond the range of float32 neither overflow nor flush in between.
        ([0x7F000000, 0xFF000000, ONE], [TWO, TWO, ONE], None, False, ZERO),
        ([LARGEST, LARGEST, ONE], [TWO, MINUS_ONE, ZERO], None, False, LARGEST),
        ([SMALLEST, SMALLEST, ZERO], [HALF, HALF, ONE], None, False, SMALLEST),
        ([SMALLEST, ZERO, ZERO], [HALF, ONE, ONE], None, False, ZERO),
        ([0x80800000, ZERO, ZERO], [HALF, ONE, ONE], None, False, MINUS_ZERO),
        ([LARGEST, LARGEST, ZERO], [ONE, ONE, ZERO], None, False, INF),
        # Zeros.
        ([MINUS_ZERO, ZERO, MINUS_ZERO], [ONE, MINUS_ONE, ONE], None, False, MINUS_ZERO),
        ([MINUS_ZERO, ZERO, MINUS_ZERO], [ONE, ONE, ONE], None, False, ZERO),
        ([MINUS_ZERO, MINUS_ZERO], [ONE, ONE], MINUS_DENORMAL, False, MINUS_ZERO),
        ([ONE, MINUS_ONE, MINUS_ZERO], [ONE, ONE, ONE], None, False, ZERO),
        # Infinities and NaNs.
        ([INF, ONE, ONE], [ONE, ONE, ONE], None, False, INF),
        ([INF, INF, ONE], [ONE, MINUS_ONE, ONE], None, False, NAN),
        ([ONE, ONE], [ONE, ONE], NEGATIVE_INF, False, NEGATIVE_INF),
        ([INF, ONE, ONE], [ZERO, ONE, ONE], None, False, NAN),
        ([INF, ONE, ONE], [ZERO, ONE, ONE], None, True, TWO),
        ([NEGATIVE_NAN, ZERO, ZERO], [ZERO, MINUS_ONE, MINUS_ONE], None, True, MINUS_ZERO),
        ([ONE, ONE], [ONE, ONE], NEGATIVE_NAN, True, NAN),
    ],
)
def test_dot(a, b, addend, zero_rule, expected):
    arrays = fp.dot(
        [one(x) for x in a],
        [one(x) for x in b],
        addend=None if addend is None else one(addend),
        zero_times_anything=zero_rule,
    )
    same(expected, word(arrays), scalar.dot(a, b, addend, zero_rule))


def test_one_product_is_not_a_multiply_add():
    # (1 + 2^-23)(1 + 2^-1 + 2^-23) = 1.5 + 2.5 * 2^-23 + 2^-46: a MAD is past the tie, a dot product on it.
    a, b = 0x3F800001, 0x3FC00001
    assert scalar.multiply_add(a, b, ZERO, False) == 0x3FC00003
    arrays = fp.dot([one(a), one(ZERO)], [one(b), one(ONE)], zero_times_anything=False)
    same(0x3FC00002, word(arrays), scalar.dot([a, ZERO], [b, ONE], None, False))


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        ("minimum", ONE, TWO, ONE),
        ("minimum", TWO, ONE, ONE),
        ("minimum", NEGATIVE_INF, ONE, NEGATIVE_INF),
        ("minimum", NEGATIVE_NAN, ONE, ONE),
        ("minimum", ONE, NEGATIVE_NAN, NEGATIVE_NAN),
        ("minimum", MINUS_ZERO, ZERO, ZERO),
        ("minimum", ZERO, MINUS_ZERO, MINUS_ZERO),
        ("minimum", MINUS_DENORMAL, DENORMAL, DENORMAL),
        ("minimum", DENORMAL, ONE, DENORMAL),
        ("maximum", ONE, TWO, TWO),
        ("maximum", QUIET, ONE, ONE),
        ("maximum", ONE, QUIET, QUIET),
        ("maximum", ZERO, MINUS_ZERO, MINUS_ZERO),
        ("maximum", DENORMAL, MINUS_DENORMAL, MINUS_DENORMAL),
        ("maximum", DENORMAL, MINUS_ONE, DENORMAL),
    ],
)
def test_minimum_and_maximum(name, a, b, expected):
    same(expected, word(getattr(fp, name)(one(a), one(b))), getattr(scalar, name)(a, b))


@pytest.mark.parametrize(
    ("name", "c", "expected"),
    [
        ("select_above_half", ONE, NEGATIVE_NAN),
        ("select_above_half", HALF, DENORMAL),
        ("select_above_half", 0x3F000001, NEGATIVE_NAN),
        ("select_above_half", QUIET, DENORMAL),
        ("select_not_negative", ZERO, NEGATIVE_NAN),
        ("select_not_negative", MINUS_ZERO, NEGATIVE_NAN),
        ("select_not_negative", MINUS_DENORMAL, NEGATIVE_NAN),
        ("select_not_negative", 0x80800000, DENORMAL),
        ("select_not_negative", QUIET, DENORMAL),
        ("select_not_negative", INF, NEGATIVE_NAN),
    ],
)
def test_selections_copy_bits(name, c, expected):
    a, b = NEGATIVE_NAN, DENORMAL
    same(expected, word(getattr(fp, name)(one(a), one(b), one(c))), getattr(scalar, name)(a, b, c))


@pytest.mark.parametrize(
    ("a", "expected"),
    [
        (0x3FC00000, HALF),  # 1.5
        (0xBFA00000, 0x3F400000),  # -1.25 -> 0.75
        (ONE, ZERO),
        (MINUS_ZERO, ZERO),
        (MINUS_DENORMAL, ZERO),
        (0x80800000, 0x3F7FFFFF),  # just below a whole one, never 1.0
        (0xB3800000, 0x3F7FFFFF),  # 1 - 2^-24
        (0xB2800000, 0x3F7FFFFF),  # 1 - 2^-26, truncated
        (0xBE800001, 0x3F3FFFFF),  # 0.75 - 2^-25, truncated
        (SMALLEST, SMALLEST),
        (0x4B000001, ZERO),
        (LARGEST, ZERO),
        (INF, NAN),
        (NEGATIVE_INF, NAN),
        (NEGATIVE_NAN, NAN),
    ],
)
def test_fraction(a, expected):
    same(expected, word(fp.fraction(one(a))), scalar.fraction(a))


@pytest.mark.parametrize(
    ("x", "modifier", "expected"),
    [
        (ONE, 1, TWO),
        (ONE, 2, 0x40800000),
        (ONE, 3, 0x41000000),
        (ONE, 4, HALF),
        (ONE, 5, 0x3E800000),
        (ONE, 6, 0x3E000000),
        (LARGEST, 1, INF),
        (0xFE800000, 3, NEGATIVE_INF),
        (0x80FFFFFF, 4, MINUS_ZERO),  # 2^-126 - 2^-150: not rounded up to normal
        (0x01000000, 4, SMALLEST),
        (0x01FFFFFF, 6, ZERO),
        (MINUS_DENORMAL, 0, MINUS_ZERO),
        (DENORMAL, 3, ZERO),  # flushed before it is scaled
        (NEGATIVE_NAN, 0, NAN),
        (QUIET, 6, NAN),
        (NEGATIVE_INF, 6, NEGATIVE_INF),
    ],
)
def test_output_modifier(x, modifier, expected):
    same(expected, word(fp.output_modifier(one(x), modifier)), scalar.output_modifier(x, modifier))


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (NAN, ZERO),
        (0x7F800001, ZERO),
        (MINUS_ONE, ZERO),
        (MINUS_ZERO, ZERO),
        (INF, ONE),
        (NEGATIVE_INF, ZERO),
        (0x3F800001, ONE),
        (HALF, HALF),
    ],
)
def test_clamp(x, expected):
    same(expected, word(fp.clamp(one(x))), scalar.clamp(x))


@pytest.mark.parametrize(
    ("x", "modifier", "expected"),
    [(NEGATIVE_NAN, 0, 0xFF812345), (NEGATIVE_NAN, 1, 0x7F812345), (NEGATIVE_NAN, 2, 0x7F812345), (ONE, 3, MINUS_ONE)],
)
def test_input_modifier(x, modifier, expected):
    same(expected, word(fp.input_modifier(one(x), modifier)), scalar.input_modifier(x, modifier))


@pytest.mark.parametrize(
    ("x", "holds"),
    [
        (ZERO, "==, >="),
        (MINUS_DENORMAL, "==, >="),
        (MINUS_ONE, "<, !="),
        (ONE, ">=, !="),
        (NEGATIVE_NAN, "!="),
        (NEGATIVE_INF, "<, !="),
    ],
)
def test_tests_against_zero(x, holds):
    for test, name in enumerate(("==", "<", ">=", "!=")):
        expected = name in holds.split(", ")
        assert bool(fp.test_zero(one(x), test)[0]) is expected
        assert scalar.test_zero(x, test) is expected


def test_conversions():
    for n, expected in ((0, ZERO), (1, 0x37800080), (65535, ONE), (32768, 0x3F000080)):
        same(expected, word(fp.from_unorm16(np.array([n], np.uint16))), scalar.from_unorm(n, 65535))
    for n, expected in ((1, 0x3B808081), (128, 0x3F008081), (255, ONE)):
        same(expected, word(fp.from_unorm8(np.array([n], np.uint8))), scalar.from_unorm(n, 255))
    # 127.5 and 32767.5 are ties and go to the even integer.
    for x, byte, half in ((HALF, 128, 32768), (QUIET, 0, 0), (MINUS_ONE, 0, 0), (TWO, 255, 65535), (DENORMAL, 0, 0)):
        same(byte, int(fp.to_unorm8(one(x))[0]), scalar.to_unorm(x, 255))
        same(half, int(fp.to_unorm16(one(x))[0]), scalar.to_unorm(x, 65535))


@pytest.mark.parametrize(
    ("s", "index"),
    [(0x40700000, 3), (MINUS_DENORMAL, 0), (MINUS_ONE, 0), (QUIET, 0), (NEGATIVE_NAN, 0), (INF, 9), (0x41200000, 9)],
)
def test_coordinate_index(s, index):
    assert int(fp.coordinate_index(one(s), 10)[0]) == index
    assert scalar.coordinate_index(s, 10) == index
