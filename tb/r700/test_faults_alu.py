"""ALU groups that must fault, each beside a legal one. Before each is a legal group of one word."""

from typing import Any

import pytest

from ctm.rtl.isa.r700.alu import Op2, Op3
from ctm.tb.r700.fault_cases import Case, attempt, by_name, check, clause
from ctm.tb.r700.words import Slot, Unit, group, slot

_BEFORE = group(slot("MOV", "R3.x", "R0.y"))
_FIRST = slot("MOV", "R2.x", "1.0")
"""A slot that would be seen if anything of a faulting group were done."""
KCACHE = [(1, 0), (1, 1)]
DOUBLES = (0x07, 0x17, 0x1B, 0x1C, 0x1D, 0x7A, 0x7B, 0x7C, 0x7D, 0x7E)
NO_OPERATIONS = {*DOUBLES, 0x60, *range(0x54, 0x60), 0x7F}
"""ALU_INST below 128 of two operands that the core does not have."""
NO_OPERATIONS_OF_THREE = (*range(4, 12), 0x1B, 0x1F)
OF_INTEGERS = {
    "AND_INT": 2, "OR_INT": 2, "XOR_INT": 2, "NOT_INT": 1, "ADD_INT": 2, "SUB_INT": 2, "MAX_INT": 2, "MIN_INT": 2,
    "MAX_UINT": 2, "MIN_UINT": 2, "SETE_INT": 2, "SETGT_INT": 2, "SETGE_INT": 2, "SETNE_INT": 2, "SETGT_UINT": 2,
    "SETGE_UINT": 2, "SETE_DX10": 2, "SETGT_DX10": 2, "SETGE_DX10": 2, "SETNE_DX10": 2, "ASHR_INT": 2, "LSHR_INT": 2,
    "LSHL_INT": 2, "MULLO_INT": 2, "MULHI_INT": 2, "MULLO_UINT": 2, "MULHI_UINT": 2, "RECIP_INT": 1, "RECIP_UINT": 1,
    "FLT_TO_INT": 1, "FLT_TO_UINT": 1,
}  # fmt: skip
"""Operations with integers or masks as results, and their operands."""
OF_FLOATS = {
    "ADD": 2, "MUL": 2, "MUL_IEEE": 2, "MAX": 2, "MIN": 2, "MAX_DX10": 2, "MIN_DX10": 2, "SETE": 2, "SETGT": 2,
    "SETGE": 2, "SETNE": 2, "FRACT": 1, "TRUNC": 1, "CEIL": 1, "RNDNE": 1, "FLOOR": 1, "MOV": 1, "EXP_IEEE": 1,
    "LOG_CLAMPED": 1, "LOG_IEEE": 1, "RECIP_CLAMPED": 1, "RECIP_FF": 1, "RECIP_IEEE": 1, "RECIPSQRT_CLAMPED": 1,
    "RECIPSQRT_FF": 1, "RECIPSQRT_IEEE": 1, "SQRT_IEEE": 1, "INT_TO_FLT": 1, "UINT_TO_FLT": 1, "SIN": 1, "COS": 1,
}  # fmt: skip


def case(name: str, bad: list[Unit], good: list[Unit], **fields) -> Case:
    """Two groups, each after a legal one."""
    return Case(name=name, bad=clause(_BEFORE, bad, **fields), good=clause(_BEFORE, good, **fields), at=1)


def pair(name: str, bad: Slot, good: Slot, **fields) -> Case:
    """Two instructions beside one that writes R2.x."""
    return case(name, group(_FIRST, bad), group(_FIRST, good), **fields)


def dots(*names: str) -> list[Unit]:
    """Reductions in the slots x and so on."""
    return group(*(slot(name, f"R2.{c}", "R0.x", "R0.x") for name, c in zip(names, "xyzw", strict=False)))


