"""Engines `fast` and `auto` as a user meets them: what is compiled is kept if it can be, and is no condition."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ctm.tb.cli.invocation import ctm, process, report
from ctm.tb.jobs.folder import Folder, executable
from ctm.tb.r5xx.machine import FULL_FLOW_CONTROL, move
from ctm.tb.r5xx.statements import NOT_ALU, POP, PUSH, jump

FULL = {"us_fc_ctrl": FULL_FLOW_CONTROL}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A job, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Folder.make(tmp_path)


@pytest.mark.slow
def test_two_processes_at_once_make_the_same_program_once(folder: Folder) -> None:
    command = [str(Path(__file__).parents[2] / ".venv" / "bin" / "ctm"), "run", str(folder.job), "--engine", "fast"]
    outputs = [folder.path / name for name in ("one", "two")]
    pipe = subprocess.PIPE
    processes = [
        subprocess.Popen([*command, "--json", "-o", str(output)], stdout=pipe, stderr=pipe, text=True)
        for output in outputs
    ]
    for each, output in zip(processes, outputs, strict=True):
        printed, told = each.communicate()
        assert each.returncode == 0, told
        assert json.loads(printed)["engine"] == "fast"
        assert "Traceback" not in told
        np.testing.assert_array_equal(np.load(output / "y.npy"), folder.expected)
    assert len(list(folder.path.glob("cache/ctm/*"))) == 1


_FULL = 2048
"""Bytes of a file where the disk is full: enough for the job's output, too little for a program."""


@pytest.mark.parametrize("engine", ["fast", "auto"])
def test_a_cache_that_is_full_is_done_without(folder: Folder, engine: str) -> None:
    options = ("--engine", engine, "--json", "--check-all", "-o", folder.path)
    result = process("run", folder.job, *options, most=_FULL)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["engine"] == ("fast" if engine == "fast" else "golden")
    np.testing.assert_array_equal(np.load(folder.path / "y.npy"), folder.expected)
    problem = f"{folder.path}/cache/ctm: File too large; compiled programs are not kept"
    assert (problem in result.stderr) == (engine == "fast")
    assert not list(folder.path.glob("cache/ctm/*"))


def test_a_cache_that_is_no_folder_is_done_without(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.path / "cache").touch()
    found = report("run", folder.job, "--engine", "fast", "--check")
    assert (found["status"], found["engine"]) == ("ok", "fast")


def test_a_damaged_program_is_compiled_again(folder: Folder) -> None:
    assert report("run", folder.job, "--engine", "fast")["status"] == "ok"
    (file,) = folder.path.glob("cache/ctm/*.o")
    file.write_bytes(file.read_bytes()[:-100])
    result = process("run", folder.job, "--engine", "fast", "--check")
    assert result.returncode == 0
    assert result.stderr == f"{file} is damaged and is made again\n"


def test_the_hazards_are_those_of_the_golden_model(folder: Folder) -> None:
    result = ctm("run", folder.job, "--engine", "fast", "--hazards", "--json")
    assert json.loads(result.stdout)["engine"] == "golden"
    assert result.stderr.splitlines()[0] == "note: engine 'fast' runs the golden model: only that watches for hazards"


@pytest.mark.parametrize("engine", ["fast", "auto"])
def test_a_line_says_why_a_program_is_not_compiled(folder: Folder, engine: str) -> None:
    """Twelve calls of itself on every pixel: the first goes on until the stack is full."""
    (folder.path / "scale.elf").write_bytes(
        executable([*[jump(0, NOT_ALU, a_op=PUSH)] * 12, jump(0, a_op=POP), move(0, 0, output=0)], **FULL)
    )
    result = ctm("run", folder.job, "--engine", engine, "--json")
    assert json.loads(result.stdout)["engine"] == "golden"
    notes = [line for line in result.stderr.splitlines() if line.startswith("note: ")]
    reason = "calls lead to its code by too many paths"
    assert notes == [f"note: engine 'fast' leaves a program to the golden model: {reason}"] * (engine == "fast")
