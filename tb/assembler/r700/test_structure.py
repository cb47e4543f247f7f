"""Structured control flow: the words that it becomes, and what they do."""

import re

import numpy as np
import pytest

from ctm.sim.assembler import disassemble
from ctm.tb.assembler.r700.assembly import assemble
from ctm.tb.assembler.r700.running import HEIGHT, UNWRITTEN, WIDTH, run

EXPORT = "EXPORT_DONE PIX0, R1.xyzw"
CODE = "ADD R1.x, R1.x, 1.0"
CONDITION = "PRED_SETGT R0.x, 3.0"


def words(text: str) -> list[str]:
    """The CF instructions of a text, without the lengths of clauses and labels of these."""
    lines = disassemble(assemble(f".isa r700\n{text}\n")).splitlines()
    found = [line.split(";")[0].strip() for line in lines]
    control = [line for line in found if re.match(r"[A-Z][A-Z_0-9]+(?!.*, [^P]*, )", line) and "t0" not in line]
    return [re.sub(r" ADDR\(L\d+\) CNT\(\d+\)| KCACHE\d\(.*?\)", "", line) for line in control if line[-1] != ":"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f"IF {CONDITION}\n{CODE}\nENDIF\n{EXPORT}",
            ["ALU_PUSH_BEFORE", "JUMP ADDR(L3) POP_CNT(1)", "ALU_POP_AFTER"],
        ),
        (
            f"{CODE}\nIF {CONDITION}\nSAMPLE R1.xyzw, R0.xy__, t0, s0\nENDIF\n{EXPORT}",
            ["ALU_PUSH_BEFORE", "JUMP ADDR(L4) POP_CNT(1)", "TEX", "POP ADDR(L4) POP_CNT(1)"],
        ),
        (
            f"IF {CONDITION}\n{CODE}\nELSE\nADD R1.x, R1.x, 2.0\nENDIF\n{EXPORT}",
            ["ALU_PUSH_BEFORE", "JUMP ADDR(L3)", "ALU", "ELSE ADDR(L5) POP_CNT(1)", "ALU_POP_AFTER"],
        ),
        (
            f"IF {CONDITION}\n{CODE}\nIF PRED_SETGT R0.y, 0\n{CODE}\nENDIF\nENDIF\n{EXPORT}",
            ["ALU_PUSH_BEFORE", "JUMP ADDR(L6) POP_CNT(1)", "ALU_PUSH_BEFORE", "JUMP ADDR(L5) POP_CNT(1)",
             "ALU_POP_AFTER", "POP ADDR(L6) POP_CNT(1)"],
        ),
        (
            f"LOOP\n{CODE}\nBREAK IF PRED_SETGT R1.x, 3.0\nENDLOOP\n{EXPORT}",
            ["LOOP_START_DX10 ADDR(L6)", "ALU_PUSH_BEFORE", "JUMP ADDR(L5) POP_CNT(1)", "LOOP_BREAK ADDR(L5)",
             "POP ADDR(L5) POP_CNT(1)", "LOOP_END ADDR(L1)"],
        ),
        (
            f"LOOP i3\n{CODE}\nCONTINUE\nENDLOOP\nREP i4\nENDLOOP\n{EXPORT}",
            ["LOOP_START ADDR(L4) CF_CONST(3)", "ALU", "LOOP_CONTINUE ADDR(L3)", "LOOP_END ADDR(L1)",
             "LOOP_START_NO_AL ADDR(L6) CF_CONST(4)", "LOOP_END ADDR(L5)"],
        ),
        (
            f"IF b3\n{CODE}\nELSE\nIF !b4\nADD R1.y, R1.x, 1.0\nENDIF\nENDIF\n{EXPORT}",
            ["JUMP ADDR(L3) COND(BOOL) CF_CONST(3)", "ALU", "JUMP ADDR(L5) COND(FALSE)",
             "JUMP ADDR(L5) COND(NOT_BOOL) CF_CONST(4)", "ALU"],
        ),
        (
            f"CALL twice\n{EXPORT}\nSUB twice\n{CODE}\nENDSUB",
            ["CALL ADDR(L2) CALL_COUNT(1)", f"{EXPORT} END_OF_PROGRAM", "ALU", "RETURN"],
        ),
    ],
)  # fmt: skip
def test_words(text: str, expected: list[str]) -> None:
    found = words(text)
    assert found == (expected if "SUB" in text else [*expected, f"{EXPORT} END_OF_PROGRAM"])


