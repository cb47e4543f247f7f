"""Conditions, reductions, indices and modifiers worked by hand: they hold for the arrays and for the specification."""

import pytest

from ctm.sim.golden.r700 import formulas
from ctm.tb.golden.r700 import scalar
from ctm.tb.lib.words import bits, floats

INF, MINUS_INF = 0x7F800000, 0xFF800000
NAN, PAYLOAD, MINUS_NAN = 0x7FFFFFFF, 0x7F812345, 0xFFC00001
ZERO, MINUS_ZERO = 0x00000000, 0x80000000
HALF, ONE, TWO, THREE, FOUR, FIVE, SIX = (
    0x3F000000, 0x3F800000, 0x40000000, 0x40400000, 0x40800000, 0x40A00000, 0x40C00000,
)  # fmt: skip
MINUS_ONE, MINUS_TWO, MINUS_THREE, MINUS_SIX = 0xBF800000, 0xC0000000, 0xC0400000, 0xC0C00000
LARGEST, SMALLEST = 0x7F7FFFFF, 0x00800000
DENORMAL, MINUS_DENORMAL = 0x00000001, 0x807FFFFF


@pytest.mark.parametrize(
    ("name", "operands", "expected", "holds"),
    [
        ("PRED_SETGT", [TWO, ONE], ZERO, True),
        ("PRED_SETGT", [ONE, TWO], ONE, False),
        ("PRED_SETE", [MINUS_ZERO, DENORMAL], ZERO, True),
        ("PRED_SETNE", [NAN, NAN], ZERO, True),
        ("PRED_SETGE", [NAN, ONE], ONE, False),
        ("PRED_SETGT_UINT", [0xFFFFFFFF, 1], ZERO, True),
        ("PRED_SETGT_INT", [0xFFFFFFFF, 1], ONE, False),
        ("PRED_SETE_INT", [MINUS_ZERO, ZERO], ONE, False),
        ("KILLGT", [TWO, ONE], ONE, True),
        ("KILLE", [NAN, NAN], ZERO, False),
        ("KILLGE_UINT", [1, 1], ONE, True),
        ("KILLNE_INT", [1, 1], ZERO, False),
        ("PRED_SET_INV", [ONE], ZERO, True),
        ("PRED_SET_INV", [MINUS_ZERO], ONE, False),
        ("PRED_SET_INV", [MINUS_DENORMAL], ONE, False),
        ("PRED_SET_INV", [TWO], TWO, False),
        ("PRED_SET_INV", [PAYLOAD], PAYLOAD, False),
        ("PRED_SET_POP", [THREE, ONE], TWO, False),
        ("PRED_SET_POP", [ONE, ONE], ZERO, True),
        ("PRED_SET_POP", [ONE, TWO], ZERO, True),
        ("PRED_SET_POP", [0x00C00000, SMALLEST], ZERO, True),  # the difference is denormal
        ("PRED_SET_POP", [ONE, MINUS_NAN], NAN, False),
        ("PRED_SET_POP", [INF, INF], NAN, False),
        ("PRED_SET_CLR", [], LARGEST, False),
        ("PRED_SET_RESTORE", [MINUS_ZERO], ZERO, True),
        ("PRED_SET_RESTORE", [MINUS_DENORMAL], ZERO, True),
        ("PRED_SET_RESTORE", [TWO], TWO, False),
        ("PRED_SET_RESTORE", [PAYLOAD], PAYLOAD, False),
        ("PRED_SETE_PUSH", [ZERO, MINUS_ZERO], ZERO, True),
        ("PRED_SETE_PUSH", [ZERO, ONE], ONE, False),
        ("PRED_SETE_PUSH", [ONE, ZERO], TWO, False),
        ("PRED_SETGT_PUSH", [ZERO, DENORMAL], ONE, False),
        ("PRED_SETGT_PUSH_INT", [MINUS_ZERO, DENORMAL], ZERO, True),
        ("PRED_SETNE_PUSH", [DENORMAL, NAN], ZERO, True),
        ("PRED_SETGE_PUSH_INT", [ZERO, MINUS_ZERO], ONE, False),
        ("PRED_SETLT_PUSH_INT", [ZERO, MINUS_ZERO], ZERO, True),
        ("PRED_SETLE_PUSH_INT", [ZERO, 1], ONE, False),
        ("PRED_SETLE_PUSH_INT", [PAYLOAD, 0], NAN, False),
    ],
)
def test_predicates(name, operands, expected, holds):
    result, mask = formulas.PREDICATES[name](*(floats([word]) for word in operands))
    assert (bits(result).tolist(), mask.tolist()) == ([expected], [holds])
    assert scalar.PREDICATES[name](*operands) == (expected, holds)


