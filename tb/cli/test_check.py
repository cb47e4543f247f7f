"""A run that is compared with the golden model and differs."""

from pathlib import Path

import pytest

from ctm.sim.cli import run
from ctm.tb.cli.invocation import ctm, report
from ctm.tb.jobs.folder import Folder, executable, scale


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    """A job whose engine is said to have computed something else."""
    monkeypatch.setattr(run, "first_difference", lambda found, expected: "output 0 differs")
    return Folder.make(tmp_path)


def test_a_difference_with_a_hazard_says_where(folder: Folder) -> None:
    program = scale()
    program[1] = (program[1][0] & ~4, *program[1][1:])
    (folder.path / "scale.elf").write_bytes(executable(program))
    result = ctm("run", folder.job, "--check")
    assert result.exit_code == 1
    first, second = result.stderr.splitlines()
    assert first == "error: output 0 differs"
    assert second.startswith("a likely reason, which --engine golden --hazards reports too: HAZARD: ")
    assert "pc 1: reads r1.r, which a lookup has not delivered" in second
    assert report("run", folder.job, "--check")["status"] == "mismatch"
    assert not (folder.path / "y.npy").exists()


def test_a_difference_without_one_says_nothing_of_it(folder: Folder) -> None:
    assert ctm("run", folder.job, "--check").stderr == "error: output 0 differs\n"
