"""ALU clauses with results worked out by hand: what no compiled program does."""

import numpy as np
import pytest

from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.examples import NAN, ONES, execute, moves, same
from ctm.tb.r700.words import group, slot

_KCACHE = [(1, 1), (2, 0)]
"""Set 0 has the rows 16 to 31, set 1 the rows 0 to 31."""
_PAYLOAD = f"#{NAN:x}"


def one(*groups: list, register: int = 1, x: int = 2, y: int = 1, information: dict | None = None, **fields) -> list:
    """What a clause leaves in a register of the pixel (x, y)."""
    a = Assembly()
    a.alu(*groups, **fields)
    found = execute(a, (register,), domain=(x, y, x, y), information=information)
    return found.outputs[0, y, x].tolist()


def check(found: list, *expected: float | int) -> None:
    same(np.array(found, np.uint32), list(expected))


def value(text: str, **fields) -> list:
    """R1.x = a value, with modifiers."""
    return group(slot("MOV", "R1.x", text, **fields))


@pytest.mark.parametrize(
    ("text", "fields", "dx10", "expected"),
    [
        ("#40400000", {"omod": 1}, False, 6.0),
        ("#40400000", {"omod": 2}, False, 12.0),
        ("#40400000", {"omod": 3}, False, 1.5),
        ("#3f400000", {"omod": 1, "clamp": True}, False, 1.0),  # 0.75: doubled first, then clamped
        ("#40400000", {"omod": 3, "clamp": True}, False, 1.0),  # 3.0: halved first, then clamped
        ("#bf400000", {"clamp": True}, False, 0.0),
        ("0.5", {"clamp": True}, False, 0.5),
        (_PAYLOAD, {"clamp": True}, False, NAN),
        (_PAYLOAD, {"clamp": True}, True, 0.0),
        (_PAYLOAD, {"omod": 3, "clamp": True}, True, 0.0),
        (_PAYLOAD, {}, True, NAN),
        ("#7f800000", {"clamp": True}, False, 1.0),
        ("#7f7fffff", {"omod": 1}, False, 0x7F800000),
        ("#00800000", {"omod": 3}, False, 0.0),  # the half is denormal
        ("#80800000", {"omod": 3}, False, 0x80000000),
        ("#00000001", {}, False, 1),  # copied
        ("#00000001", {"omod": 1}, False, 0),
        ("-|#c0400000|", {}, False, -3.0),
        ("-#7fffffff", {}, False, ONES),  # a sign changes the bits of anything
        ("DBL244", {}, False, 0),
        ("DBL245", {}, False, 0x3FF00000),
        ("DBL246", {}, False, 0),
        ("DBL247", {}, False, 0x3FE00000),
        ("-1i", {}, False, ONES),
        ("1i", {}, False, 1),
        ("|-1i|", {}, False, 0x7FFFFFFF),
    ],
)
def test_modifiers(text: str, fields: dict, dx10: bool, expected: float) -> None:
    check(one(value(text, **fields), information={"dx10_clamp": dx10}), expected, 0, 0, 0)


def test_absolute_and_negated_integers() -> None:
    add = group(slot("ADD_INT", "R1.x", "-1i", "1i"), slot("ADD_INT", "R1.y", "-#00000005", "1i"))
    check(one(add), 0, 0x80000006, 0, 0)


def test_a_predicate_gates_what_a_word_does() -> None:
    """R0 = (2, 1, 0, 1); the predicate is 0 at the clause's start."""
    groups = [
        group(slot("MOV", "R1.x", "0.5", predicate="ONE"), slot("MOV", "R1.y", "0.5", predicate="ZERO")),
        group(slot("PRED_SETGT", "_.x", "R0.x", "R0.y", updates_predicate=True),
              slot("MOV", "R1.z", "1.0", predicate="ONE")),
        group(slot("MOV", "R1.x", "1.0", predicate="ONE"), slot("MOV", "R1.y", "1.0", predicate="ZERO")),
        group(slot("PRED_SETGT", "R1.w", "R0.y", "R0.x", updates_predicate=True, predicate="ZERO")),
        group(slot("ADD", "R1.w", "R1.w", "1.0", predicate="ONE")),
    ]  # fmt: skip
    check(one(*groups), 1.0, 0.5, 0.0, 1.0)


