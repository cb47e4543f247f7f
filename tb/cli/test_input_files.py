"""Inputs that are no plain files: FIFOs, devices, standard input, and text with a byte order mark."""

import codecs
import json
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from ctm.examples.catalogue import FOLDER
from ctm.sim import files
from ctm.tb.cli.invocation import ctm, error_line, process
from ctm.tb.jobs.folder import Folder, scale

SOURCE = "OUT o0 = MOV(r0)\n"
READ_BY_A_JOB = ("job.toml", "scale.elf", "x.npy")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.make(tmp_path)


def become_fifo(path: Path) -> bytes:
    """Replace a file by a FIFO; the bytes that it had."""
    data = path.read_bytes()
    path.unlink()
    os.mkfifo(path)
    return data


@pytest.mark.parametrize("name", READ_BY_A_JOB)
def test_a_job_reads_from_a_fifo(folder: Folder, name: str) -> None:
    data = become_fifo(folder.path / name)
    threading.Thread(target=(folder.path / name).write_bytes, args=(data,), daemon=True).start()
    assert ctm("run", folder.job).exit_code == 0
    np.testing.assert_array_equal(np.load(folder.path / "y.npy"), folder.expected)


def test_what_several_passes_use_is_read_once(folder: Folder) -> None:
    passes = "[[passes]]\ndomain_i = [0, 12]\ndomain_j = [0, 4]\n" * 3
    folder.change("[domain]\ni = [0, 12]\nj = [0, 4]\n", passes)
    np.save(folder.path / "c.npy", np.array([[0, 0, 0, 0]] * 3 + [[2, 2, 2, 1]], np.float32))
    folder.change("float = {3 = [2.0, 2.0, 2.0, 0.5]}", 'float = "c.npy"')
    for name in ("scale.elf", "c.npy"):
        data = become_fifo(folder.path / name)
        threading.Thread(target=(folder.path / name).write_bytes, args=(data,), daemon=True).start()
    assert ctm("run", folder.job).exit_code == 0
    np.testing.assert_array_equal(np.load(folder.path / "y.npy"), folder.expected)


@pytest.mark.parametrize("name", READ_BY_A_JOB)
def test_a_fifo_without_a_writer_is_not_waited_for(folder: Folder, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", 0.1)
    become_fifo(folder.path / name)
    start = time.monotonic()
    assert "nothing came through this FIFO for 0.1 s" in error_line("run", folder.job)
    assert time.monotonic() - start < 20


def test_other_commands_do_not_wait_for_a_fifo_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", 0.1)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for command in (["asm", fifo, "-o", tmp_path / "a.elf"], ["disasm", fifo], ["info", fifo],
                    ["exec", "--submit", "0,0", "--load", f"0={fifo}"]):  # fmt: skip
        assert error_line(*command) == f"error: {fifo}: nothing came through this FIFO for 0.1 s\n"


def test_a_device_is_not_read_without_end(folder: Folder) -> None:
    folder.change('file = "x.npy"', 'file = "/dev/zero"')
    assert "inputs[0].file: cannot read '/dev/zero': it is a device" in error_line("run", folder.job)
    assert "/dev/zero: it is a device" in error_line("asm", "/dev/zero", "-o", folder.path / "a.elf")


def test_text_may_begin_with_a_byte_order_mark(folder: Folder) -> None:
    (folder.path / "plain.s").write_text(SOURCE)
    (folder.path / "marked.s").write_bytes(codecs.BOM_UTF8 + SOURCE.encode())
    for name in ("plain", "marked"):
        source, target = folder.path / f"{name}.s", folder.path / f"{name}.elf"
        assert ctm("asm", source, "-o", target, "--no-lines").exit_code == 0
    assert (folder.path / "marked.elf").read_bytes() == (folder.path / "plain.elf").read_bytes()
    words = [[f"0x{word:08x}" for word in words] for words in scale()]
    document = {"instructions": words, "start": 0, "end": 2, "highest_temporary": 1, "US_CONFIG": "0x2",
                "US_FC_CTRL": 0, "US_W_FMT": 0, "FG_DEPTH_SRC": 0}  # fmt: skip
    (folder.path / "scale.json").write_bytes(codecs.BOM_UTF8 + json.dumps(document).encode())
    job = folder.job.read_text()
    for program in ("scale.json", "marked.s"):
        folder.job.write_bytes(codecs.BOM_UTF8 + job.replace("scale.elf", program).encode())
        assert ctm("run", folder.job).exit_code == 0


@pytest.mark.slow
def test_a_dash_is_standard_input_and_standard_output(tmp_path: Path) -> None:
    (tmp_path / "a.s").write_text(SOURCE)
    assert ctm("asm", tmp_path / "a.s", "-o", tmp_path / "a.elf", "--no-lines").exit_code == 0
    with (tmp_path / "a.s").open("rb") as source, (tmp_path / "b.elf").open("wb") as target:
        result = process("asm", "-", "-o", "-", "--no-lines", stdin=source, stdout=target)
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "b.elf").read_bytes() == (tmp_path / "a.elf").read_bytes()
    for command in ("disasm", "info"):
        with (tmp_path / "a.elf").open("rb") as executable:
            result = process(command, "-", stdin=executable)
        assert (result.returncode, result.stdout) == (0, ctm(command, tmp_path / "a.elf").stdout)


def test_a_kernel_is_compiled_to_standard_output(tmp_path: Path) -> None:
    kernel, file = FOLDER / "blur/blur.c", tmp_path / "a.elf"
    assert process("cc", kernel, "-o", file).returncode == 0
    with (tmp_path / "b.elf").open("wb") as target:
        assert process("cc", kernel, "-o", "-", stdout=target).returncode == 0
    assert (tmp_path / "b.elf").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("option", ["--trace", "--timeline", "--report", "--waves"])
def test_a_dash_is_no_name_of_a_file(folder: Folder, option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.path)
    assert error_line("run", folder.job, option, "-").startswith(("error: -", f"error: {option} -"))
    assert not (folder.path / "-").exists() and not (folder.path / "y.npy").exists()


def test_errors_of_standard_input_have_its_name(tmp_path: Path) -> None:
    result = process("asm", "-", "-o", tmp_path / "a.elf", input="OUT o0 = MIX(r0, r0)\n")
    assert result.returncode == 2
    assert "error: <stdin>:1:5: " in result.stderr
    result = process("disasm", "-", input="no executable")
    assert result.returncode == 2
    assert result.stderr.startswith("error: <stdin>: ")
    assert not (tmp_path / "a.elf").exists()