def _effects() -> list[Case]:
    add, predicate = slot("SETE", "_.y", "R0.x", "R0.y"), "PRED_SETE"
    updates: dict[str, dict[str, Any]] = {name: {name: 1} for name in ("update_execute_mask", "update_pred")}
    cases = [
        pair(f"{name} of SETE", slot("SETE", "_.y", "R0.x", "R0.y", **field),
             slot(predicate, "_.y", "R0.x", "R0.y", **field))
        for name, field in updates.items()
    ]  # fmt: skip
    cases += [
        pair(f"{name} of KILLE", slot("KILLE", "_.y", "R0.x", "R0.y", **field), slot("KILLE", "_.y", "R1.x", "0"))
        for name, field in updates.items()
    ]
    one, two = slot(predicate, "_.y", "R0.x", "R0.y"), slot("PRED_SETGT_INT", "_.z", "R0.x", "R0.y")
    kill, other = slot("KILLNE", "_.z", "R0.w", "1.0"), slot("KILLGT", "_.w", "0", "1.0")
    cases += [
        case("two PRED_SETs", group(_FIRST, one, two), group(_FIRST, one, add_in("z"))),
        case("PRED_SET and KILL", group(_FIRST, one, kill), group(_FIRST, kill, other)),
        pair("PRED_SEL 1", slot("MOV", "R3.y", "R0.y", pred_sel=1), slot("MOV", "R3.y", "R0.y", predicate="ONE")),
        case("MOVA beside REL", group(_FIRST, slot("MOVA_INT", "_.y", "0"), slot("MOV", "R3.z", "R0+.x")),
             group(_FIRST, slot("MOVA_INT", "_.y", "0"), slot("MOV", "R3.z", "R0.x"))),
        case("MOVA beside a relative destination",
             group(_FIRST, slot("MOVA", "_.y", "0"), slot("MOV", "R3+.z", "R0.x")),
             group(_FIRST, slot("MOVA", "_.y", "0"), slot("MOV", "R3.z", "R0.x"))),
        pair("MOVA_FLOOR of REL", slot("MOVA_FLOOR", "_.y", "R0+.x"), slot("MOVA_FLOOR", "_.y", "R0.x")),
    ]  # fmt: skip
    assert add.channel == 1
    return cases


def add_in(channel: str) -> Slot:
    """An addition."""
    return slot("ADD", f"_.{channel}", "R0.x", "R0.y")


def _placement() -> list[Case]:
    move = {c: slot("MOV", f"R3.{c}", "R0.x") for c in "xyzw"}
    exp = slot("EXP_IEEE", "R3.y", "R0.x")
    five = group(*move.values(), exp)
    six = [*group(*move.values(), exp, last=False), *group(slot("MOV", "R3.x", "R0.x"))]
    cases = [
        case("three in slot x", group(_FIRST, move["x"], move["x"]), group(_FIRST, move["x"])),
        case("two in slot t", group(_FIRST, exp, exp), group(_FIRST, exp)),
        case("one in t and one that goes there", group(move["x"], move["x"], exp), group(move["x"], move["x"])),
        case("two MOVAs in x", group(slot("MOVA_INT", "_.x", "0"), slot("MOVA_INT", "_.x", "0")),
             group(slot("MOVA_INT", "_.x", "0"), slot("MOVA_INT", "_.y", "0"))),
        case("MOVA after a MOV in x", group(move["x"], slot("MOVA_INT", "_.x", "0")), group(move["x"])),
        case("y before x", group(move["y"], _FIRST), group(_FIRST, move["y"])),
        case("w before z", group(_FIRST, move["w"], move["z"]), group(_FIRST, move["z"], move["w"])),
        case("t before x", group(exp, _FIRST), group(_FIRST, exp)),
        case("t by a taken slot before w", group(_FIRST, move["x"], move["w"]), group(_FIRST, move["w"], move["w"])),
        case("six words", six, five),
        case("DOT4 in three slots", dots(*["DOT4"] * 3), dots(*["DOT4"] * 4)),
        case("two kinds of DOT4", dots("DOT4", "DOT4", "DOT4", "DOT4_IEEE"), dots(*["DOT4_IEEE"] * 4)),
        case("CUBE in one slot", dots("CUBE"), dots(*["CUBE"] * 4)),
        case("MAX4 beside MOV", group(*(slot("MAX4", f"R2.{c}", "R0.x") for c in "xyz"), move["w"]),
             group(*(slot("MAX4", f"R2.{c}", "R0.x") for c in "xyzw"))),
        case("no LAST", group(_FIRST, last=False), group(_FIRST)),
        case("literals after the clause", group(slot("MOV", "R2.x", "#12345678"))[:1], group(_FIRST)),
        case("the second literals after the clause",
             group(slot("MOV", "R2.x", "#1"), slot("MOV", "R2.y", "#2"), slot("MOV", "R2.z", "#3"))[:4],
             group(slot("MOV", "R2.x", "#1"), slot("MOV", "R2.y", "#2"))),
    ]  # fmt: skip
    return cases


