"""ALU and OUTPUT instructions: operations that compilers rarely emit, operands, result path; worked out by hand.

Temporaries are set up from float constants: c[n] = (r, g, b, a).
"""

from collections.abc import Mapping

import numpy as np
import pytest

from ctm.rtl.isa.r5xx.instruction import ADDRESS_INLINE
from ctm.rtl.isa.r5xx.opcodes import AlphaOperation as AlphaOp
from ctm.rtl.isa.r5xx.opcodes import OutputModifier, Presubtract, ZeroTest
from ctm.rtl.isa.r5xx.opcodes import RgbOperation as Op
from ctm.tb.r5xx.machine import Instruction, Machine, alu, move
from ctm.tb.r5xx.statements import begin_if, end_if

R, G, B, A, ZERO, HALF, ONE = range(7)
IDENTITY = {f"{color}_swiz_{name}": channel for name in "abc" for channel, color in enumerate(("red", "green", "blue"))}
NAN, INFINITY = float("nan"), float("inf")


def constant(source: int, index: int) -> dict[str, int]:
    """Address `source` reads float constant `index`."""
    return {f"addr{source}": index, f"addr{source}_const": 1}


def inline(source: int, code: int) -> dict[str, int]:
    """Address `source` reads an inline constant."""
    return {f"addr{source}": ADDRESS_INLINE | code}


def three(op: Op) -> dict[str, int]:
    """RGB operation on A = c0, B = c1, C = c2, each channel its own."""
    sources = constant(0, 0) | constant(1, 1) | constant(2, 2)
    return {"rgb_op": op.value, **sources, "sel_b": 1, "rgb_sel_c": 2, **IDENTITY, "rgb_addrd": 1}


def alpha_three(op: AlphaOp) -> dict[str, int]:
    """Alpha operation on A = c0.a, B = c1.a, C = c2.a."""
    sources = constant(0, 0) | constant(1, 1) | constant(2, 2)
    swizzles = {"swiz_a": A, "swiz_b": A, "alpha_swiz_c": A}
    return {"op": op.value, **sources, "sel_b": 1, "alpha_sel_c": 2, **swizzles, "addrd": 1}


def result(program: list[Instruction], constants: Mapping[int, tuple[float, ...]], **information: int) -> list[float]:
    """r1 of the pixel (0, 0) at the end of `program`."""
    machine = Machine()
    for index, values in constants.items():
        machine.set_floats(index, *values)
    machine.load([*program, move(0, 1, output=0)], **information)
    return machine.start((0, 0, 0, 0))[0, 0, 0].tolist()


BOTH = {"rgb_wmask": 7, "alpha_wmask": 1}
ABC = {0: (1.0, 2.0, 3.0, 4.0), 1: (10.0, 20.0, 30.0, 40.0), 2: (0.5, 0.75, -0.5, 0.25)}


@pytest.mark.parametrize(
    ("rgb", "alpha", "expected"),
    [
        (Op.MAD, AlphaOp.MAD, [10.5, 40.75, 89.5, 160.25]),
        # CND: C > 0.5; 0.5 itself is not.
        (Op.CND, AlphaOp.CND, [10, 2, 30, 40]),
        (Op.CMP, AlphaOp.CMP, [1, 2, 30, 4]),
        (Op.MIN, AlphaOp.MAX, [1, 2, 3, 40]),
        (Op.MAX, AlphaOp.MIN, [10, 20, 30, 4]),
        # 1*10 + 2*20 + 3*30 = 140; DP4 adds 4*40; D2A is 1*10 + 2*20 + C.b.
        (Op.DP3, AlphaOp.DP, [140, 140, 140, 140]),
        (Op.DP4, AlphaOp.DP, [300, 300, 300, 300]),
        (Op.D2A, AlphaOp.DP, [49.5, 49.5, 49.5, 49.5]),
        (Op.DP3, AlphaOp.MAD, [140, 140, 140, 160.25]),
        # SOP copies 1/4, 2^4, log2 4, 1/2.
        (Op.SOP, AlphaOp.RCP, [0.25, 0.25, 0.25, 0.25]),
        (Op.SOP, AlphaOp.EX2, [16, 16, 16, 16]),
        (Op.MAD, AlphaOp.LN2, [10.5, 40.75, 89.5, 2]),
        (Op.SOP, AlphaOp.RSQ, [0.5, 0.5, 0.5, 0.5]),
        (Op.SOP, AlphaOp.SIN, [0, 0, 0, 0]),
        (Op.SOP, AlphaOp.COS, [1, 1, 1, 1]),
    ],
)
def test_operations(rgb: Op, alpha: AlphaOp, expected: list[float]) -> None:
    assert result([alu(rgb=three(rgb), alpha=alpha_three(alpha), **BOTH)], ABC) == expected


