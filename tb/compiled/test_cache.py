"""The cache: damaged files, other processes, folders that cannot be written."""

import errno
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ctm.sim.compiled import ToolchainError
from ctm.sim.compiled.tools.cache import cache_folder, cached

TOP = Path(__file__).parents[2]
CONTENTS = b"a model"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ctm"


def make(folder: Path, target: Path) -> None:
    """Make the file that `get` requests."""
    target.write_bytes(CONTENTS)


def get(name: str = "one") -> Path:
    """A file of the cache, which must hold what it should."""
    file = cached("model", [name], ".so", make)
    assert file.read_bytes().startswith(CONTENTS)
    return file


def test_what_is_there_is_not_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = get()
    monkeypatch.setitem(globals(), "make", None)
    assert get() == first
    assert list(folder.iterdir()) == [first]


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[3] ^= 0x10
    file.write_bytes(data)


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def take_another(file: Path) -> None:
    get("another").replace(file)


@pytest.mark.parametrize("damage", [flip, truncate, empty, take_another])
def test_a_damaged_file_is_made_again_and_a_line_says_so(
    folder: Path, caplog: pytest.LogCaptureFixture, damage: object
) -> None:
    file = get()
    whole = file.read_bytes()
    damage(file)  # type: ignore[operator]
    assert caplog.messages == []
    assert get() == file
    assert caplog.messages == [f"{file} is damaged and is made again"]
    assert file.read_bytes() == whole


PROCESS = """
import sys, time
from ctm.sim.compiled.tools.cache import cached

def make(folder, target):
    target.write_bytes(b"a model")
    print("making", flush=True)
    time.sleep(float(sys.argv[1]))

cached("model", ["one"], ".so", make)
print("done")
"""


def start(seconds: float) -> subprocess.Popen[str]:
    """A process that wants the same file and needs so long to make it."""
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", PROCESS, str(seconds)], cwd=TOP, stdout=pipe, stderr=pipe, text=True)


def test_a_wait_for_another_process_is_reported(folder: Path) -> None:
    with start(1.0) as first:
        assert first.stdout is not None and first.stdout.readline() == "making\n"
        with start(0.0) as second:
            printed, told = second.communicate()
        assert first.stdout.read() == "done\n"
    assert (printed, told) == ("done\n", "another process compiles the same; waiting for it ...\n")


def test_what_a_dead_process_leaves_is_removed_and_what_a_living_one_has_is_not(folder: Path) -> None:
    with start(1000.0) as first:
        assert first.stdout is not None and first.stdout.readline() == "making\n"
        (build,) = folder.glob("build-*")
        get("another")
        assert build.exists()
        first.kill()
    # By the next caller, though there is nothing to build.
    get("another")
    assert not list(folder.glob("build-*"))
    assert get().exists()


def test_where_the_folder_cannot_be_made_a_temporary_one_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    other = tmp_path / "temporary" / f"ctm-{os.getuid()}"
    assert get().parent == get("another").parent == other
    assert caplog.messages == [
        f"{tmp_path}/file/ctm: Not a directory; compiled models are kept in {other}, "
        "unless XDG_CACHE_HOME names a folder"
    ]
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    with pytest.raises(ToolchainError, match="file/ctm: Not a directory; set XDG_CACHE_HOME"):
        get("a third")


def test_a_folder_that_can_only_be_read_is_read_and_its_damaged_files_are_replaced_elsewhere(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = get()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    real = tempfile.TemporaryFile

    def failing(dir: Path) -> object:
        # What chmod cannot do where the user is root.
        if dir == folder:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(dir))
        return real(dir=dir)

    monkeypatch.setattr(tempfile, "TemporaryFile", failing)
    assert get() == file and caplog.messages == []
    flip(file)
    assert get() == tmp_path / "temporary" / f"ctm-{os.getuid()}" / file.name
    assert "Read-only file system; compiled models are kept in" in caplog.text


def test_the_cache_is_where_the_users_caches_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "ctm"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == tmp_path / ".cache" / "ctm"


def test_a_note_is_a_line_without_a_logging_configuration(folder: Path) -> None:
    flip(get())
    with start(0.0) as process:
        _, told = process.communicate()
    assert logging.getLogger("ctm.sim.compiled.tools.cache").handlers == []
    assert told.count("\n") == 1 and told.endswith("is damaged and is made again\n")
