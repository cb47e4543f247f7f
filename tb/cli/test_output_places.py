"""Files that cannot be written: an error before the run where that can be known, and nothing is left."""

import itertools
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ctm.examples.catalogue import FOLDER
from ctm.sim.compiled import machine
from ctm.tb.cli.invocation import ctm, error_line, process, report
from ctm.tb.jobs.folder import Folder

SOURCE = "OUT o0 = MOV(r0)\n"
SIZE = 64 * 1024
FULL = "No space left on device"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.make(tmp_path)


def mounted(target: Path, *options: str) -> Iterator[Path]:
    """A small file system of its own at `target`, if the machine allows it."""
    target.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", ",".join([f"size={SIZE}", *options]), "tmpfs", str(target)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        pytest.skip(f"only root can mount, and not everywhere: {result.stderr}")
    try:
        yield target
    finally:
        subprocess.run(["umount", str(target)], check=True)


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A folder whose disk has no byte left; old.* hold what was there before."""
    for target in mounted(tmp_path / "full"):
        for name in ("y.npy", "old.elf", "old.bin", "ctm.v"):
            (target / name).write_bytes(b"old")
        with (target / "filling").open("wb", buffering=0) as file, pytest.raises(OSError, match=FULL):
            while True:
                file.write(bytes(4096))
        yield target


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "read_only", "ro")


def state(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_a_full_disk_is_noticed_before_a_run(folder: Folder, full: Path) -> None:
    before = state(full)
    message = error_line("run", folder.job, "-o", full)
    assert message == f"error: {full}/y.npy: {FULL}\n"
    found = report("run", folder.job, "-o", full / "new" / "folder")
    assert (found["instructions"], found["error"]["message"]) == (0, f"{full}/new/folder/y.npy: {FULL}")
    assert state(full) == before


def test_outputs_that_fit_only_one_by_one_are_noticed(folder: Folder, tmp_path: Path) -> None:
    for target in mounted(tmp_path / "small"):
        folder.change("shape = [5, 13]", "shape = [50, 50]")
        assert ctm("run", folder.job, "-o", target).exit_code == 0
        (target / "y.npy").unlink()
        conditional = '[conditional]\nlocation = "PE"\ntest = "ALWAYS"\nfile = "depth.npy"\nshape = [90, 90]\n'
        folder.change("[constants]", f"{conditional}[constants]")
        assert error_line("run", folder.job, "-o", target) == f"error: {target}/depth.npy: {FULL}\n"
        assert state(target) == {}


def test_a_disk_that_is_full_only_at_the_end_leaves_what_was_there(
    folder: Folder, full: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.path / "a.s").write_text(SOURCE)
    before = state(full)
    assert error_line("asm", folder.path / "a.s", "-o", full / "old.elf") == f"error: {full}/old.elf: {FULL}\n"
    assert (
        error_line("exec", "--submit", "0,0", "--dump", f"0:8192={full}/old.bin") == f"error: {full}/old.bin: {FULL}\n"
    )
    monkeypatch.setattr(machine, "machine_verilog", lambda config, top: "module ctm;" * 10_000)
    assert error_line("verilog", "-o", full) == f"error: {full}/ctm.v: {FULL}\n"
    monkeypatch.setattr("ctm.sim.cli.run.try_outputs", lambda job: None)
    assert error_line("run", folder.job, "-o", full) == f"error: {full}/y.npy: {FULL}\n"
    monkeypatch.setattr(tempfile, "tempdir", str(full))
    message = error_line("synth", "--unit", "multiply_add")
    assert message.startswith(f"error: {full}/ctm-synthesis-")
    assert message.endswith(f"unit.il: {FULL}\n")
    assert state(full) == before


def test_a_folder_that_cannot_be_written_is_noticed_before_a_run(folder: Folder, read_only: Path) -> None:
    cause = "Read-only file system"
    assert error_line("run", folder.job, "-o", read_only) == f"error: {read_only}/y.npy: {cause}\n"
    assert error_line("run", folder.job, "-o", read_only / "new") == f"error: {read_only}/new/y.npy: {cause}\n"
    assert report("run", folder.job, "-o", read_only)["instructions"] == 0
    assert error_line("verilog", "-o", read_only) == f"error: {read_only}/ctm.v: {cause}\n"
    assert error_line("exec", "--submit", "0,0", "--dump", f"0:4={read_only}/x") == f"error: {read_only}/x: {cause}\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write every file")
def test_a_file_that_is_read_only_is_not_replaced(folder: Folder) -> None:
    output = folder.path / "y.npy"
    output.write_bytes(b"precious")
    output.chmod(0o444)
    assert "y.npy: Permission denied" in error_line("run", folder.job)
    assert output.read_bytes() == b"precious"


def test_a_limit_of_the_size_of_files_is_noticed_before_a_run(folder: Folder) -> None:
    before = state(folder.path)
    result = process("run", folder.job, "-o", folder.path / "out", most=512)
    assert (result.returncode, result.stderr) == (2, f"error: {folder.path}/out/y.npy: File too large\n")
    assert state(folder.path) == before


@pytest.mark.parametrize("command", ["asm", "import", "exec"])
def test_a_folder_that_is_missing_is_made(folder: Folder, command: str) -> None:
    (folder.path / "a.s").write_text(SOURCE)
    target = folder.path / "new" / "folder" / "file"
    document = FOLDER / "compiled" / "sincos.json"
    arguments: dict[str, list[object]] = {
        "asm": ["asm", folder.path / "a.s", "-o", target],
        "import": ["import", document, "-o", target],
        "exec": ["exec", "--submit", "0,0", "--dump", f"0:4={target}"],
    }
    result = ctm(*arguments[command])
    assert result.exit_code == 0, result.stderr
    assert target.stat().st_size


@pytest.mark.parametrize("command", ["run", "asm", "exec"])
def test_a_folder_instead_of_a_file_is_an_error(folder: Folder, command: str) -> None:
    (folder.path / "y.npy").mkdir()
    (folder.path / "a.s").write_text(SOURCE)
    before = state(folder.path)
    arguments: dict[str, list[object]] = {
        "run": ["run", folder.job],
        "asm": ["asm", folder.path / "a.s", "-o", folder.path / "y.npy"],
        "exec": ["exec", "--submit", "0,0", "--dump", f"0:4={folder.path}/y.npy"],
    }
    assert error_line(*arguments[command]) == f"error: {folder.path}/y.npy: Is a directory\n"
    assert state(folder.path) == before


def test_a_file_instead_of_a_folder_is_an_error(folder: Folder) -> None:
    before = state(folder.path)
    assert error_line("run", folder.job, "-o", folder.job) == f"error: {folder.job}/y.npy: Not a directory\n"
    assert error_line("run", folder.job, "-o", folder.job / "a") == f"error: {folder.job}/a/y.npy: Not a directory\n"
    assert error_line("verilog", "-o", folder.job) == f"error: {folder.job}/ctm.v: Not a directory\n"
    assert state(folder.path) == before


@pytest.mark.parametrize("name", ["", "\\u0000", "a\\u0000.npy"])
@pytest.mark.parametrize("key", ["x.npy", "y.npy", "scale.elf"])
def test_a_name_that_no_file_has_is_an_error(folder: Folder, key: str, name: str) -> None:
    folder.change(f'file = "{key}"', f'file = "{name}"')
    assert "file: must be the name of a file" in error_line("run", folder.job)


def test_a_run_that_fails_makes_no_folder(folder: Folder) -> None:
    assert ctm("run", folder.job, "-o", folder.path / "new" / "folder", "--watchdog", "1").exit_code == 1
    assert not (folder.path / "new").exists()


@pytest.mark.slow
def test_standard_output_that_is_full_is_named(folder: Folder) -> None:
    executable = folder.path / "scale.elf"
    # With a buffer of the interpreter's own the disk is found full when it ends.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    commands: list[list[object]] = [["disasm", executable], ["info", executable], ["info", executable, "--json"]]
    commands += [["--help"], ["--version"], ["doctor"], ["synth", "--list"]]
    for arguments, environment in itertools.product(commands, (buffered, buffered | {"PYTHONUNBUFFERED": "1"})):
        with open("/dev/full", "wb") as device:
            result = process(*arguments, stdout=device, env=environment)
        assert (result.returncode, result.stderr) == (2, f"error: standard output: {FULL}\n")


def test_a_run_that_does_not_begin_keeps_the_result_of_the_last_one(folder: Folder) -> None:
    assert ctm("run", folder.job).exit_code == 0
    folder.change("i = [0, 12]", "i = [0, 12]\nk = 1")
    assert ctm("run", folder.job).exit_code == 2
    np.testing.assert_array_equal(np.load(folder.path / "y.npy"), folder.expected)