def test_a_program_that_ends_with_a_clause_or_a_jump_gets_a_nop() -> None:
    assert words(CODE) == ["ALU", "NOP END_OF_PROGRAM"]
    assert words(f"{EXPORT}\nIF {CONDITION}\nKILL\nENDIF")[-1] == "NOP END_OF_PROGRAM"
    assert words(f"LOOP\nBREAK\nENDLOOP\n{EXPORT}\nend:")[-1] == "NOP END_OF_PROGRAM"


def test_clauses_that_are_written_keep_their_operation() -> None:
    text = f"ALU_BREAK WHOLE_QUAD\n{CODE}\nALU\n{CODE}\nVTX NO_BARRIER\nFETCH R1.xyzw, R0.x, b0\n{EXPORT}"
    assert words(text)[:3] == ["ALU_BREAK WHOLE_QUAD", "ALU", "VTX NO_BARRIER"]


def test_raw_words_stand_among_statements() -> None:
    text = f"JUMP ADDR(after) COND(FALSE)\n{CODE}\nafter:\nPUSH ADDR(out)\n{CODE}\nPOP POP_CNT(1)\nout: {EXPORT}"
    assert words(text)[0] == "JUMP ADDR(L2) COND(FALSE)"
    assert words(text)[1:4] == ["PUSH ADDR(L5)", "ALU", "POP POP_CNT(1)"]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (EXPORT, 0),
        (f"LOOP\nBREAK\nENDLOOP\n{EXPORT}", 1),
        (f"IF {CONDITION}\nENDIF\n{EXPORT}", 1),
        (f"LOOP\nBREAK IF {CONDITION}\nENDLOOP\n{EXPORT}", 2),
        ("LOOP\n" * 3 + "BREAK\n" + "ENDLOOP\n" * 3 + EXPORT, 3),
        (f"IF {CONDITION}\n" * 6 + "ENDIF\n" * 6 + EXPORT, 2),
        (f"IF {CONDITION}\n" * 7 + "ENDIF\n" * 7 + EXPORT, 3),
        (f"CALL a\n{EXPORT}\nSUB a\nIF {CONDITION}\nCALL b\nENDIF\nENDSUB\nSUB b\nENDSUB", 2),
        (f"IF b0\n{CODE}\nENDIF\n{EXPORT}", 0),
    ],
)
def test_stack_sizes(text: str, size: int) -> None:
    assert assemble(f".isa r700\n{text}\n").stack_size == size


def test_a_fetch_subroutine_takes_an_entry() -> None:
    assert assemble(f".isa r700\n.stage es\nCALL_FS\n{CODE}\nNOP END_OF_PROGRAM\n").stack_size == 1
    inside = f"IF b0\nCALL_FS\nENDIF\nLOOP\nBREAK\nENDLOOP\n{CODE}"
    assert assemble(f".isa r700\n.stage vs\n{inside}\nNOP END_OF_PROGRAM\n").stack_size == 1


X, Y = np.meshgrid(np.arange(WIDTH, dtype=np.float32), np.arange(HEIGHT, dtype=np.float32))


def out(text: str, **constants: object) -> np.ndarray:
    """Component x of R1 when a program of statements is done."""
    return run(f".isa r700\n{text}\nEXPORT_DONE PIX0, R1.xyzw\n", **constants)[..., 0]  # type: ignore[arg-type]


def test_branches() -> None:
    text = """
        IF PRED_SETGT R0.x, 3.0
            IF PRED_SETGT R0.y, 1.0
                MOV R1.x, 1.0
            ELSE
                MOV R1.x, 2.0
            ENDIF
        ELSE
            IF PRED_SETGT R0.y, 2.0
                MOV R1.x, 3.0
            ENDIF
        ENDIF
    """
    expected = np.where(X > 3, np.where(Y > 1, 1, 2), np.where(Y > 2, 3, 0))
    np.testing.assert_array_equal(out(text), expected)


