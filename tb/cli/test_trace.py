"""A trace of a run: what each wavefront does, instruction by instruction."""

from pathlib import Path

import pytest

from ctm.tb.cli.invocation import ctm, error_line
from ctm.tb.jobs.folder import Folder
from ctm.tb.jobs.single import single

JOB = single("loop.s", 3, 2)
LOOP = """.isa r700
LOOP
    IF PRED_SETGT R0.x, 0.5
        CONTINUE IF PRED_SETGT R0.x, 1.5
        BREAK
    ENDIF
    BREAK
ENDLOOP
EXPORT PIX0, R0.xyzw
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "job.toml").write_text(JOB)
    (tmp_path / "loop.s").write_text(LOOP)
    return tmp_path


def test_a_wavefronts_lines_have_the_manuals_states_and_valid_bits(folder: Path) -> None:
    result = ctm(
        "run", folder / "job.toml", "--trace", folder / "t.txt", "--set", "array.wavefront=4", "--watchdog", 40
    )
    assert "WATCHDOG" in result.stderr
    lines = (folder / "t.txt").read_text().splitlines()
    second = [line for line in lines if "(2, 0)" in line]
    # The columns are i = 2 and 3; the second is not covered. Both continue for ever.
    assert second[0] == "CF instruction 0: (2, 0) AAAA 1010  ; loop.s:2: LOOP"
    assert any("cccc 1010  ; loop.s:4: CONTINUE IF PRED_SETGT R0.x, 1.5" in line for line in second)
    assert "1010  WATCHDOG  ; loop.s:" in second[-1]
    # The columns are i = 0 and 1: one waits at the branch, both break.
    first = [line.split(") ")[1].split()[0] for line in lines if "(0, 0)" in line]
    assert {"AAAA", "bAbA", "bkbk", "kkkk"} <= set(first) or {"AAAA", "bAbA", "AkAk", "kkkk"} <= set(first)
    assert lines[-1].startswith("CF instruction")
    assert any(line.startswith("CF instruction") and ", address " in line for line in lines)


def test_a_wavefronts_lines_have_active_pixels(tmp_path: Path) -> None:
    folder = Folder.make(tmp_path)
    assert ctm("run", folder.job, "--trace", tmp_path / "t.txt").exit_code == 0
    lines = (tmp_path / "t.txt").read_text().splitlines()
    assert lines[0].startswith("pc 0: (0, 0) AAAA 1111")
    assert sum(line.endswith("ends") for line in lines) == 7 * 3


def test_a_trace_is_golden_and_of_a_small_domain(folder: Path) -> None:
    job = folder / "job.toml"
    assert "engine 'rtl' writes none" in error_line("run", job, "--engine", "rtl", "--trace", folder / "t.txt")
    job.write_text(JOB.replace("[0, 2]", "[0, 4095]"))
    (folder / "loop.s").write_text(".isa r700\nEXPORT PIX0, R0.xyzw\n")
    result = ctm("run", job, "--trace", folder / "t.txt")
    assert result.exit_code == 2
    assert "8,192 pixels are more than 4,096" in result.stderr
    assert not (folder / "t.txt").exists()
    job.write_text(JOB)
    (folder / "no_folder").touch()
    assert "no_folder" in error_line("run", job, "--trace", folder / "no_folder" / "t.txt")
