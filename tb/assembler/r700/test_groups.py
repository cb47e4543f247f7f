"""Groups: what is chosen for them, and what is illegal, compared with the golden model's own decoder."""

import itertools
import re
from collections.abc import Sequence

import pytest

from ctm.rtl.isa.r700.alu import ALU_DWORD1_OP2, TransSwizzle, VectorSwizzle
from ctm.rtl.isa.r700.control_flow import AluClause
from ctm.rtl.isa.r700.limits import TRANS_SLOT
from ctm.rtl.isa.word import replace
from ctm.sim.assembler import AssemblyError, disassemble
from ctm.sim.elf.r700.executable import Executable, Unit
from ctm.sim.golden.r700.decode.groups import decode_clause
from ctm.sim.golden.r700.instruction import AluWord, Illegal, Kcache
from ctm.tb.assembler.r700.assembly import assemble
from ctm.tb.assembler.r700.programs import program
from ctm.tb.assembler.r700.random_groups import RandomGroups
from ctm.tb.lib.seeds import seeds

END: Unit = (0x00000000, 0x80200000)
SWIZZLE = re.compile(r" (VEC|SCL)_\d\d\d")


def clause(units: Sequence[tuple[int, int]]) -> Executable:
    """A program with these units as an ALU clause that locks the first 64 rows."""
    return program([(0x80000002, 0xA0000000 | 2 | 2 << 10 | len(units) - 1 << 18), END, *units])


def illegal(code: tuple[Unit, ...]) -> str:
    """Why the clause that is the code is illegal for the golden model from unit 2 on; empty if it is not."""
    locks = Kcache(first=0, rows=32), Kcache(first=32, rows=32)
    word = AluWord(operation=AluClause.ALU, target=2, units=len(code) - 2, kcache=locks, whole_quads=False)
    found = [each for each in decode_clause(code, word).instructions if isinstance(each, Illegal)]
    return found[0].reason if found else ""


@pytest.mark.parametrize("faults", [0, 1, 4])
@pytest.mark.parametrize("seed", seeds(8, of=20))
def test_the_checker_agrees_with_the_golden_model(seed: int, faults: int) -> None:
    groups = RandomGroups(seed, faults)
    for _ in range(12):
        executable = clause(groups.clause(3))
        text = disassemble(executable)
        assert assemble(text) == executable
        rejected = ".unchecked" in text or ".unit" in text
        assert rejected == bool(illegal(executable.code)), text


@pytest.mark.parametrize("seed", seeds(12, of=40))
def test_bank_swizzles_are_found_if_there_are_any(seed: int) -> None:
    groups = RandomGroups(seed + 1000)
    found = 0
    for _ in range(12):
        units, slots = groups.group(())
        executable = clause(units)
        # Without a group before there are no PV and PS, so only the read ports can be wrong.
        text = re.sub(r"\n *\.(un)?checked", "", SWIZZLE.sub("", disassemble(executable)))
        try:
            assembled = assemble(text)
        except AssemblyError as error:
            assert not any(not illegal(other) for other in swizzled(executable, slots)), error
        else:
            found += 1
            assert not illegal(assembled.code)
            assert strip(assembled.code, slots) == strip(executable.code, slots)
    assert found > 2


def swizzled(executable: Executable, slots: list[int]):
    """The code with every combination of bank swizzles."""
    for choice in itertools.product(*[TransSwizzle if slot == TRANS_SLOT else VectorSwizzle for slot in slots]):
        yield with_swizzles(executable.code, [swizzle.value for swizzle in choice])


def with_swizzles(code: tuple[Unit, ...], swizzles: list[int]) -> tuple[Unit, ...]:
    units = list(code)
    for at, swizzle in enumerate(swizzles, start=2):
        low, high = units[at]
        units[at] = low, replace(ALU_DWORD1_OP2, high, bank_swizzle=swizzle)
    return tuple(units)


def strip(code: tuple[Unit, ...], slots: list[int]) -> tuple[Unit, ...]:
    """The code without its bank swizzles."""
    return with_swizzles(code, [0] * len(slots))


def groups(text: str) -> list[str]:
    """The groups of a text as the disassembler writes them, without comments and numbers."""
    lines = disassemble(assemble(f".isa r700\n{text}\n")).splitlines()
    return [match[1].strip() for line in lines if (match := re.match(r" +(?:\d+ )?(\w: [^;]*)", line))]