def test_frc_of_both_units() -> None:
    rgb, alpha = three(Op.FRC), alpha_three(AlphaOp.FRC)
    assert result([alu(rgb=rgb, alpha=alpha, **BOTH)], {0: (1.75, -0.25, -3.0, 2.5)}) == [0.75, 0.75, 0, 0.5]


def test_both_units_read_before_either_writes() -> None:
    # In one instruction r1.r = r1.a and r1.a = r1.r: they are swapped.
    first = alu(rgb={**three(Op.MIN), "sel_b": 0}, alpha={**alpha_three(AlphaOp.MIN), "sel_b": 0}, **BOTH)
    swap = alu(
        rgb={"addr0": 1, "rgb_op": Op.MIN.value, "red_swiz_a": A, "red_swiz_b": A, "rgb_addrd": 1},
        alpha={"addr0": 1, "op": AlphaOp.MIN.value, "swiz_a": R, "swiz_b": R, "addrd": 1},
        rgb_wmask=1, alpha_wmask=1,
    )  # fmt: skip
    assert result([first], ABC) == [1, 2, 3, 4]
    assert result([first, swap], ABC) == [4, 2, 3, 1]


def test_an_rgb_swizzle_of_alpha_reads_the_alpha_address_and_vice_versa() -> None:
    rgb = {**constant(0, 0), "rgb_op": Op.MIN.value, "red_swiz_a": A, "red_swiz_b": A, "green_swiz_a": B,
           "green_swiz_b": B, "rgb_addrd": 1}  # fmt: skip
    alpha = {**constant(0, 1), "op": AlphaOp.MIN.value, "swiz_a": G, "swiz_b": G, "addrd": 1}
    # RGB: A of c1 (the alpha address), B of c0; alpha: G of c0 (the RGB address).
    found = result([alu(rgb=rgb, alpha=alpha, rgb_wmask=3, alpha_wmask=1)], ABC)
    assert found == [40, 3, 0, 2]


def test_an_inline_constant_fills_every_channel() -> None:
    # Code 0x3C is 1.5; code 1 is 2^-9, a denormal of its format.
    rgb = {**inline(0, 0x3C), "rgb_op": Op.MIN.value, **IDENTITY, "rgb_addrd": 1}
    alpha = {**inline(0, 1), "op": AlphaOp.MIN.value, "swiz_a": A, "swiz_b": A, "addrd": 1}
    assert result([alu(rgb=rgb, alpha=alpha, **BOTH)], {}) == [1.5, 1.5, 1.5, 2.0**-9]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (Presubtract.BIAS, [-1, -3, -5, -7]),
        (Presubtract.SUB, [9, 18, 27, 36]),
        (Presubtract.ADD, [11, 22, 33, 44]),
        (Presubtract.INV, [0, -1, -2, -3]),
    ],
)
def test_presubtract_works_on_raw_sources(operation: Presubtract, expected: list[float]) -> None:
    # A = srcp, B = 1, C = 0; the modifier of A acts on the result, not on the sources.
    sources = {**constant(0, 0), **constant(1, 1), "srcp_op": operation.value}
    rgb = {**sources, "sel_a": 3, **IDENTITY, "rgb_addrd": 1}
    rgb |= {
        f"{color}_swiz_{name}": value for color in ("red", "green", "blue") for name, value in (("b", ONE), ("c", ZERO))
    }
    alpha = {**sources, "sel_a": 3, "swiz_a": A, "swiz_b": ONE, "alpha_swiz_c": ZERO, "addrd": 1}
    assert result([alu(rgb=rgb, alpha=alpha, **BOTH)], ABC) == expected
    negated = alu(rgb={**rgb, "mod_a": 1}, alpha={**alpha, "mod_a": 1}, **BOTH)
    assert result([negated], ABC) == [-value for value in expected]