def _operands() -> list[Case]:
    def reading(text: str, **fields) -> Slot:
        return slot("MOV", "R3.y", text, **fields)

    def raw(select: int) -> Slot:
        return slot("MOV", "R3.y", "R0.x", src0_sel=select)

    good = reading("K0[15].x")
    cases = [pair(f"select {select}", raw(select), raw(248), kcache=KCACHE) for select in (*range(192, 244), 256, 511)]
    cases += [
        pair("row 16 of a line", reading("K0[16].x"), good, kcache=KCACHE),
        pair("row 16 of a line of set 1", reading("K1[16].x"), reading("K1[15].x"), kcache=KCACHE),
        pair("row 16 of a line with REL", reading("K0[16+].x"), reading("K0[15+].x"), kcache=KCACHE),
        pair("set 0 that is not locked", reading("K0[0].x"), reading("R0.x"), kcache=[(0, 0), (2, 0)]),
        pair("set 1 that is not locked", reading("K1[0].x"), reading("K0[31].x"), kcache=[(2, 0)]),
        pair("lines at aL", reading("K0[0].x"), reading("K1[31].x"), kcache=[(3, 0), (2, 0)]),
        pair("constants of bank 1", reading("K0[0].x"), reading("K1[0].x"), kcache=[(1, 0), (1, 0)], kcache_bank0=1),
        pair("constants of bank 15", reading("K1[0].x"), good, kcache=KCACHE, kcache_bank1=15),
        pair("what slot t has not produced", reading("PS"), reading("PV.x")),
        pair("what slot y has not produced", reading("PV.y"), reading("PV.x")),
        pair("what slot w has not produced", reading("-PV.w"), reading("-PV.x")),
    ]
    between = group(slot("EXP_IEEE", "R3.y", "R0.x")), _BEFORE
    wrong, right = (clause(*between, group(_FIRST, reading(text))) for text in ("PS", "PV.x"))
    cases.append(Case(name="PS of the group before the last", bad=wrong, good=right, at=2))
    for mode in (5, 6, 7):
        cases.append(pair(f"INDEX_MODE {mode}", reading("R0+.x", index_mode=mode), reading("R0.x", index_mode=mode)))
        relative = slot("MOV", "R3+.y", "R0.x", index_mode=mode)
        cases.append(pair(f"INDEX_MODE {mode} of a destination", relative, slot("MOV", "R3+.y", "R0.x", index="LOOP")))
    for name in ("PV.x", "PS"):
        bad = clause(group(_FIRST, reading(name)))
        cases.append(Case(name=f"{name} at a clause's start", bad=bad, good=clause(_BEFORE), at=0))
    return cases


