"""The machine's instruction set from the command line: named, checked, chosen by the program, with an invented one."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from ctm.rtl.config import DEFAULT, DEFAULT_PRESETS, PRESETS, with_settings
from ctm.sim.elf import kinds, read, write
from ctm.sim.elf.container.reader import Container
from ctm.sim.elf.container.writer import write_container
from ctm.sim.elf.r5xx import description as r5xx_description
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.golden.instruction_sets import INSTRUCTION_SETS
from ctm.tb.cli.invocation import ctm, report
from ctm.tb.golden.invented import INSTRUCTION_SET, Op
from ctm.tb.jobs.folder import JOB, Folder
from ctm.tb.lib.program_formats import FORMAT, INFORMATION, INVENTED, invent

KNOWN = "array.instruction_set must be one of r5xx, r700, invented, not 'r600'"
PROGRAM = [(Op.ADD, 3), (Op.STOP, 0)]


@dataclass(frozen=True, kw_only=True)
class Invented(Executable):
    """A program of the invented kind, in the first two words of instructions."""

    kind: ClassVar[str] = INVENTED

    @staticmethod
    def of(container: Container) -> "Invented":
        return Invented(instructions=tuple((*unit, 0, 0, 0, 0) for unit in container.code), end=0)

    def file(self) -> bytes:
        units = [words[:2] for words in self.instructions]
        return write_container(units, [(FORMAT.information, INFORMATION)], machine=FORMAT.machine)


@pytest.fixture(autouse=True)
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second instruction set, whose default preset has wavefronts of 16."""
    invent(monkeypatch)
    monkeypatch.setitem(INSTRUCTION_SETS, INVENTED, INSTRUCTION_SET)
    monkeypatch.setitem(kinds._KINDS, INVENTED, kinds._Kind(Invented.of, Invented.file, r5xx_description.describe))
    preset = with_settings(DEFAULT, {"array.instruction_set": INVENTED, "array.lanes": 16})
    monkeypatch.setitem(PRESETS, "other", preset)
    monkeypatch.setitem(DEFAULT_PRESETS, INVENTED, "other")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A job for each kind: job.toml is R5xx's, other.toml the invented one's."""
    made = Folder.make(tmp_path)
    program = Invented(instructions=tuple((op.value, number, 0, 0, 0, 0) for op, number in PROGRAM), end=0)
    (tmp_path / "other.elf").write_bytes(write(program))
    assert read(write(program)) == program
    (tmp_path / "other.toml").write_text(JOB.replace("scale.elf", "other.elf"))
    return made


def wavefronts(*arguments: object) -> int:
    found = report("run", *arguments)
    assert found["status"] == "ok", found
    return int(found["counters"]["groups"])


def test_a_job_runs_on_the_default_machine_of_its_program(folder: Folder) -> None:
    other = folder.path / "other.toml"
    # 7 x 3 quads: with 16 lanes a row is two wavefronts.
    assert wavefronts(other) == 2 * 3
    expected = np.full((5, 13, 4), 7, np.float32)
    expected[..., 0] = np.arange(13) + 3
    assert np.array_equal(np.load(folder.path / "y.npy"), expected)
    assert report("run", other)["counters"]["issued_stop"] == 2 * 3
    assert wavefronts(folder.job) == 7 * 3


def test_settings_change_the_default_machine(folder: Folder) -> None:
    assert wavefronts(folder.path / "other.toml", "--set", "array.lanes=4") == 7 * 3
    assert wavefronts(folder.path / "other.toml", "--check") == 2 * 3


def test_a_program_on_cores_of_another_kind_is_an_error_with_its_name(folder: Folder) -> None:
    other = folder.path / "other.toml"
    foreign = "a program for invented, and this machine's cores are r5xx"
    for arguments in (["--preset", "default"], ["--set", "array.instruction_set=r5xx"]):
        for engine in ("golden", "rtl"):
            result = ctm("run", other, "--engine", engine, *arguments)
            assert result.exit_code == 1
            assert f"BAD_EXECUTABLE: it is {foreign}" in result.stderr
            assert report("run", other, "--engine", engine, *arguments)["status"] == "bad_executable"
    own = "a program for r5xx, and this machine's cores are invented"
    assert own in ctm("run", folder.job, "--set", "array.instruction_set=invented").stderr
    said = ctm("run", folder.job, "--preset", "r700").stderr
    assert said.rstrip().endswith("this machine's cores are r700; --preset default is a machine that runs it")
    assert not (folder.path / "y.npy").exists()


def test_an_instruction_set_that_there_is_not_is_an_error_with_those_that_there_are(folder: Folder) -> None:
    for command in (["run", folder.job], ["exec", "--submit", "0x1000,0"], ["bench", "golden"]):
        result = ctm(*command, "--set", "array.instruction_set=r600")
        assert result.exit_code == 2
        assert f"--set {KNOWN}" in result.stderr
    with pytest.raises(ValueError, match=KNOWN):
        with_settings(DEFAULT, {"array.instruction_set": "r600"})
    with pytest.raises(ValueError, match="instruction_set must be one of r5xx, r700, invented, not ''"):
        replace(DEFAULT.array, instruction_set="")


def test_draws_are_measured_on_cores_that_draw_only() -> None:
    result = ctm("bench", "draws", "--preset", "tiny")
    assert result.exit_code == 2
    assert result.stderr == "error: bench draws: draws are of r700 cores; --preset r700 is a machine with them\n"


def test_the_bare_machine_has_the_wanted_cores() -> None:
    for setting in ([], ["--set", "array.instruction_set=r5xx"]):
        assert "issued_alu" in report("exec", "--submit", "0x1000,0", *setting)["counters"]
    for setting in (["--preset", "other"], ["--set", "array.instruction_set=invented"]):
        assert "issued_stop" in report("exec", "--submit", "0x1000,0", *setting)["counters"]


def test_a_description_names_the_instruction_set(folder: Folder) -> None:
    assert report("info", folder.path / "scale.elf")["instruction_set"] == "r5xx"
    assert report("info", folder.path / "other.elf")["instruction_set"] == INVENTED