def test_input_modifiers_act_on_every_channel_literals_included() -> None:
    # A = -|(-2, half, one)|, B = 1: NAB of c0.r, 0.5 and 1.
    rgb = {**constant(0, 0), "red_swiz_a": R, "green_swiz_a": HALF, "blue_swiz_a": ONE, "mod_a": 3, "rgb_addrd": 1}
    rgb |= {
        f"{color}_swiz_{name}": value for color in ("red", "green", "blue") for name, value in (("b", ONE), ("c", ZERO))
    }
    assert result([alu(rgb=rgb, rgb_wmask=7)], {0: (-2.0, 0, 0, 0)})[:3] == [-2, -0.5, -1]


def test_dp4_takes_the_alpha_units_operands_with_their_modifiers() -> None:
    # ... + (-4) * 40.
    alpha = {**alpha_three(AlphaOp.DP), "mod_a": 1}
    assert result([alu(rgb=three(Op.DP4), alpha=alpha, **BOTH)], ABC) == [-20] * 4


@pytest.mark.parametrize(
    ("modifier", "factor"),
    [("U1", 1), ("U2", 2), ("U4", 4), ("U8", 8), ("D2", 0.5), ("D4", 0.25), ("D8", 0.125)],
)
def test_output_modifier_comes_before_the_clamp_and_after_the_copy(modifier: str, factor: float) -> None:
    # DP3 is 140; the alpha unit copies it raw and has a modifier of its own: here x8.
    rgb = {**three(Op.DP3), "omod": OutputModifier[modifier].value}
    alpha = {**alpha_three(AlphaOp.DP), "omod": OutputModifier.U8.value}
    assert result([alu(rgb=rgb, alpha=alpha, **BOTH)], ABC) == [140 * factor] * 3 + [1120]
    clamped = alu(rgb=rgb, alpha=alpha, rgb_clamp=1, **BOTH)
    assert result([clamped], ABC) == [1, 1, 1, 1120]


def bits_after_copy(modifier: int, word: int, *, clamp: int = 0) -> int:
    """The word in r1.r after MIN(c0.r, c0.r) with an output modifier."""
    machine = Machine()
    machine.memory.write(0x20000, word.to_bytes(4, "little"))
    copy = {**constant(0, 0), "rgb_op": Op.MIN.value, "omod": modifier, "rgb_addrd": 1}
    machine.load([alu(rgb=copy, rgb_wmask=1, rgb_clamp=clamp), move(0, 1, output=0)])
    return int(machine.start((0, 0, 0, 0)).view(np.uint32)[0, 0, 0, 0])


@pytest.mark.parametrize("word", [0x00000001, 0x807FFFFF, 0xFFC12345, 0x7F800001, 0x80000000, 0x7F800000])
def test_a_disabled_modifier_copies_bits_and_switches_the_clamp_off(word: int) -> None:
    assert bits_after_copy(7, word, clamp=1) == word


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (0x00000001, 0x00000000),
        (0x807FFFFF, 0x80000000),
        (0xFFC12345, 0x7FFFFFFF),
        (0x7F800001, 0x7FFFFFFF),
        (0xFF800000, 0xFF800000),
        (0x3F800000, 0x3F800000),
    ],
)
def test_modifier_u1_makes_nans_canonical_and_denormals_zero(word: int, expected: int) -> None:
    assert bits_after_copy(0, word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [(0x7FFFFFFF, 0), (0x80000000, 0), (0xBF800000, 0), (0x40000000, 0x3F800000), (0x3F000000, 0x3F000000)],
)
def test_clamp(word: int, expected: int) -> None:
    assert bits_after_copy(0, word, clamp=1) == expected


@pytest.mark.parametrize("zero_rule", [False, True])
def test_zero_times_infinity_depends_on_the_configuration(zero_rule: bool) -> None:
    program = [alu(rgb=three(Op.MAD), rgb_wmask=7)]
    constants = {0: (0.0, INFINITY, -0.0, 0), 1: (INFINITY, 0.0, NAN, 0), 2: (3.0, 4.0, 5.0, 0)}
    found = result(program, constants, us_config=2 if zero_rule else 0)[:3]
    if zero_rule:
        assert found == [3, 4, 5]
    else:
        assert np.isnan(found).all()


