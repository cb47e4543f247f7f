"""Array files of any byte order and layout; those that are cut, odd, or something else, and what is said of them."""

import io
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.sim.jobs.npy import NpyError, read_npy
from ctm.tb.cli.invocation import ctm
from ctm.tb.jobs.folder import Folder

ARRAY = np.arange(40, dtype=np.float32).reshape(5, 8)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.make(tmp_path)


def saved(array: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def with_header(text: str, version: bytes = b"\1\0", data: bytes = ARRAY.tobytes()) -> bytes:
    length = 2 if version == b"\1\0" else 4
    padded = text.encode() + b" " * (-(9 + length + len(text)) % 64) + b"\n"
    return b"\x93NUMPY" + version + len(padded).to_bytes(length, "little") + padded + data


def said(data: bytes) -> str:
    with warnings.catch_warnings(), pytest.raises(NpyError) as caught:
        warnings.simplefilter("error")
        read_npy(data)
    return str(caught.value)


@pytest.mark.parametrize("kind", ["<f4", ">f4", "<u2", ">u2", ">i4", "u1", ">f8", "?"])
def test_bytes_and_elements_have_any_order(kind: str) -> None:
    given = ARRAY.astype(kind)
    for array in (given, np.asfortranarray(given), given[::2, ::-1], given[:0], given[0, 0]):
        found = read_npy(saved(array))
        assert found.dtype == np.dtype(kind).newbyteorder("=")
        assert found.flags.c_contiguous and found.flags.writeable
        assert np.array_equal(found, array)


@pytest.mark.parametrize(("kind", "data_format"), [(">f4", "FLOAT32_1"), (">u2", "UINT16_1"), ("u1", "UINT8_4")])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_job_takes_them(folder: Folder, kind: str, data_format: str, order: Any) -> None:
    shape = (5, 13, 4) if data_format == "UINT8_4" else (5, 13)
    array = np.arange(np.prod(shape)).reshape(shape).astype(kind)
    np.save(folder.path / "x.npy", np.array(array, order=order))
    folder.change('file = "x.npy"\nformat = "FLOAT32_4"', f'file = "x.npy"\nformat = "{data_format}"')
    assert ctm("run", folder.job, "--engine", "golden").exit_code == 0
    scale = 1 if "f" in kind else np.iinfo(kind).max
    found = np.load(folder.path / "y.npy")[:, :, 0]
    first = array if array.ndim == 2 else array[:, :, 0]
    assert np.allclose(found, first.astype(float) / scale * 2, rtol=1e-6)


def test_constants_and_what_an_output_begins_with_have_any_byte_order_too(folder: Folder) -> None:
    np.save(folder.path / "c.npy", np.asfortranarray(np.array([[0] * 4] * 3 + [[2, 2, 2, 1]], ">f4")))
    folder.change("float = {3 = [2.0, 2.0, 2.0, 0.5]}", 'float = "c.npy"')
    np.save(folder.path / "b.npy", np.full((5, 13, 4), 9, ">f4"))
    folder.change("fill = 7.0", 'initial = "b.npy"')
    folder.change("i = [0, 12]", "i = [0, 11]")
    assert ctm("run", folder.job, "--engine", "golden").exit_code == 0
    found = np.load(folder.path / "y.npy")
    assert np.array_equal(found[:, :12], folder.expected[:, :12])
    assert (found[:, 12] == 9).all()


def test_one_that_is_cut_is_truncated_at_every_byte() -> None:
    whole = saved(ARRAY)
    for size in range(1, len(whole)):
        text = said(whole[:size])
        assert "is truncated" in text
        if size < len(whole) - ARRAY.nbytes:
            assert text.endswith(f"bytes, and it has {size}")
        else:
            expected = f"[5, 8] of float32 are 160 bytes, and it has {size + ARRAY.nbytes - len(whole)} of them"
            assert text.endswith(expected)


def test_headers_that_python_2_wrote_are_read_without_a_word() -> None:
    old = with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (5L, 8L), }")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(read_npy(old), ARRAY)


