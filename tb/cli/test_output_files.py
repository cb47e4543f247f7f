"""What an output may replace, and what it leaves as it was."""

import io
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ctm.sim import files
from ctm.tb.cli.invocation import ctm, error_line, report
from ctm.tb.jobs.folder import Folder

SOURCE = "OUT o0 = MOV(r0)\n"
CONDITIONAL = (
    '[conditional]\nlocation = "PE"\ntest = "ALWAYS"\nfile = "depth.npy"\nshape = [5, 13]\nwrite = true\n[constants]'
)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.make(tmp_path)


@pytest.fixture
def mask() -> Iterator[int]:
    """A umask that is not the usual one."""
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def contents(folder: Folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.path.iterdir() if path.is_file()}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_device_remains_a_device(folder: Folder) -> None:
    device = folder.path / "y.npy"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError as error:
        pytest.skip(f"only root can make devices, and not everywhere: {error}")
    (folder.path / "a.s").write_text(SOURCE)
    assert ctm("run", folder.job).exit_code == 0
    assert ctm("asm", folder.path / "a.s", "-o", device).exit_code == 0
    assert ctm("exec", "--submit", "0,0", "--dump", f"0:64={device}").exit_code == 0
    assert stat.S_ISCHR(device.stat().st_mode)


def test_the_null_device_needs_no_ending_and_is_kept(folder: Folder) -> None:
    folder.change('file = "y.npy"', 'file = "/dev/null"')
    before = contents(folder)
    assert ctm("run", folder.job, "-o", folder.path / "out").exit_code == 0
    assert not Path("/dev/null").is_file()
    assert contents(folder) == before


