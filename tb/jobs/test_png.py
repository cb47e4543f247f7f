"""Pictures as inputs and outputs of jobs."""

import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from ctm.rtl.isa.formats import DataFormat
from ctm.sim.jobs.arrays import ArrayError, load_elements
from ctm.sim.jobs.error import JobError
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime.png import PngError, png, read_png
from ctm.tb.cli.invocation import ctm
from ctm.tb.jobs.folder import Folder

COLOURS = np.random.default_rng(1).integers(0, 256, (5, 13, 4), np.uint8)
DEEP = np.random.default_rng(2).integers(0, 65536, (5, 13), np.uint16)
SHADES = np.arange(65, dtype=np.uint8).reshape(5, 13) * 3


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.make(tmp_path)


def picture(path: Path, array: np.ndarray, mode: str | None = None) -> Path:
    """A picture by Pillow itself, in another mode where one is given."""
    found = Image.fromarray(array)
    (found if mode is None else found.convert(mode)).save(path)
    return path


def test_an_output_named_png_is_a_picture(folder: Folder) -> None:
    folder.change('"y.npy"', '"y.PNG"')
    folder.change('format = "FLOAT32_4"\nfill = 7.0', 'format = "UINT8_4"')
    assert ctm("run", folder.job).exit_code == 0
    with Image.open(folder.path / "y.PNG") as found:
        assert (found.format, found.mode, found.size) == ("PNG", "RGBA", (13, 5))
        shades = np.rint(np.clip(folder.expected.astype(float), 0, 1) * 255)
        np.testing.assert_array_equal(np.asarray(found), shades)


def test_pictures_of_both_formats_come_back_without_loss(tmp_path: Path) -> None:
    for array, data_format in ((COLOURS, DataFormat.UINT8_4), (DEEP[:, :, None], DataFormat.UINT16_1)):
        path = tmp_path / f"{data_format.name}.png"
        path.write_bytes(png(array))
        np.testing.assert_array_equal(load_elements(path, data_format), array)


def test_a_picture_may_be_an_input_and_what_an_output_begins_with(folder: Folder) -> None:
    picture(folder.path / "x.png", COLOURS)
    folder.change('"x.npy"\nformat = "FLOAT32_4"', '"x.png"\nformat = "UINT8_4"')
    folder.change('"y.npy"', '"y.png"')
    folder.change('format = "FLOAT32_4"\nfill = 7.0', 'format = "UINT8_4"\ninitial = "x.png"')
    folder.change("[2.0, 2.0, 2.0, 0.5]", "[1.0, 1.0, 1.0, 1.0]")
    folder.change("i = [0, 12]", "i = [4, 12]")
    assert ctm("run", folder.job).exit_code == 0
    np.testing.assert_array_equal(np.asarray(Image.open(folder.path / "y.png")), COLOURS)


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P", "LA"])
def test_every_picture_of_8_bits_is_four_channels(tmp_path: Path, mode: str) -> None:
    path = picture(tmp_path / "x.png", COLOURS, mode)
    expected = np.asarray(Image.open(path).convert("RGBA"))
    np.testing.assert_array_equal(load_elements(path, DataFormat.UINT8_4), expected)


def test_gray_is_three_equal_channels_without_transparency_or_one_channel(tmp_path: Path) -> None:
    path = picture(tmp_path / "x.png", SHADES)
    four = load_elements(path, DataFormat.UINT8_4)
    assert (four[:, :, :3] == SHADES[:, :, None]).all()
    assert (four[:, :, 3] == 255).all()
    one = load_elements(path, DataFormat.UINT16_1)
    # The same brightness: 255 of 255 is 65535 of 65535.
    np.testing.assert_array_equal(one[:, :, 0], SHADES.astype(np.uint16) * 257)


@pytest.mark.parametrize(
    ("array", "data_format", "message"),
    [
        (DEEP, DataFormat.UINT8_4, "'x.png' is a picture of 16 bits and mode I;16; UINT8_4 takes 8 bits"),
        (COLOURS, DataFormat.UINT16_1, "'x.png' is a picture of 8 bits and mode RGBA; UINT8_4 takes 8 bits"),
        (COLOURS, DataFormat.FLOAT32_4, "'x.png' takes UINT8_4 or UINT16_1, not FLOAT32_4; change the format"),
    ],
)
def test_a_picture_that_would_lose_something_is_an_error(
    tmp_path: Path, array: np.ndarray, data_format: DataFormat, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    picture(Path("x.png"), array)
    with pytest.raises(ArrayError, match=message):
        load_elements(Path("x.png"), data_format)


@given(offset=st.integers(0, 200), value=st.integers(0, 255), length=st.integers(0, 300))
def test_any_bytes_are_a_picture_or_an_error(offset: int, value: int, length: int) -> None:
    data = bytearray(png(COLOURS))
    data[offset] = value
    try:
        assert read_png(bytes(data[: length or None]), DataFormat.UINT8_4).shape[2] == 4
    except PngError as error:
        assert "PNG" in str(error) or "picture" in str(error)


@pytest.mark.parametrize("name", ["y.jpg", "y.npz", "y", "y.npy.txt"])
@pytest.mark.parametrize("key", ["x.npy", "y.npy"])
def test_an_ending_that_stands_for_nothing_is_an_error_that_lists_those_that_do(
    folder: Folder, key: str, name: str
) -> None:
    folder.change(f'"{key}"', f'"{name}"')
    with pytest.raises(JobError, match=rf"job\.toml:1\d: \w+\[0\]\.file: '.*{name}' must end in \.npy or \.png"):
        load_job(folder.job)


def test_floats_do_not_fit_a_picture(folder: Folder) -> None:
    folder.change('"y.npy"', '"y.png"')
    with pytest.raises(JobError, match=r"outputs\[0\]\.file: .* takes UINT8_4 or UINT16_1, not FLOAT32_4"):
        load_job(folder.job)


def test_a_picture_that_broke_off_is_truncated_at_every_byte() -> None:
    whole = png(np.arange(60, dtype=np.uint8).reshape(3, 5, 4))
    assert np.array_equal(read_png(whole, DataFormat.UINT8_4).ravel(), np.arange(60))
    for size in range(1, len(whole)):
        with pytest.raises(PngError, match=f"is truncated: its {size} bytes end before the picture does"):
            read_png(whole[:size], DataFormat.UINT8_4)


def test_pictures_that_pillow_warns_of_are_read_without_a_word() -> None:
    """One that says it is animated, and is not."""
    whole = png(np.arange(60, dtype=np.uint8).reshape(3, 5, 4))
    chunk = b"acTL" + bytes(8)
    animated = (
        whole[:33] + len(chunk[4:]).to_bytes(4, "big") + chunk + zlib.crc32(chunk).to_bytes(4, "big") + whole[33:]
    )
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = read_png(animated, DataFormat.UINT8_4)
    assert np.array_equal(found.ravel(), np.arange(60))
    assert not heard