def test_comparisons_see_the_clamped_value_and_an_alu_result_of_alpha() -> None:
    # -5 clamped is +0: not less than zero, so the ALU result of LESS is false, and the branch is not taken.
    compare = alu(
        alpha={**constant(0, 0), "swiz_a": A, "swiz_b": ONE, "alpha_swiz_c": ZERO},
        rgb={"alu_wmask": 1}, alu_result_sel=1, alu_result_op=ZeroTest.LESS.value, alpha_clamp=1,
    )  # fmt: skip
    program = [compare, begin_if(4), move(1, 0), end_if()]
    assert result(program, {0: (0, 0, 0, -5.0)})[3] == 0
    unclamped = (compare[0] & ~(1 << 20), *compare[1:])
    assert result([unclamped, *program[1:]], {0: (0, 0, 0, -5.0)})[3] == 1


def test_outputs_keep_the_last_write_to_each_channel_and_only_written_channels_are_stored() -> None:
    machine = Machine()
    machine.set_floats(0, 1.0, 2.0, 3.0, 4.0)
    machine.memory.view(np.float32)[0x40000 // 4 :][:64] = 7.0
    first = alu(rgb={**three(Op.MIN), "sel_b": 0, "target": 0}, type=1, rgb_omask=3)
    second = alu(rgb={**constant(0, 0), "rgb_op": Op.MIN.value, "red_swiz_a": B, "red_swiz_b": B}, type=1, rgb_omask=1)
    machine.load([first, second])
    assert machine.start((0, 0, 0, 0))[0, 0, 0].tolist() == [3, 2, 7, 7]


def test_rgb_and_alpha_may_go_to_different_outputs() -> None:
    machine = Machine()
    machine.set_floats(0, 1.0, 2.0, 3.0, 4.0)
    rgb = {**three(Op.MIN), "sel_b": 0, "target": 2}
    alpha = {**alpha_three(AlphaOp.MIN), "sel_b": 0, "target": 1}
    machine.load([alu(rgb=rgb, alpha=alpha, type=1, rgb_omask=7, alpha_omask=1)])
    found = machine.start((0, 0, 0, 0), outputs=4)[:, 0, 0]
    np.testing.assert_array_equal(found, [[0] * 4, [0, 0, 0, 4], [1, 2, 3, 0], [0] * 4])


def test_temporaries_above_the_programs_highest_read_zero_and_swallow_writes() -> None:
    program = [move(5, 0), move(1, 5)]
    assert result(program, {}, highest_temporary=5) == [0, 0, 0, 1]
    assert result(program, {}, highest_temporary=4) == [0, 0, 0, 0]


@pytest.mark.parametrize(("operation", "neighbour"), [(Op.MDH, 1), (Op.MDV, 2)])
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_derivatives_take_their_operands_from_the_quad(operation: Op, neighbour: int, lanes: int) -> None:
    # r2 = r0 * r0 = (i*i, j*j, ...); with B = -1 MDH is C - A, the horizontal step of i*i, MDV the vertical of j*j.
    square = alu(
        rgb={**IDENTITY, "rgb_sel_c": 0, "rgb_addrd": 2, "red_swiz_c": ZERO, "green_swiz_c": ZERO}, rgb_wmask=3
    )
    step = {"addr0": 2, "rgb_op": operation.value, "red_swiz_b": ONE, "green_swiz_b": ONE, "mod_b": 1, "rgb_addrd": 1}
    machine = Machine(lanes=lanes)
    machine.load([square, alu(rgb=step, rgb_wmask=3), move(0, 1, output=0)])
    found = machine.start((0, 0, 5, 5))[0]
    for j in range(6):
        for i in range(6):
            left, low = i & ~1, j & ~1
            expected = (2 * left + 1, 0) if neighbour == 1 else (0, 2 * low + 1)
            assert tuple(found[j, i, :2]) == expected


def test_derivatives_read_uncovered_pixels() -> None:
    step = {"rgb_op": Op.MDH.value, "red_swiz_b": ONE, "mod_b": 1, "rgb_addrd": 1}
    machine = Machine()
    machine.load([alu(rgb=step, rgb_wmask=1), move(0, 1, output=0)])
    assert machine.start((3, 0, 3, 0))[0, 0, 3, 0] == 1