def check_slots(name, sides, expected):
    results = formulas.REDUCTIONS[name](*([floats([word]) for word in side] for side in sides))
    assert tuple(int(bits(x)[0]) for x in results) == expected
    assert scalar.REDUCTIONS[name](*sides) == expected


@pytest.mark.parametrize(
    ("name", "first", "second", "expected"),
    [
        ("DOT4", [ONE, TWO, THREE, ONE], [ONE, TWO, ONE, TWO], 0x41200000),
        ("DOT4", [INF, ONE, ONE, NAN], [ZERO, ONE, ONE, DENORMAL], TWO),
        ("DOT4", [MINUS_ZERO, MINUS_NAN, ZERO, ZERO], [ONE, ZERO, MINUS_ONE, MINUS_ONE], MINUS_ZERO),
        # Not one product after the other: 2^127 * 2 does not overflow where -2^128 follows.
        ("DOT4", [0x7F000000, 0xFF000000, ONE, ZERO], [TWO, TWO, ONE, ZERO], ZERO),
        ("DOT4_IEEE", [ONE, TWO, THREE, ONE], [ONE, TWO, ONE, TWO], 0x41200000),
        ("DOT4_IEEE", [INF, ONE, ONE, ONE], [ZERO, ONE, ONE, ONE], NAN),
        # 2^24 and -2^24 cancel, and what they left of the 1 remains.
        ("DOT4_IEEE", [0x4B800000, ONE, 0xCB800000, ZERO], [ONE, ONE, ONE, ZERO], ONE),
    ],
)
def test_dot_products(name, first, second, expected):
    check_slots(name, [first, second], (expected,) * 4)


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ([ONE, TWO, MINUS_TWO, HALF], TWO),
        ([MINUS_ZERO, ZERO, ZERO, MINUS_ZERO], MINUS_ZERO),
        ([PAYLOAD, ONE, TWO, MINUS_ONE], TWO),
        ([ONE, PAYLOAD, TWO, MINUS_ONE], TWO),
        ([ONE, TWO, THREE, PAYLOAD], PAYLOAD),
        ([MINUS_DENORMAL, ZERO, MINUS_ONE, MINUS_ZERO], MINUS_DENORMAL),
    ],
)
def test_maximum_of_four(operands, expected):
    check_slots("MAX4", [operands], (expected,) * 4)


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        # x, y, z give t, s, twice the largest, face.
        ([ONE, TWO, THREE], (MINUS_TWO, ONE, SIX, FOUR)),
        ([ONE, TWO, MINUS_THREE], (MINUS_TWO, MINUS_ONE, MINUS_SIX, FIVE)),
        ([ONE, THREE, TWO], (TWO, ONE, SIX, TWO)),
        ([ONE, MINUS_THREE, TWO], (MINUS_TWO, ONE, MINUS_SIX, THREE)),
        ([THREE, TWO, ONE], (MINUS_TWO, MINUS_ONE, SIX, ZERO)),
        ([MINUS_THREE, TWO, ONE], (MINUS_TWO, ONE, MINUS_SIX, ONE)),
        # Ties: z before y before x.
        ([ONE, MINUS_ONE, ONE], (ONE, ONE, TWO, FOUR)),
        ([ONE, MINUS_ONE, ZERO], (MINUS_ZERO, ONE, MINUS_TWO, THREE)),
        # A zero of either sign is positive, and a denormal is a zero.
        ([ZERO, ZERO, MINUS_ZERO], (MINUS_ZERO, ZERO, MINUS_ZERO, FOUR)),
        ([DENORMAL, MINUS_DENORMAL, MINUS_DENORMAL], (ZERO, ZERO, MINUS_ZERO, FOUR)),
        ([0x00000002, DENORMAL, ONE], (MINUS_ZERO, ZERO, TWO, FOUR)),
        ([ONE, ONE, 0x7F000000], (MINUS_ONE, ONE, INF, FOUR)),
        ([MINUS_INF, ONE, TWO], (MINUS_ONE, TWO, MINUS_INF, ONE)),
        # Of a NaN no comparison holds, so x decides; it has no sign.
        ([MINUS_NAN, ONE, TWO], (MINUS_ONE, MINUS_TWO, NAN, ZERO)),
        ([ONE, PAYLOAD, TWO], (NAN, MINUS_TWO, TWO, ZERO)),
        ([ONE, TWO, PAYLOAD], (NAN, ONE, FOUR, TWO)),
        ([MINUS_ONE, HALF, PAYLOAD], (0xBF000000, NAN, MINUS_TWO, ONE)),
    ],
)
def test_cube(direction, expected):
    x, y, z = direction
    check_slots("CUBE", [[z, z, x, y], [y, x, z, z]], expected)