def _ports() -> list[Case]:
    def two(first: int, second: int) -> list[Unit]:
        return group(
            slot("MOV", "R2.x", "R0.x", swizzle=first), slot("MOV", "R2.y", "R3.x", swizzle=second)
        )  # fmt: skip

    def add(swizzle: int, a: str, b: str) -> list[Unit]:
        return group(slot("MOV", "R2.x", "R0.x", swizzle=0), slot("ADD", "R2.y", a, b, swizzle=swizzle))

    def trans(swizzle: int, *operands: str) -> list[Unit]:
        return group(_FIRST, slot("MUL_LIT", "R3.y", *operands, swizzle=swizzle))

    def pairs(*operands: str) -> list[Unit]:
        return group(*(slot("MOV", f"R2.{c}", each) for c, each in zip("xyzw", operands, strict=False)))

    cases = [
        case("one channel of two registers", two(0, 0), two(0, 2)),
        case("one channel of two registers in cycle 2", two(4, 5), two(4, 3)),
        case("two operands of two slots", add(3, "R3.y", "R3.x"), add(0, "R0.x", "R3.x")),
        case("with REL it is another register", add(0, "R0+.x", "R1.y"), add(0, "R0.x", "R1.y")),
        case("t beside x", group(slot("MOV", "R2.x", "R0.x", swizzle=4), slot("EXP_IEEE", "R3.x", "R3.x", swizzle=0)),
             group(slot("MOV", "R2.x", "R0.x", swizzle=4), slot("EXP_IEEE", "R3.x", "R3.x", swizzle=1))),
        case("constant in the cycle of a register", trans(0, "K0[0].x", "K0[1].x", "R0.x"),
             trans(1, "K0[0].x", "K0[1].x", "R0.x"), kcache=KCACHE),
        case("one constant in the cycle of a register", trans(0, "1.0", "R0.x", "R0.y"),
             trans(1, "1.0", "R0.x", "R0.y")),
        case("constant in the cycle of PV", trans(0, "0.5", "R0.y", "PV.x"), trans(2, "0.5", "R0.y", "PV.x")),
        case("three constants in t", trans(1, "#1", "#2", "0"), trans(1, "#1", "#2", "R0.x")),
        case("three constants of kinds in t", trans(1, "K0[0].x", "#2", "0.5"), trans(1, "K0[0].x", "#2", "PV.x"),
             kcache=KCACHE),
        case("three halves of rows", pairs("K0[0].x", "K0[0].z", "K0[1].x"), pairs("K0[0].x", "K0[1].z", "K0[0].y"),
             kcache=KCACHE),
        case("rows of two sets", pairs("K0[5].x", "K1[5].y", "K0[6].z"), pairs("K0[5].x", "K1[5].y", "K0[5].y"),
             kcache=[(1, 0), (1, 1)]),
        case("rows of lines that overlap", pairs("K0[21].x", "K1[5].y", "K0[6].z", "K0[7].z"),
             pairs("K0[21].x", "K1[5].y", "K0[6].z", "K0[6].w"), kcache=[(2, 0), (1, 1)]),
    ]  # fmt: skip
    src = group(slot("MOV", "R2.x", "R3.x", swizzle=0), slot("ADD", "R2.y", "R3.x", "R3.x", swizzle=0),
                slot("ADD", "R2.z", "0.5", "R4.x", swizzle=0))  # fmt: skip
    no = group(slot("MOV", "R2.x", "R3.x", swizzle=0), slot("ADD", "R2.y", "R3.y", "R3.x", swizzle=0),
               slot("ADD", "R2.z", "0.5", "R4.x", swizzle=0))  # fmt: skip
    cases.append(case("operand 1 that operand 0 does not read", no, src))
    cases += [
        case(f"BANK_SWIZZLE {code} of {position}", group(_FIRST, slot(name, "R3.y", "R0.x", swizzle=code)),
             group(_FIRST, slot(name, "R3.y", "R0.x", swizzle=last)))
        for position, name, codes, last in (("y", "MOV", (6, 7), 5), ("t", "EXP_IEEE", (4, 5, 6, 7), 3))
        for code in codes
    ]  # fmt: skip
    return cases


