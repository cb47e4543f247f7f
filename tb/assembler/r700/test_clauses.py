"""Clauses that the assembler makes: where they are, where they are cut, which constants they lock."""

import numpy as np
import pytest

from ctm.rtl.isa.r700.control_flow import CF_ALU_DWORD0, CF_ALU_DWORD1, CF_DWORD1, CF_FORM
from ctm.rtl.isa.word import unpack
from ctm.sim.assembler import AssemblyError, assemble, assemble_listing
from ctm.sim.elf.r700.executable import Executable
from ctm.tb.assembler.r700.running import run

EXPORT = "EXPORT_DONE PIX0, R1.xyzw"


def assembled(text: str) -> Executable:
    found = assemble(f".isa r700\n{text}\n{EXPORT}\n")
    assert isinstance(found, Executable)
    return found


def alu_words(executable: Executable) -> list[dict[str, int]]:
    """The fields of the words that start ALU clauses, at the beginning of the code."""
    found: list[dict[str, int]] = []
    for low, high in executable.code:
        if not unpack(CF_FORM, high)["is_alu"]:
            return found
        found.append(unpack(CF_ALU_DWORD0, low) | unpack(CF_ALU_DWORD1, high))
    return found


def test_control_flow_is_first_then_alu_clauses_then_fetches_at_even_addresses() -> None:
    text = "MOV R1.x, R0.x\nSAMPLE R2.xyzw, R0.xy__, t0, s0\nMOV R1.y, R2.y\nSAMPLE R3.xyzw, R0.xy__, t1, s1"
    executable = assembled(text)
    addresses = [low & 0x3FFFFF for low, _ in executable.code[:4]]
    assert addresses == [5, 8, 6, 10]
    assert executable.code[7] == (0, 0) and len(executable.code) == 12


def test_an_alu_clause_has_at_most_128_units() -> None:
    words = alu_words(assembled("MOV R1.x, R0.x\n" * 300))
    assert [word["count"] + 1 for word in words] == [128, 128, 44]


def test_a_group_is_not_cut() -> None:
    words = alu_words(assembled("0 x: MOV R1.x, R0.x\ny: MOV R1.y, R0.y\nz: MOV R1.z, 2.5\n" * 40))
    assert [word["count"] + 1 for word in words] == [128, 32]


def test_a_clause_is_not_cut_where_results_are_passed_on() -> None:
    chain = "0 x: MOV R1.x, R0.x\n1 x: MOV R1.x, PV.x\n2 x: MOV R1.x, PV.x\n"
    words = alu_words(assembled(chain * 50))
    assert [word["count"] + 1 for word in words] == [126, 24]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("MOV R1.x, R0.x\n" + "0 x: MOV R1.x, PV.x\n" * 130, "PV or PS is read here"),
        ("MOVA_INT ____.y, R0.x\n" + "MOV R1.x, R[1+AR.y].x\n" * 130, "AR.y is needed after it"),
        (
            "PRED_SETGT ____, R0.x, 0 UPDATE_PRED\n" + "MOV R1.x, R0.x PRED_SEL_ONE\n" * 130,
            "the predicate is needed after it",
        ),
    ],
)
def test_a_clause_that_cannot_be_cut_is_an_error(text: str, reason: str) -> None:
    with pytest.raises(AssemblyError, match=reason) as caught:
        assembled(text)
    assert caught.value.line == 130


def test_a_clause_is_cut_where_the_address_is_set_anew() -> None:
    text = "MOVA_INT ____, R0.x\n" + "MOV R1.x, R[1+AR.x].x\n" * 100
    words = alu_words(assembled(f".gprs 8\n{text * 2}"))
    assert [word["count"] + 1 for word in words] == [101, 101]


def test_only_the_first_clause_pushes_and_only_the_last_pops() -> None:
    body = "ADD R1.x, R1.x, 1.0\n" * 200
    executable = assembled(f"{body}IF PRED_SETGT R0.x, 3.0\n{body}ENDIF")
    operations = [high >> 26 & 15 for _, high in executable.code[:5]]
    assert operations == [9, 8, 1, 8, 10]
    found = run(f".isa r700\n{body}IF PRED_SETGT R0.x, 3.0\n{body}ENDIF\n{EXPORT}\n")
    np.testing.assert_array_equal(found[0, :, 0], [200] * 4 + [400] * 4)