def test_a_predicate_gates_address_kill_and_mask() -> None:
    groups = [
        group(slot("MOVA_INT", "_.x", "1i", predicate="ONE"), slot("MOVA_INT", "_.y", "1i", predicate="ZERO")),
        group(slot("MOV", "R1.x", "R0+.y", index="AR_X"), slot("MOV", "R1.y", "R0+.y", index="AR_Y", swizzle=2)),
        group(slot("KILLE", "_.x", "0", "0", predicate="ONE")),
        group(slot("PRED_SETE", "_.x", "0", "1.0", updates_mask=True, predicate="ONE")),
        group(slot("MOV", "R1.z", "1.0")),
    ]
    check(one(*groups), 1.0, 0.0, 1.0, 0.0)


def test_a_predicate_that_is_set_reads_the_old_one() -> None:
    groups = [
        group(slot("PRED_SETE", "_.x", "0", "0", updates_predicate=True, predicate="ZERO"),
              slot("MOV", "R1.y", "1.0", predicate="ZERO"), slot("MOV", "R1.z", "1.0", predicate="ONE")),
        group(slot("MOV", "R1.w", "1.0", predicate="ONE")),
    ]  # fmt: skip
    check(one(*groups), 0.0, 1.0, 0.0, 1.0)


def test_the_execute_mask_acts_from_the_next_group_on() -> None:
    a = Assembly()
    a.alu(
        group(slot("PRED_SETGE", "R1.x", "R0.x", "#40000000", updates_mask=True), slot("MOV", "R1.y", "1.0"),
              slot("MOV", "R1.z", "0.5"), slot("MOV", "R1.w", "0.5"), slot("ADD", "R1.z", "1.0", "1.0")),
        group(slot("MOV", "R1.w", "1.0")),
        name="ALU_PUSH_BEFORE",
    )  # fmt: skip
    a.flow("POP", pop=1)
    found = execute(a, domain=(0, 0, 3, 0))
    off, on = [1.0, 1.0, 2.0, 0.5], [0.0, 1.0, 2.0, 1.0]
    same(found.outputs[0, 0], [off, off, on, on])


@pytest.mark.parametrize(
    ("channels", "units"), [("x", 1), ("y", 1), ("z", 2), ("w", 2), ("xz", 2), ("yw", 2), ("yx", 1)]
)
def test_literals_are_as_many_as_the_highest_that_is_named(channels: str, units: int) -> None:
    """The next group begins after them."""
    numbers = ["xyzw".index(channel) for channel in channels]
    moves = [slot("MOV", f"R1.{c}", "R0.x", src0_sel=253, src0_chan=n) for c, n in zip("xy", numbers, strict=False)]
    literals = [(10, 11), (12, 13)][:units]
    found = one(group(*moves), literals, group(slot("MOV", "R1.z", "1.0")))
    check(found, *[10 + n for n in numbers], *[0] * (2 - len(numbers)), 1.0, 0)


@pytest.mark.parametrize(
    ("mode", "index", "destination"),
    [("AR_X", "x", 3), ("AR_Y", "y", 4), ("AR_Z", "z", 5), ("AR_W", "w", 2)],
)
def test_relative_destinations_and_sources(mode: str, index: str, destination: int) -> None:
    """AR = (1, 2, 3, 0)."""
    address = group(*(slot("MOVA_INT", f"_.{c}", f"#{n}") for c, n in zip("xyzw", (1, 2, 3, 0), strict=True)))
    store = [address, group(slot("MOV", "R2+.y", "1.0", index=mode))]
    check(one(*store, register=destination), 0.0, 1.0, 0.0, 0.0)
    load = group(slot("MOV", "R1.x", "K0[3+].y", index=mode), slot("MOV", "R1.y", "K1[4+].w", index=mode))
    n = "xyzw".index(index)
    offset = (1, 2, 3, 0)[n]
    check(one(address, load, kcache=_KCACHE), 16.0 + 3 + offset + 0.25, 4.0 + offset + 0.75, 0, 0)