def _modifiers() -> list[Case]:
    cases = []
    for name, operands in OF_INTEGERS.items():
        for field, value in (("omod", 1), ("omod", 3), ("clamp", True)):
            modifier: dict[str, Any] = {field: value}
            changed = slot(name, "R3.y", *["R0.x"] * operands, **modifier)
            cases.append(pair(f"{field} of {name}", changed, slot(name, "R3.y", *["R0.x"] * operands)))
    for name in ("CNDE_INT", "CNDGT_INT", "CNDGE_INT"):
        three = ["R0.x"] * 3
        clamped, plain = slot(name, "R3.y", *three, clamp=True), slot(name[:-4], "R3.y", *three, clamp=True)
        cases.append(pair(f"clamp of {name}", clamped, plain))
    return cases


CASES = [*_effects(), *_placement(), *_operands(), *_ports()]


def find(name: str) -> None:
    check(by_name(CASES, name), 16)


@pytest.mark.parametrize("wavefront", [4, 64])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_faults_and_its_neighbour_does_not(case: Case, wavefront: int) -> None:
    check(case, wavefront)


@pytest.mark.parametrize("case", _modifiers(), ids=str)
def test_integers_have_no_modifiers(case: Case) -> None:
    check(case, 16)


def test_floats_have_modifiers() -> None:
    groups = [
        group(slot(name, "R3.y", *["R0.x"] * operands, omod=omod, clamp=clamp))
        for name, operands in OF_FLOATS.items()
        for omod, clamp in ((1, False), (3, False), (2, True), (0, True))
    ]
    for first in range(0, len(groups), 64):
        found, _, _ = attempt(clause(*groups[first : first + 64]), {}, 16)
        assert found.error is None, found.error


@pytest.mark.parametrize("code", [*sorted(NO_OPERATIONS), 0x80, 0x99, 0xFF])
def test_codes_that_are_no_operations(code: int) -> None:
    bad = group(_FIRST, slot("MOV", "R3.y", "R0.x", alu_inst=code))
    check(case("no operation", bad, group(_FIRST, slot("MOV", "R3.y", "R0.x"))), 4)


@pytest.mark.parametrize("code", NO_OPERATIONS_OF_THREE)
def test_codes_that_are_no_operations_of_three(code: int) -> None:
    operands = ["R0.x"] * 3
    bad = group(_FIRST, slot("MULADD", "R3.y", *operands, alu_inst=code))
    check(case("no operation", bad, group(_FIRST, slot("MULADD", "R3.y", *operands))), 4)


def test_all_other_codes_are_operations() -> None:
    """As far as they can stand alone, or four of them in the four slots."""
    for code in sorted(set(range(128)) - NO_OPERATIONS):
        name = Op2(code).name
        words = dots(*[name] * 4) if 0x50 <= code < 0x54 else group(slot(name, "_.x", "R0.x", "R0.x"))
        assert attempt(clause(words), {}, 64)[0].error is None, name
    for code in sorted(set(range(8, 31)) - set(NO_OPERATIONS_OF_THREE)):
        name = Op3(code).name
        assert attempt(clause(group(slot(name, "R3.x", "R0.x", "R0.x", "R0.x"))), {}, 64)[0].error is None, name


@pytest.mark.parametrize("name", ["NOP", "PRED_SET_CLR", "MOV"])
def test_fields_of_operands_that_an_operation_does_not_have_are_ignored(name: str) -> None:
    """They may be anything: a literal that is not there, a constant of no bank, a relative nothing, a register."""
    for select in (253, 200, 160, 254, 255, 500):
        unused: dict[str, Any] = {"src1_sel": select, "src1_rel": 1, "src1_chan": 3}
        words = group(slot("MOV", "R3.w", "R0.x"), slot("MOV", "R3.w", "R0.x")) if name == "MOV" else []
        body = clause(words or _BEFORE, group(slot(name, "_.y", *["R0.x"] * (name == "MOV"), index_mode=7, **unused)))
        found, _, _ = attempt(body, {}, 16)
        assert found.error is None, f"{select}: {found.error}"