@pytest.mark.parametrize("version", [b"\1\0", b"\2\0", b"\3\0"])
def test_all_versions_are_read(version: bytes) -> None:
    header = "{'descr': '>f4', 'fortran_order': True, 'shape': (8, 5), }"
    assert np.array_equal(read_npy(with_header(header, version, ARRAY.astype(">f4").tobytes())), ARRAY.T)


def test_bytes_after_the_elements_do_no_harm() -> None:
    assert np.array_equal(read_npy(saved(ARRAY) + b"more"), ARRAY)


def archive() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, ARRAY)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"no array", "is no .npy array file"),
        (archive(), "is an archive of arrays (.npz): give one of them"),
        (pickle.dumps([1, 2]), "is a pickle, which is not read"),
        (b"\x89PNG\r\n\x1a\n", "is a PNG picture: name it .png"),
        (saved(np.array([None, 1], object), allow_pickle=True), "holds Python objects, which are not read"),
        (b"\x93NUMPY\x09\x01" + saved(ARRAY)[8:], "is an .npy file of version 9.1, which is not known"),
        (with_header("{'descr': '<f4', 'fortran_order': False}"), "its header is damaged"),
        (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (5, -8), }"), "its header is damaged"),
        (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 'a'), }"), "its header is damaged"),
        (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (True, 8), }"), "its header is damaged"),
        (with_header("{'descr': '<q9', 'fortran_order': False, 'shape': (5, 8), }"), "its header is damaged"),
        (with_header("{'descr': '<f4', 'fortran_order': 3, 'shape': (5, 8), }"), "its header is damaged"),
        (with_header("{'descr': ('\\d', '<f4'), 'fortran_order': False, 'shape': 8, }"), "its header is damaged"),
        (with_header("[" * 9000), "its header is damaged"),
        (with_header("__import__('os').abort()"), "its header is damaged"),
        (with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1 << 60, 8), }"), "its header is damaged"),
        (
            with_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({1 << 60}, 8), }}"),
            "is truncated: [1152921504606846976, 8] of float32 are 36,893,488,147,419,103,232 bytes, and it has 160",
        ),
    ],
)
def test_what_is_none_says_what_it_is(data: bytes, message: str) -> None:
    assert message in said(data)


def test_any_byte_of_the_header_may_be_wrong() -> None:
    whole = saved(ARRAY)
    for at in range(len(whole) - ARRAY.nbytes):
        for byte in (0, 0x27, 0x28, 0x2D, 0x39, 0x80, 0xFF):
            damaged = whole[:at] + bytes([byte]) + whole[at + 1 :]
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    read_npy(damaged)
                except NpyError:
                    continue


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.mkdir(), "cannot read 'x.npy': Is a directory"),
        (lambda path: path.symlink_to("nowhere"), "there is no file 'x.npy'"),
        (
            lambda path: path.write_bytes(saved(ARRAY.astype(np.float64))),
            "holds float64; FLOAT32_4 takes float32",
        ),
        (lambda path: path.write_bytes(saved(ARRAY)[:-8]), "'x.npy' is truncated: [5, 8] of float32 are 160 bytes"),
        (lambda path: path.write_bytes(b""), "'x.npy' is empty"),
    ],
)
def test_a_job_names_the_file_and_its_key(folder: Folder, make: Any, message: str, monkeypatch: Any) -> None:
    monkeypatch.chdir(folder.path)
    (folder.path / "x.npy").unlink()
    make(folder.path / "x.npy")
    result = ctm("run", "job.toml")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: job.toml:10: inputs[0].file: ")
    assert message in result.stderr


def test_a_file_that_may_not_be_read(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said by the operating system; root may read everything."""

    def failing(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("ctm.sim.jobs.arrays.read_file", failing)
    assert "x.npy': Permission denied" in ctm("run", folder.job).stderr


def test_commands_print_no_warnings_of_libraries(folder: Folder) -> None:
    """In a process of its own, whose filters are those that users have."""
    old = with_header(
        "{'descr': '<f4', 'fortran_order': False, 'shape': (5L, 13L, 4L), }", data=folder.x.tobytes()
    )  # fmt: skip
    (folder.path / "x.npy").write_bytes(old)
    command = [sys.executable, "-m", "ctm", "run", str(folder.job), "--engine", "golden"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert np.array_equal(np.load(folder.path / "y.npy"), folder.expected)