@pytest.mark.parametrize(
    ("name", "operand", "expected"),
    [
        ("MOVA", HALF, 1),
        ("MOVA", 0xBF000000, 0),
        ("MOVA", 0x3EFFFFFF, 0),  # 0.5 - 2^-25, whose sum with 0.5 a float32 would round to 1
        ("MOVA", 0xBF000001, -1),
        ("MOVA", 0xAF800000, 0),  # 0.5 - 2^-32
        ("MOVA", 0x437F8000, 255),  # 255.5, whose floor is 256
        ("MOVA", 0xC3804000, -256),  # -256.5
        ("MOVA", INF, 255),
        ("MOVA", NAN, 0),
        ("MOVA_FLOOR", 0xBF000000, -1),
        ("MOVA_FLOOR", MINUS_DENORMAL, 0),
        ("MOVA_FLOOR", 0x437FFFFF, 255),
        ("MOVA_FLOOR", 0xC3960000, -256),  # -300
        ("MOVA_FLOOR", MINUS_INF, -256),
        ("MOVA_FLOOR", MINUS_NAN, 0),
        ("MOVA_INT", 0xFFFFFF00, -256),
        ("MOVA_INT", 0xFFFFFEFF, -256),
        ("MOVA_INT", 0xFFFFFFFF, -1),
        ("MOVA_INT", 255, 255),
        ("MOVA_INT", 256, 255),
        ("MOVA_INT", NAN, 255),
        ("MOVA_INT", MINUS_INF, -256),
    ],
)
def test_indices(name, operand, expected):
    assert formulas.INDICES[name](floats([operand])).tolist() == [expected]
    assert scalar.INDICES[name](operand) == expected


@pytest.mark.parametrize(
    ("operand", "omod", "clamp", "dx10", "expected"),
    [
        (PAYLOAD, 0, False, True, PAYLOAD),
        (DENORMAL, 0, False, True, DENORMAL),
        (DENORMAL, 1, False, True, ZERO),
        (MINUS_DENORMAL, 3, False, True, MINUS_ZERO),
        (PAYLOAD, 2, False, True, NAN),
        (ONE, 1, False, True, TWO),
        (ONE, 2, False, True, FOUR),
        (ONE, 3, False, True, HALF),
        (0xFF7FFFFF, 1, False, True, MINUS_INF),
        (SMALLEST, 3, False, True, ZERO),
        (0x3E800000, 1, True, True, HALF),
        (ONE, 1, True, True, ONE),
        (TWO, 3, True, True, ONE),
        (DENORMAL, 0, True, True, ZERO),
        (MINUS_ZERO, 0, True, True, ZERO),
        (MINUS_ONE, 0, True, False, ZERO),
        (INF, 0, True, False, ONE),
        (MINUS_INF, 0, True, False, ZERO),
        (MINUS_NAN, 0, True, True, ZERO),
        (MINUS_NAN, 0, True, False, MINUS_NAN),
        (PAYLOAD, 0, True, False, PAYLOAD),
        (PAYLOAD, 1, True, False, NAN),
        (PAYLOAD, 1, True, True, ZERO),
    ],
)
def test_modifiers(operand, omod, clamp, dx10, expected):
    assert bits(formulas.modify(floats([operand]), omod, clamp, dx10)).tolist() == [expected]
    assert scalar.modify(operand, omod, clamp, dx10) == expected
