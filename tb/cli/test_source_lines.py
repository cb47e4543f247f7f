"""Source lines as users see them: errors of jobs and of the bare machine, hazards, and bytes that return from text."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from ctm.tb.cli.invocation import ctm, report
from ctm.tb.jobs.single import single
from ctm.tb.lib.machines import options

JOB = single("code/wrong.s", 4, 4)
SOURCE = """; one element per pixel
    ALU r1 = MOV(r0)
    ALU r1.rgb = MOV(r1) {rgba_inst.rgb_op=15}
    OUT o0 = MOV(r1)
"""
WRONG = "ALU r1.rgb = MOV(r1) {rgba_inst.rgb_op=15}"
HAZARD = """.manual
    TEX r1 = LOOKUP(i0, r0) unscaled acquire
    ALU r2 = MOV(r1)                    ; too early
    OUT o0 = MOV(r2) sem_wait
"""
INPUT = '[[inputs]]\nindex = 0\nfile = "x.npy"\nformat = "FLOAT32_4"\n'


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "wrong.s").write_text(SOURCE)
    (tmp_path / "job.toml").write_text(JOB)
    return tmp_path / "job.toml"


@pytest.mark.parametrize("engine", ["golden", "fast", "rtl"])
def test_a_fault_names_the_file_as_the_job_does(job: Path, engine: str) -> None:
    result = ctm("run", job, "--engine", engine, *options("r5xx"))
    assert result.exit_code == 1
    assert "ILLEGAL_INSTRUCTION: RGB_OP is 15; at pc 1, code/wrong.s:3, wavefront of (i, j) = (0, 0)" in result.stderr
    assert result.stderr.endswith(f"\n    {WRONG}\n")
    error = report("run", job, "--engine", engine, *options("r5xx"))["error"]
    assert (error["pc"], error["file"], error["line"], error["source"]) == (1, "code/wrong.s", 3, WRONG)


def test_an_executable_names_its_source_and_prints_it_while_it_is_unchanged(job: Path) -> None:
    folder = job.parent
    shutil.move(folder / "code" / "wrong.s", folder / "wrong.s")
    job.write_text(JOB.replace("code/wrong.s", "wrong.elf"))
    assert ctm("asm", folder / "wrong.s", "-o", folder / "wrong.elf").exit_code == 0
    error = report("run", job)["error"]
    assert (error["file"], error["line"], error["source"]) == ("wrong.s", 3, WRONG)
    (folder / "wrong.s").write_text("\n" + SOURCE)
    error = report("run", job)["error"]
    assert (error["file"], error["line"], "source" in error) == ("wrong.s", 3, False)
    assert ctm("asm", folder / "wrong.s", "-o", folder / "wrong.elf", "--no-lines").exit_code == 0
    error = report("run", job)["error"]
    assert (error["pc"], "file" in error, "line" in error) == (1, False, False)


def test_the_bare_machine_reads_the_table_in_memory(job: Path) -> None:
    folder, engine = job.parent, "golden"
    assert ctm("asm", folder / "code" / "wrong.s", "-o", folder / "a.elf").exit_code == 0
    words = [0xC0010A00, 0x10000, 0, 0xC0030B00 + 0x100, 0, 0x20000, 4, 4, 0xC0030700, 0, 0, 3, 3, 0xC0000800, 0]
    (folder / "buffer").write_bytes(np.array(words, "<u4").tobytes())
    given = ("--engine", engine, "--load", f"0x10000={folder / 'a.elf'}", "--load", f"0={folder / 'buffer'}")
    error = report("exec", *given, "--submit", f"0,{len(words)}")["error"]
    assert (error["pc"], error["file"], error["line"]) == (1, "wrong.s", 3), error


def test_hazards_are_told_with_their_lines(job: Path) -> None:
    np.save(job.parent / "x.npy", np.zeros((4, 4, 4), np.float32))
    (job.parent / "code" / "wrong.s").write_text(HAZARD)
    job.write_text(JOB + INPUT)
    result = ctm("run", job, "--hazards")
    assert result.exit_code == 1
    assert "HAZARD: pc 1, code/wrong.s:3: " in result.stderr
    assert "; at pc 1, code/wrong.s:3, wavefront of (i, j) = (0, 0)" in result.stderr
    assert result.stderr.endswith("    ALU r2 = MOV(r1)                    ; too early\n")


@pytest.mark.parametrize("head", ["", ".isa r700\n"])
def test_the_command_line_returns_the_bytes(tmp_path: Path, head: str) -> None:
    (tmp_path / "a.s").write_text(
        head + ("    x: ADD R1.x, R0.x, 3.25\n    EXPORT PIX0, R1.xxxx\n" if head else SOURCE)
    )
    for given in ((), ("--no-lines",)):
        assert ctm("asm", tmp_path / "a.s", "-o", tmp_path / "a.elf", *given).exit_code == 0
        shown = ctm("disasm", tmp_path / "a.elf").stdout
        (tmp_path / "b.s").write_text(shown)
        assert ctm("asm", tmp_path / "b.s", "-o", tmp_path / "b.elf").exit_code == 0
        assert (tmp_path / "a.elf").read_bytes() == (tmp_path / "b.elf").read_bytes()
        assert report("info", tmp_path / "b.elf")["line_table"] is not bool(given)
        assert str(tmp_path) not in shown
        assert ("; OUT o0 = MOV(r1)" in shown or "; EXPORT PIX0" in shown) is not bool(given)