def test_sets_of_constants() -> None:
    load = [group(slot("MOV", "R1.x", "K0[0].x"), slot("MOV", "R1.y", "K0[15].y"))]
    load.append(group(slot("MOV", "R1.z", "K1[0].z"), slot("MOV", "R1.w", "K1[31].w")))
    check(one(*load, kcache=_KCACHE), 16.0, 31.25, 0.5, 31.75)


def test_rows_after_the_constants_are_zero() -> None:
    load = group(slot("MOV", "R1.x", "K0[15].x"), slot("MOV", "R1.y", "K0[16].y"))
    check(one(load, kcache=[(2, 15)]), 255.0, 0, 0, 0)
    check(one(group(slot("MOV", "R1.x", "K1[0].x")), kcache=[(0, 0), (1, 255)]), 0, 0, 0, 0)
    check(one(group(slot("MOV", "R1.x", "K0[17].y")), kcache=[(2, 255)]), 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("MOVA_INT", "#000000fe", 254), ("MOVA_INT", "#00000100", 255), ("MOVA_INT", "#7fffffff", 255),
        ("MOVA_INT", "#ffffff00", -256), ("MOVA_INT", "#fffffeff", -256), ("MOVA_INT", "#80000000", -256),
        ("MOVA", "#437e0000", 254), ("MOVA", "#437e8000", 255), ("MOVA", "#7f800000", 255), ("MOVA", "#ff800000", -256),
        ("MOVA", "#3effffff", 0), ("MOVA", "0.5", 1), ("MOVA", "-0.5", 0), ("MOVA", "#bf000001", -1),
        ("MOVA", "#7fc00000", 0), ("MOVA", "#4b000001", 255), ("MOVA", "#c3800000", -256), ("MOVA", "#c3808000", -256),
        ("MOVA_FLOOR", "#3f7fffff", 0), ("MOVA_FLOOR", "#80000001", 0), ("MOVA_FLOOR", "#bf000000", -1),
        ("MOVA_FLOOR", "#437fc000", 255), ("MOVA_FLOOR", "#43800000", 255), ("MOVA_FLOOR", "#c3800001", -256),
    ],
)  # fmt: skip
def test_indices_saturate(name: str, text: str, expected: int) -> None:
    """Row 128 plus the index is seen where it exists; from row 255 or row 0 on the last indices can be told apart."""
    address = group(slot(name, "_.x", text))
    rows = {"K0[0+].x": 0, "K1[15+].x": 255}
    loads = group(*(slot("MOV", f"R1.{c}", operand) for c, operand in zip("xy", rows, strict=True)))
    wanted = [float(row + expected) if 0 <= row + expected <= 255 else 0.0 for row in rows.values()]
    check(one(address, loads, kcache=[(1, 0), (1, 15)]), *wanted, 0, 0)


def test_an_address_counts_in_each_pixel() -> None:
    a = Assembly()
    a.alu(
        group(slot("MOVA_FLOOR", "_.w", "R0.x")),
        group(slot("MOV", "R1.x", "K0[2+].x", index="AR_W"), slot("MOV", "R2+.y", "1.0", index="AR_W")),
        kcache=[(1, 0)],
    )
    found = execute(a, (1, 2, 3), domain=(0, 0, 2, 0))
    same(found.outputs[0, 0, :, 0], [2.0, 3.0, 4.0])
    same(found.outputs[1, 0, :, 1], [1.0, 0.0, 0.0])
    same(found.outputs[2, 0, :, 1], [0.0, 1.0, 0.0])