@pytest.mark.parametrize("option", ["", "--trace"])
def test_a_fifo_without_a_reader_is_not_waited_for(
    folder: Folder, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PATIENCE", 0.1)
    fifo = folder.path / ("fifo" if option else "y.npy")
    os.mkfifo(fifo)
    assert "nothing reads from this FIFO for 0.1 s" in error_line(
        "run", folder.job, *([option, fifo] if option else [])
    )


def test_a_fifo_passes_on_what_is_written(folder: Folder) -> None:
    fifo = folder.path / "y.npy"
    os.mkfifo(fifo)
    found = []
    reader = threading.Thread(target=lambda: found.append(fifo.read_bytes()), daemon=True)
    reader.start()
    assert ctm("run", folder.job).exit_code == 0
    reader.join(60)
    np.testing.assert_array_equal(np.load(io.BytesIO(found[0])), folder.expected)
    assert fifo.is_fifo()


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_kept_and_its_target_replaced(folder: Folder, exists: bool) -> None:
    (folder.path / "kept").mkdir()
    target = folder.path / "kept" / "result.npy"
    if exists:
        target.write_bytes(b"old")
    link = folder.path / "y.npy"
    link.symlink_to(target)
    assert ctm("run", folder.job).exit_code == 0
    assert link.is_symlink()
    np.testing.assert_array_equal(np.load(target), folder.expected)
    assert [path.name for path in target.parent.iterdir()] == ["result.npy"]


def test_modes_are_kept_and_new_files_have_the_usual_one(folder: Folder, mask: int) -> None:
    (folder.path / "a.s").write_text(SOURCE)
    old, new = folder.path / "y.npy", folder.path / "out" / "y.npy"
    old.write_bytes(b"old")
    old.chmod(0o604)
    assert ctm("run", folder.job).exit_code == 0
    assert ctm("run", folder.job, "-o", new.parent).exit_code == 0
    assert ctm("asm", folder.path / "a.s", "-o", folder.path / "a.elf").exit_code == 0
    assert (mode(old), mode(new), mode(folder.path / "a.elf")) == (0o604, 0o666 & ~mask, 0o666 & ~mask)


def test_the_owner_is_kept(folder: Folder) -> None:
    output = folder.path / "y.npy"
    output.write_bytes(b"old")
    try:
        os.chown(output, 12345, 23456)
    except OSError as error:
        pytest.skip(f"only root can give files away: {error}")
    assert ctm("run", folder.job).exit_code == 0
    assert (output.stat().st_uid, output.stat().st_gid) == (12345, 23456)


@pytest.mark.parametrize(
    ("source", "name"), [("x.npy", "inputs[0].file"), ("scale.elf", "program.file"), ("job.toml", "the job itself")]
)
@pytest.mark.parametrize("kind", ["symbolic link", "hard link", "folder"])
def test_what_a_job_is_made_of_is_not_replaced(folder: Folder, source: str, name: str, kind: str) -> None:
    output = folder.path / "y.npy"
    if kind == "folder":
        # The same folder by another spelling, in which the output has the source's name.
        output = folder.path / "there" / ".." / "y.npy"
        (folder.path / "there").mkdir()
        folder.change('file = "y.npy"', 'file = "there/../y.npy"')
    if kind == "symbolic link":
        output.symlink_to(source)
    else:
        output.hardlink_to(folder.path / source)
    before = contents(folder)
    message = error_line("run", folder.job)
    assert "job.toml:15: outputs[0].file: " in message
    assert f"would replace {name}; choose another name or folder" in message
    assert report("run", folder.job)["instructions"] == 0
    assert contents(folder) == before


def test_an_input_is_not_replaced_by_its_plain_name_or_by_a_folder(folder: Folder) -> None:
    folder.change('file = "y.npy"', 'file = "out/x.npy"')
    before = contents(folder)
    assert "would replace inputs[0].file" in error_line("run", folder.job, "-o", folder.path)
    folder.change('file = "out/x.npy"', 'file = "./x.npy"')
    before["job.toml"] = folder.job.read_bytes()
    assert "would replace inputs[0].file" in error_line("run", folder.job)
    assert contents(folder) == before
    assert ctm("run", folder.job, "-o", folder.path / "out").exit_code == 0


def test_constants_are_not_replaced(folder: Folder) -> None:
    np.save(folder.path / "y.npy", np.zeros((4, 4), np.float32))
    folder.change("float = {3 = [2.0, 2.0, 2.0, 0.5]}", 'float = "y.npy"')
    assert "would replace constants.float" in error_line("run", folder.job)


@pytest.mark.parametrize("option", ["--trace", "--timeline", "--report"])
def test_files_of_observations_replace_neither_the_job_nor_an_output(folder: Folder, option: str) -> None:
    before = contents(folder)
    (folder.path / "link").symlink_to("x.npy")
    for name, kind in {
        "job.toml": "the job itself", "scale.elf": "program.file", "x.npy": "inputs[0].file", "link": "inputs[0].file",
        "y.npy": "output 0",
    }.items():  # fmt: skip
        problem = error_line("run", folder.job, option, folder.path / name)
        assert (
            problem == f"error: {option} {folder.path / name}: it would replace {kind}; choose another name or folder\n"
        )
    (folder.path / "link").unlink()
    assert contents(folder) == before


def test_pictures_replace_nothing_and_are_not_replaced(folder: Folder) -> None:
    problem = error_line("run", folder.job, "--png", "--report", folder.path / "y.png")
    assert "--report" in problem and "it would replace what --png writes" in problem
    (folder.path / "y.png").symlink_to("x.npy")
    before = contents(folder)
    problem = error_line("run", folder.job, "--png")
    assert problem.startswith(f"error: --png {folder.path / 'y.png'}: it would replace inputs[0].file; choose")
    assert contents(folder) == before


def test_two_outputs_do_not_have_one_picture(folder: Folder) -> None:
    folder.change("[constants]", CONDITIONAL.replace("depth.npy", "z.npy"))
    text = folder.job.read_text()
    first = text[text.index("[[outputs]]") :].partition("\n\n")[0]
    second = first.replace("y.npy", "y.NPY").replace("index = 0", "index = 1")
    folder.job.write_text(text.replace("[constants]", f"{second}\n\n[constants]"))
    before = contents(folder)
    problem = error_line("run", folder.job, "--png")
    assert problem.startswith(f"error: --png {folder.path / 'y.png'}: it would replace what --png writes")
    assert contents(folder) == before


def test_observations_go_to_files_of_their_own(folder: Folder) -> None:
    file = folder.path / "t.json"
    problem = error_line("run", folder.job, "--timeline", file, "--trace", file)
    assert "--timeline" in problem and "it would replace what --trace writes" in problem
    assert ctm("run", folder.job, "--timeline", "/dev/null", "--trace", "/dev/null").exit_code == 0
    waves = error_line("run", folder.job, "--waves", folder.path / "a.fst", "--trace", folder.path / "b")
    assert "engine 'rtl' writes none" in waves


def test_what_an_output_begins_with_may_be_replaced(folder: Folder) -> None:
    np.save(folder.path / "y.npy", np.zeros((5, 13, 4), np.float32))
    np.save(folder.path / "depth.npy", np.zeros((5, 13), np.float32))
    folder.change("fill = 7.0", 'initial = "y.npy"')
    folder.change("[constants]", CONDITIONAL)
    assert ctm("run", folder.job).exit_code == 0
    np.testing.assert_array_equal(np.load(folder.path / "y.npy"), folder.expected)


def test_two_outputs_do_not_go_to_one_file(folder: Folder) -> None:
    folder.change("[constants]", CONDITIONAL.replace("depth.npy", "there/y.npy"))
    assert "conditional.file: two outputs go to the same file" in error_line(
        "run", folder.job, "-o", folder.path / "out"
    )
    (folder.path / "there").symlink_to(folder.path)
    assert "conditional.file: two outputs go to the same file" in error_line("run", folder.job)
    assert not (folder.path / "y.npy").exists()


@pytest.mark.parametrize("kind", ["itself", "symbolic link", "hard link"])
def test_an_executable_does_not_replace_its_source(tmp_path: Path, kind: str) -> None:
    source = tmp_path / "a.s"
    source.write_text(SOURCE)
    output = source if kind == "itself" else tmp_path / "a.elf"
    if kind == "symbolic link":
        output.symlink_to(source)
    elif kind == "hard link":
        output.hardlink_to(source)
    assert "the executable would replace its source" in error_line("asm", source, "-o", output)
    assert source.read_text() == SOURCE


def test_a_dump_replaces_neither_what_is_loaded_nor_another_one(tmp_path: Path) -> None:
    image = tmp_path / "image.bin"
    image.write_bytes(b"1234")
    run = ("exec", "--submit", "0,0", "--load", f"0x1000={image}", "--dump")
    assert "would replace what --load reads" in error_line(*run, f"0:8={tmp_path}/../{tmp_path.name}/image.bin")
    assert "two dumps go to the same file" in error_line(*run, f"0:8={tmp_path}/a", "--dump", f"8:8={tmp_path}/a")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"1234"]