def test_two_operations_of_one_component_go_to_a_vector_slot_and_to_t() -> None:
    assert groups("0 ?: ADD R1.x, R0.x, 1.0\n?: MUL R2.x, R0.y, 0.5") == [
        "x: ADD R1.x, R0.x, 1.0",
        "t: MUL R2.x, R0.y, 0.5",
    ]


def test_the_one_that_fits_goes_to_t() -> None:
    """Three constants cannot be read in t, so the multiplication goes there."""
    assert groups("0 ?: MUL R2.x, R0.y, R3.x\n?: MULADD R1.x, 0.5, C1.x, 3.0") == [
        "x: MULADD R1.x, 0.5, KC0[1].x, 3.0",
        "t: MUL R2.x, R0.y, R3.x",
    ]


def test_the_order_of_the_text_does_not_matter() -> None:
    assert groups("0 t: SIN R1.x, R0.x\nz: MOV R1.z, R0.y\ny: MOV R1.y, R0.z") == [
        "y: MOV R1.y, R0.z",
        "z: MOV R1.z, R0.y",
        "t: SIN R1.x, R0.x",
    ]


def test_a_reduction_takes_four_slots() -> None:
    assert groups("DOT4 R3.xz, R1.xyzw, -C2.wzyx\nt: RECIP_IEEE R4.y, R2.y") == [
        "x: DOT4 R3.x, R1.x, -KC0[2].w",
        "y: DOT4 _R3.y, R1.y, -KC0[2].z",
        "z: DOT4 R3.z, R1.z, -KC0[2].y",
        "w: DOT4 _R3.w, R1.w, -KC0[2].x",
        "t: RECIP_IEEE R4.y, R2.y",
    ]


def test_bank_swizzles_that_are_written_stay() -> None:
    text = "0 x: ADD R1.x, R0.x, R1.x VEC_120\ny: ADD R1.y, R2.x, R3.y"
    code = assemble(f".isa r700\n{text}").code
    first, second = (unit[1] >> 18 & 7 for unit in code[2:4])
    assert (first, second) == (VectorSwizzle.VEC_120.value, VectorSwizzle.VEC_012.value)


def test_the_same_operand_twice_is_read_once() -> None:
    text = "0 x: MUL R1.x, R0.x, R0.x\ny: ADD R1.y, R1.x, R2.x\nz: ADD R1.z, R1.x, R2.x"
    assert not illegal((END, END, *assemble(f".isa r700\n{text}").code[2:]))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("MOV R1.x, 1.0", "MOV R1.x, SEL[249].x"),
        ("MOV R1.x, 1", "MOV R1.x, SEL[250].x"),
        ("MOV R1.x, -1", "MOV R1.x, SEL[251].x"),
        ("MOV R1.x, 0.5", "MOV R1.x, SEL[252].x"),
        ("MOV R1.x, 0", "MOV R1.x, SEL[248].x"),
        ("MOV R1.x, 0.0", "MOV R1.x, SEL[248].x"),
        ("MOV R1.x, 0x3f800000", "MOV R1.x, 1.0"),
        ("MOV R1.x, -0.5", "MOV R1.x, -SEL[252].x"),
        ("MOV R1.x, -1_INT", "MOV R1.x, -SEL[250].x"),
        ("MOV R1.x, 1_DBL_M", "MOV R1.x, SEL[245].x"),
        ("MOV R1.x, 2.0", "MOV R1.x, 0x40000000"),
        ("MOV R1.x, -2.0", "MOV R1.x, 0xC0000000"),
        ("MOV R1.x, 2", "MOV R1.x, LIT(2)"),
        ("MOV R1.x, -2", "MOV R1.x, 0xFFFFFFFE"),
        ("MOV R1.x, 1e2", "MOV R1.x, 100.0"),
    ],
)
def test_numbers(text: str, same: str) -> None:
    assert assemble(f".isa r700\n{text}").code == assemble(f".isa r700\n{same}").code


def test_a_literal_can_be_forced() -> None:
    code = assemble(".isa r700\nMOV R1.x, LIT(1.0)").code
    assert code[2][0] & 0x1FF == 253
    assert code[3] == (0x3F800000, 0)
    assert assemble(".isa r700\nMOV R1.x, -LIT(1.5)").code[2][0] >> 12 & 1


def test_equal_literals_share_a_word() -> None:
    text = "0 x: ADD R1.x, 2.5, 3.5\ny: ADD R1.y, 3.5, 0x40200000\nz: ADD R1.z, 4.5, 5.5"
    assert assemble(f".isa r700\n{text}").code[5:] == ((0x40200000, 0x40600000), (0x40900000, 0x40B00000))
