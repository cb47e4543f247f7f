"""Inputs and outputs that stay in their files: .npy in any order, and Zarr stores."""

from pathlib import Path

import numpy as np
import pytest
import zarr

from ctm.tb.cli.invocation import ctm, error_line
from ctm.tb.split.jobs import blur_in, mandelbrot_in

IN_PROCESS = ("--split", 6, "--workers", 0, "--engine", "fast")


def blurred(path: Path, folder: Path, *options: object) -> np.ndarray:
    result = ctm("run", path, "-o", folder, *options)
    assert result.exit_code == 0, result.output
    return np.load(folder / "blurred.npy")


@pytest.mark.parametrize("kind", ["columns", "big", "plane", "zarr"])
def test_inputs_have_any_order_and_may_be_stores(kind: str, tmp_path: Path) -> None:
    path = blur_in(tmp_path, 100, 130)
    expected = blurred(path, tmp_path / "one", "--engine", "fast")
    picture = np.load(tmp_path / "picture.npy")
    if kind == "zarr":
        zarr.create_array(tmp_path / "picture.zarr", data=picture, chunks=(17, 40))
        path.write_text(path.read_text().replace("picture.npy", "picture.zarr"))
    else:
        made = {"columns": np.asfortranarray(picture), "big": picture.astype(">f4"), "plane": picture[:, :, None]}
        np.save(tmp_path / "picture.npy", made[kind])
    assert np.array_equal(blurred(path, tmp_path / "split", *IN_PROCESS), expected)


def test_an_output_may_be_a_store_with_a_chunk_for_each_tile(tmp_path: Path) -> None:
    assert ctm("run", mandelbrot_in(tmp_path, 192), "--engine", "fast").exit_code == 0
    path = mandelbrot_in(tmp_path, 192, "steps.zarr")
    for _ in range(2):
        # The second time it takes the name of the first one.
        result = ctm("run", path, *IN_PROCESS)
        assert result.exit_code == 0, result.output
        found = zarr.open_array(tmp_path / "steps.zarr", mode="r")
        assert found.chunks == (64, 96, 1)
        assert np.array_equal(found[:], np.load(tmp_path / "steps.npy"))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mandelbrot.toml", "steps.npy", "steps.zarr"]


def test_passes_exchange_stores(tmp_path: Path) -> None:
    path = blur_in(tmp_path, 100, 130)
    text = path.read_text().replace(
        "[domain]\ni = [0, 129]\nj = [0, 99]",
        "[[passes]]\ndomain_i = [1, 129]\ndomain_j = [2, 90]\nrepeat = 3\nswap = [[0, 0]]",
    )
    path.write_text(text)
    expected = blurred(path, tmp_path / "one", "--engine", "fast")
    zarr.create_array(tmp_path / "picture.zarr", data=np.load(tmp_path / "picture.npy"))
    path.write_text(text.replace("picture.npy", "picture.zarr").replace("blurred.npy", "blurred.zarr"))
    assert ctm("run", path, "-o", tmp_path / "split", *IN_PROCESS).exit_code == 0
    assert np.array_equal(zarr.open_array(tmp_path / "split" / "blurred.zarr", mode="r")[:], expected)
    assert [each.name for each in (tmp_path / "split").iterdir()] == ["blurred.zarr"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none.npy", "there is no file"),
        ("none.zarr", "there is no Zarr array"),
        ("cut.npy", "is truncated: [100, 130] of float32 are 52,000 bytes, and it has 1,000 of them"),
        ("wide.npy", "holds float64; FLOAT32_1 takes float32"),
        ("deep.npy", "has shape [100, 130, 2]; FLOAT32_1 takes [height, width, 1]"),
        ("deep.zarr", "has shape [100, 130, 2]; FLOAT32_1 takes [height, width, 1]"),
        ("group.zarr", "it is a group: name the array in it"),
        ("picture.csv", "must end in .npy or .png"),
    ],
)
def test_inputs_that_do_not_fit_are_a_line(name: str, reason: str, tmp_path: Path) -> None:
    path = blur_in(tmp_path, 100, 130, file=name)
    whole = (tmp_path / "picture.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[: 128 + 1000])
    np.save(tmp_path / "wide.npy", np.zeros((100, 130)))
    np.save(tmp_path / "deep.npy", np.zeros((100, 130, 2), np.float32))
    zarr.create_array(tmp_path / "deep.zarr", data=np.zeros((100, 130, 2), np.float32))
    zarr.create_group(tmp_path / "group.zarr")
    said = error_line("run", path, *IN_PROCESS)
    assert "blur.toml:" in said and "inputs[0].file" in said and reason in said


def test_a_folder_that_is_no_store_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "steps.zarr").mkdir()
    (tmp_path / "steps.zarr" / "letter.txt").write_text("mine")
    said = error_line("run", mandelbrot_in(tmp_path, 64, "steps.zarr"), *IN_PROCESS)
    assert "steps.zarr: it is there and is no Zarr array, and is not replaced by one" in said
    assert (tmp_path / "steps.zarr" / "letter.txt").read_text() == "mine"


def test_without_tiles_stores_are_no_files(tmp_path: Path) -> None:
    assert "must end in .npy or .png" in error_line("run", mandelbrot_in(tmp_path, 64, "steps.zarr"))