@pytest.mark.parametrize(
    ("rows", "locks"),
    [
        ([0], [(1, 0, 0, 0)]),
        ([0, 20], [(2, 0, 0, 0)]),
        ([0, 200], [(1, 0, 1, 12)]),
        ([16, 32, 250], [(2, 1, 1, 15)]),
        ([0, 17, 40, 50], [(2, 0, 2, 2)]),
        ([0, 40, 80], [(1, 0, 1, 2), (1, 5, 0, 0)]),
        ([0, 40, 80, 120, 0], [(1, 0, 1, 2), (1, 5, 1, 7), (1, 0, 0, 0)]),
    ],
)
def test_constants_are_locked(rows: list[int], locks: list[tuple[int, ...]]) -> None:
    text = "".join(f"ADD R1.x, R1.x, C{row}.y\n" for row in rows)
    words = alu_words(assembled(text))
    names = ("kcache_mode0", "kcache_addr0", "kcache_mode1", "kcache_addr1")
    assert [tuple(word[name] for name in names) for word in words] == locks
    floats = {row: (0.0, float(row + 1), 0.0, 0.0) for row in rows}
    found = run(f".isa r700\n{text}{EXPORT}\n", floats)
    assert found[0, 0, 0] == sum(row + 1 for row in rows)


def test_locks_that_are_written_stay() -> None:
    text = "ALU KCACHE1(CB0:32-47)\nADD R1.x, KC1[2].x, C40.x\nADD R1.x, R1.x, C3.x"
    (word,) = alu_words(assembled(text))
    assert (word["kcache_mode0"], word["kcache_addr0"], word["kcache_mode1"], word["kcache_addr1"]) == (1, 0, 1, 2)
    floats = {row: (float(row),) * 4 for row in range(64)}
    assert run(f".isa r700\n{text}\n{EXPORT}\n", floats)[0, 0, 0] == 34 + 40 + 3


def test_constants_relative_to_the_address_register() -> None:
    text = "FLT_TO_INT R2.x, R0.x\nMOVA_INT ____, R2.x\nMOV R1.x, C[2+AR.x].y"
    floats = {row: (0.0, float(row), 0.0, 0.0) for row in range(64)}
    np.testing.assert_array_equal(run(f".isa r700\n{text}\n{EXPORT}\n", floats)[0, :, 0], np.arange(2, 10))


def test_fetch_clauses_have_at_most_16_instructions_and_no_dependence() -> None:
    fetches = "".join(f"SAMPLE R{number}.xyzw, R0.xy__, t0, s0\n" for number in range(1, 21))
    executable = assembled(f"{fetches}SAMPLE R30.xyzw, R1.xy__, t0, s0\nSAMPLE R31.xyzw, R30.xy__, t0, s0")
    fields = [unpack(CF_DWORD1, high) for _, high in executable.code[:4]]
    assert [word["count"] + 8 * word["count_3"] + 1 for word in fields[:3]] == [16, 5, 1]


def test_a_clause_of_vertex_fetches_is_one_for_the_vertex_cache() -> None:
    found = assembled("FETCH R1.xyzw, R0.x, b0")
    assert found.code[0][1] >> 23 & 0x7F == 2
    found = assembled("FETCH R1.xyzw, R0.x, b0\nSAMPLE R2.xyzw, R0.xy__, t0, s0")
    assert found.code[0][1] >> 23 & 0x7F == 1


@pytest.mark.parametrize(
    ("text", "gprs"),
    [
        ("MOV R1.x, R7.x", 8),
        ("MOV R125.x, R7.x", 8),
        ("MOV ____, R7.x\nMOV _R9.x, R1.x", 8),
        ("SAMPLE R20.xyzw, R0.xy__, t0, s0", 21),
        ("SAMPLE R20.____, R22.xy__, t0, s0", 23),
        (".scratch\nMEM_SCRATCH R5.xyzw, [0+R9] BURST(4)", 10),
        (".scratch\nMEM_SCRATCH R5.xyzw, [0+R2] BURST(8)", 13),
        ("MOV R1.x, R[3+AR.x].x", 124),
        ("MOV R1.x, C[3+AR.x].x", 2),
        (".gprs 50\nMOV R1.x, R[3+AR.x].x", 50),
    ],
)
def test_gprs_are_counted(text: str, gprs: int) -> None:
    assert assembled(text).gprs == gprs


def test_each_unit_knows_its_line() -> None:
    text = f".isa r700\n0 x: MOV R1.x, 2.5\n  y: MOV R1.y, R0.x\nSAMPLE R2.xyzw, R0.xy__, t0, s0\n{EXPORT}\n"
    assert assemble_listing(text).lines == (2, 4, 5, 2, 3, 3, 4, 4)