def test_registers_out_of_range() -> None:
    """16 registers: R16 and R123 read 0 and keep nothing; T0 is there, but not by an index."""
    store = [
        group(slot("MOV", "R16.x", "1.0"), slot("MOV", "R123.y", "1.0"), slot("MOV", "T0.z", "0.5")),
        group(slot("MOV", "R1.x", "R16.x"), slot("MOV", "R1.y", "R123.y"), slot("MOV", "R1.z", "T0.z")),
    ]
    check(one(*store), 0, 0, 0.5, 0)
    relative = [
        group(slot("MOVA_INT", "_.x", "1i"), slot("MOVA_INT", "_.y", "-1i"), slot("MOV", "T0.z", "0.5")),
        group(slot("MOV", "R123+.w", "1.0"), slot("MOV", "R15+.w", "1.0")),
        group(slot("MOV", "R0+.w", "#40000000", index="AR_Y")),
        group(slot("MOV", "R1.x", "R15+.z"), slot("MOV", "R1.y", "R0+.w", index="AR_Y")),
        group(slot("MOV", "R1.z", "T0.w"), slot("MOV", "R1.w", "R16+.w", index="AR_Y")),
        group(slot("ADD", "R1.z", "R1.z", "T0.z"), slot("ADD", "R1.w", "R1.w", "T1+.z", index="AR_Y")),
    ]
    check(one(*relative), 0.0, 0.0, 0.5, 0.0)


def test_the_most_registers() -> None:
    """R0 to R123, and the four temporaries after them."""
    store = [group(slot("MOV", "R123.x", "0.5"), slot("MOV", "T0.y", "1.0")), group(slot("MOV", "T3.x", "-1.0"))]
    load = [group(slot("MOV", "R1.x", "R123.x"), slot("MOV", "R1.y", "T0.y")), group(slot("MOV", "R1.z", "T3.x"))]
    check(one(*store, *load, information={"gprs": 124}), 0.5, 1.0, -1.0, 0)
    check(one(*store, *load, information={"gprs": 2}), 0, 1.0, -1.0, 0)


def test_a_clause_temporary_keeps_its_value() -> None:
    a = Assembly()
    a.alu(group(slot("MOV", "T3.w", "R0.x")))
    a.flow("NOP")
    a.alu(group(slot("MOV", "R1.x", "T3.w"), slot("MOV", "R1.y", "T2.w")))
    same(execute(a, domain=(0, 0, 1, 0), wavefront=16).outputs[0, 0], [[0.0, 0, 0, 0], [1.0, 0, 0, 0]])


def test_operands_are_read_before_results_are_written() -> None:
    swap = [moves(1, "0.5", "1.0"), group(slot("MOV", "R1.x", "R1.y"), slot("MOV", "R1.y", "R1.x"))]
    check(one(*swap), 1.0, 0.5, 0, 0)
    exchange = [moves(1, "0.5", "1.0"), group(slot("MOV", "R1.x", "PV.y"), slot("MOV", "R1.y", "PV.x"))]
    check(one(*exchange), 1.0, 0.5, 0, 0)


def test_the_later_slot_wins() -> None:
    check(one(group(slot("MOV", "R1.x", "0.5"), slot("MOV", "R1.x", "1.0"))), 1.0, 0, 0, 0)
    store = [
        group(slot("MOVA_INT", "_.x", "-1i")),
        group(slot("MOV", "R1.x", "0.5"), slot("MOV", "R2+.x", "1.0")),
    ]
    check(one(*store), 1.0, 0, 0, 0)
    check(one(store[0], group(slot("MOV", "R2+.x", "0.5"), slot("MOV", "R1.x", "1.0"))), 1.0, 0, 0, 0)


def test_previous_results() -> None:
    """They are those after the modifiers, written or not; MOVA gives its operand, PRED_SET 0, NOP 0."""
    groups = [
        group(slot("ADD", "_.x", "1.0", "0.5", omod=1), slot("MOVA_INT", "_.y", "#12345678"),
              slot("PRED_SETE", "_.z", "0", "0")),
        group(slot("MOV", "R1.x", "PV.x"), slot("MOV", "R1.y", "PV.y"), slot("MOV", "R1.z", "PV.z"),
              slot("NOP", "_.w"), slot("RECIP_IEEE", "_.w", "0.5")),
        group(slot("ADD", "R1.z", "R1.z", "PS"), slot("MOV", "R1.w", "PV.w")),
    ]  # fmt: skip
    check(one(*groups), 3.0, 0x12345678, 2.0, 0.0)
    kills = slot("KILLE", "_.y", "1.0", "0"), slot("KILLE_INT", "_.z", "0", "1i"), slot("KILLNE", "_.w", "0", "0")
    copies = slot("MOV", "R1.x", "PV.y"), slot("ADD", "R1.y", "PV.z", "1.0"), slot("MOV", "R1.z", "PV.w")
    kill = [group(*kills), group(*copies)]
    check(one(*kill), 0.0, 1.0, 0.0, 0.0)