def test_loops() -> None:
    text = """
        LOOP
            BREAK IF PRED_SETGE R2.x, 6.0
            ADD R2.x, R2.x, 1.0
            CONTINUE IF PRED_SETGT R2.x, R0.x
            LOOP i1
                ADD R1.x, R1.x, R0.y
                IF PRED_SETGT R0.y, 2.0
                    BREAK
                ENDIF
            ENDLOOP
        ENDLOOP
    """
    rounds = np.minimum(X, 6)
    expected = rounds * np.where(Y > 2, Y, 3 * Y)
    np.testing.assert_array_equal(out(text, ints={1: (3, 0, 1)}), expected)


def test_relative_operands_count_with_the_loop() -> None:
    text = "MOV R4.x, 1.0\nMOV R5.x, 2.0\nMOV R6.x, 4.0\nLOOP i0\nADD R1.x, R1.x, R[4+aL].x\nENDLOOP"
    np.testing.assert_array_equal(out(text, ints={0: (2, 1, 1)}), np.full_like(X, 6))


@pytest.mark.parametrize(("bools", "value"), [((), 2), ((3,), 1), ((4,), 0), ((3, 4), 1)])
def test_boolean_constants(bools: tuple[int, ...], value: int) -> None:
    text = "IF b3\nMOV R1.x, 1.0\nELSE\nIF !b4\nMOV R1.x, 2.0\nENDIF\nENDIF"
    np.testing.assert_array_equal(out(text, bools=bools), np.full_like(X, value))


def test_a_loop_is_left_by_a_boolean_constant() -> None:
    text = "LOOP\nADD R1.x, R1.x, 1.0\nBREAK IF b0\nBREAK IF PRED_SETGE R1.x, 5.0\nENDLOOP"
    assert out(text, bools=(0,))[0, 0] == 1 and out(text)[0, 0] == 5


def test_subroutines() -> None:
    text = """
        CALL grow
        IF PRED_SETGT R0.x, 3.0
            CALL grow
        ENDIF
    """
    subroutine = "SUB grow\nADD R1.x, R1.x, 2.0\nCALL more\nENDSUB\nSUB more\nADD R1.x, R1.x, 5.0\nENDSUB"
    found = run(f".isa r700\n{text}\nEXPORT_DONE PIX0, R1.xyzw\n{subroutine}\n")[..., 0]
    np.testing.assert_array_equal(found, np.where(X > 3, 14, 7))


def test_killed_pixels_stay_unwritten() -> None:
    found = out("MOV R1.x, 1.0\nKILLGT ____, R0.x, 3.0")
    np.testing.assert_array_equal(found, np.where(X > 3, UNWRITTEN, 1))


def test_predicated_instructions() -> None:
    text = "PRED_SETGT ____, R0.x, 3.0 UPDATE_PRED\nMOV R1.x, 1.0 PRED_SEL_ONE\nMOV R1.x, 2.0 PRED_SEL_ZERO"
    np.testing.assert_array_equal(out(text), np.where(X > 3, 1, 2))


def test_the_condition_may_be_in_the_clause_in_front() -> None:
    body = "IF\nMOV R1.x, 1.0\nENDIF"
    text = f"0 x: ADD R2.x, R0.x, 1.0\n1 x: PRED_SETGT R3.x, PV.x, 3.0 UPDATE_EXEC_MASK UPDATE_PRED\n{body}"
    np.testing.assert_array_equal(out(text), X + 1 > 3)
    text = "ADD R2.x, R0.x, 1.0\nIF PRED_SETGT PV.x, 3.0\nMOV R1.x, 1.0\nENDIF"
    np.testing.assert_array_equal(out(text), X + 1 > 3)


def test_two_ifs_without_code_between_push_in_clauses_of_their_own() -> None:
    text = "IF PRED_SETGT R0.x, 1.0\nIF PRED_SETGT 5.0, R0.x\nMOV R1.x, 1.0\nENDIF\nADD R1.x, R1.x, 1.0\nENDIF"
    np.testing.assert_array_equal(out(text), np.where(X > 1, np.where(X < 5, 2, 1), 0))


@pytest.mark.parametrize("depth", [1, 5, 20])
def test_nested_branches_of_any_depth(depth: int) -> None:
    text = "".join(f"ADD R1.x, R1.x, 1.0\nIF PRED_SETGT R0.x, {level}.0\n" for level in range(depth))
    found = out(text + "ENDIF\n" * depth)
    np.testing.assert_array_equal(found, np.minimum(X + 1, depth))