def test_previous_results_of_inactive_pixels() -> None:
    """A result is there in pixels in which its word had no effect."""
    groups = [
        group(slot("MOV", "R1.x", "0.5", predicate="ONE")),
        group(slot("MOV", "R1.y", "PV.x")),
    ]
    check(one(*groups), 0.0, 0.5, 0, 0)


def test_a_dot_product_is_in_all_slots() -> None:
    """(2, 1, 0, 1) times (0.5, 0.5, 0.5, 1.0), of which two are written."""
    factors = ("0.5", "0.5", "0.5", "1.0")
    targets = ("_.x", "R1.y", "_.z", "R1.w")
    dots = [slot("DOT4", target, f"R0.{target[-1]}", factor) for target, factor in zip(targets, factors, strict=True)]
    check(one(group(*dots), group(slot("MOV", "R1.x", "PV.z"))), 2.5, 2.5, 0.0, 2.5)
    relative = group(*dots[:3], slot("DOT4", "R1+.w", "R0.w", "1.0"), slot("EXP_IEEE", "R1.x", "R0.y"))
    check(one(relative), 2.0, 2.5, 0.0, 2.5)


def test_a_reduction_is_modified_and_gated_slot_by_slot() -> None:
    slots = [
        slot("MAX4", "R1.x", "R0.x", omod=1),
        slot("MAX4", "R1.y", "R0.y", predicate="ONE"),
        slot("MAX4", "R1.z", "R0.z", clamp=True, predicate="ZERO"),
        slot("MAX4", "R2.w", "R0.w"),
    ]
    check(one(group(*slots)), 4.0, 0.0, 1.0, 0.0)
    check(one(group(*slots), register=2), 0.0, 0.0, 0.0, 2.0)


def test_multiplication_is_rounded_before_the_sum() -> None:
    """(1 + 2^-12)^2 - 1 - 2^-11 is 2^-24, which rounding the product loses."""
    operands = ("#3f800800", "#3f800800", "#bf801000")
    check(one(group(slot("MULADD_IEEE", "R1.x", *operands), slot("MULADD", "R1.y", *operands))), 0.0, 0.0, 0, 0)


def test_zero_times_infinity() -> None:
    inf = "#7f800000"
    groups = [group(slot("MUL", "R1.x", "0", inf), slot("MUL_IEEE", "R1.y", "0", inf), slot("MUL", "R1.z", "-0", inf))]
    found = one(*groups)
    assert found[0] == 0 and found[2] == 0x80000000 and found[1] & 0x7FFFFFFF > 0x7F800000


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("RECIP_IEEE", "#40400000", 0x3EAAAAAB), ("RECIP_IEEE", "0.5", 2.0), ("RECIP_IEEE", "#c1200000", 0xBDCCCCCD),
        ("RECIP_CLAMPED", "-0", 0xFF7FFFFF), ("RECIP_FF", "-0", 0x80000000), ("RECIPSQRT_IEEE", "#40800000", 0.5),
        ("SQRT_IEEE", "#42c80000", 10.0), ("EXP_IEEE", "#40400000", 8.0), ("LOG_CLAMPED", "0", 0xFF7FFFFF),
        ("SIN", "#3e800000", 1.0), ("COS", "0.5", -1.0), ("RECIP_UINT", "#3", 0x55555555), ("RECIP_UINT", "1i", ONES),
    ],
)  # fmt: skip
def test_slot_t(name: str, text: str, expected: float) -> None:
    """Sines are one after the other."""
    check(one(group(slot(name, "R1.x", text))), expected, 0, 0, 0)
