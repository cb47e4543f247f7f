"""Jobs and kernels in tiles, from Python."""

from pathlib import Path

import numpy as np
import pytest
import zarr

from ctm import Device, Split, kernel
from ctm.examples.blur.blur import blur
from ctm.language import Image, ivec2, texel, unroll, vec2
from ctm.rtl.config import PRESETS
from ctm.sim.split import plan
from ctm.sim.split.error import SplitError
from ctm.tb.split.jobs import mandelbrot_in

PICTURE = np.random.default_rng(5).random((120, 170), np.float32)


@kernel
def weighted(pixel: vec2, picture: Image, weights: list[float], height: float) -> tuple[float, vec2]:
    """Numbers, a list and two results."""
    total = 0.0
    for k in unroll(range(4)):
        total += weights[k] * texel(picture, pixel + vec2(1, -1)).x
    return total * height, pixel


@kernel
def whole(pixel: ivec2, numbers: Image[int]) -> int:
    """Whole numbers, some of which are large."""
    return texel(numbers, pixel - 3).x ^ (pixel.x << 20)


@pytest.mark.parametrize("limit", [pytest.param(4096, marks=pytest.mark.long), 96])
@pytest.mark.parametrize("isa", ["r5xx", "r700"])
def test_a_kernel_gives_what_a_device_gives(limit: int, isa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "COORDINATE_LIMIT", limit)
    arguments = (PICTURE, [0.5, 0.0, 0.25, 0.0], 3.0)
    device = Device("fast", PRESETS["r700" if isa == "r700" else "default"])
    with Split(6, engine="fast", workers=0) as split:
        found = split.call(weighted, (170, 120), *arguments, isa=isa)
        assert len(split.tally.tiles) >= 6
    expected = weighted[170, 120](*arguments, device=device)
    assert isinstance(found, tuple) and len(found) == 2
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape and np.array_equal(one, other)


def test_whole_numbers_keep_their_type() -> None:
    numbers = np.random.default_rng(2).integers(-(2**31), 2**31, (70, 90), np.int64).astype(np.int32)
    with Split(4, engine="fast", workers=0) as split:
        found = split.call(whole, (90, 70), numbers)
    assert isinstance(found, np.ndarray) and found.dtype == np.int32
    assert np.array_equal(found, whole[90, 70](numbers, device=Device("fast", PRESETS["r700"])))


def test_a_kernel_is_compiled_for_the_cores_of_the_configuration() -> None:
    for preset in ("default", "r700"):
        config = PRESETS[preset]
        with Split(2, engine="fast", config=config, workers=0) as split:
            found = split.call(blur, (30, 20), PICTURE)
            assert isinstance(found, np.ndarray) and np.array_equal(
                found, blur[30, 20](PICTURE, device=Device("fast", config))
            )
            other = "r700" if preset == "default" else "r5xx"
            with pytest.raises(ValueError, match=f"the configuration has cores of {config.array.instruction_set}, not"):
                split.call(blur, (30, 20), PICTURE, isa=other)


def test_stores_go_in_and_out(tmp_path: Path) -> None:
    """5,000 columns, which no image of one machine has."""
    picture = np.random.default_rng(3).random((40, 5000), np.float32)
    store = zarr.create_array(tmp_path / "picture.zarr", data=picture, chunks=(40, 500))
    with Split(2, engine="fast", workers=0) as split:
        assert split.call(blur, (5000, 40), store, outputs=[tmp_path / "blurred.zarr"]) is None
        memory = split.call(blur, (5000, 40), picture)
    found = np.asarray(zarr.open_array(tmp_path / "blurred.zarr", mode="r")[:, :, 0])
    assert isinstance(memory, np.ndarray)
    assert np.array_equal(found, memory)
    one = blur[4000, 40](picture[:, :4002], device=Device("fast", PRESETS["r700"]))
    assert np.array_equal(found[:, :4000], one)


@pytest.mark.long
def test_a_job_runs_at_workers_that_stay(tmp_path: Path) -> None:
    path = mandelbrot_in(tmp_path, 64)
    with Split(4, engine="fast", workers=1) as split:
        counts = [split.run(path, tmp_path / "out").report.instructions for _ in range(2)]
    assert counts[0] == counts[1] > 0 and np.load(tmp_path / "out" / "steps.npy").shape == (64, 64, 1)


def test_what_does_not_fit_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one tile"):
        Split(0)
    with pytest.raises(ValueError, match="not both"):
        Split(4, workers=1, scheduler="tcp://127.0.0.1:9")
    with Split(4, engine="fast", workers=0) as split:
        with pytest.raises(ValueError, match="each 1 to 16,777,216"):
            split.call(blur, (0, 4), PICTURE)
        with pytest.raises(ValueError, match=r"blur\(\) has 1 results, and 2 outputs are named"):
            split.call(blur, (4, 4), PICTURE, outputs=[tmp_path / "a.npy", tmp_path / "b.npy"])
        with pytest.raises(TypeError, match="'picture' is float64 of 1 channels: beyond"):
            split.call(blur, (4, 4), np.broadcast_to(0.0, (5000, 4)))
        with pytest.raises(TypeError, match="missing 1 required argument"):
            split.call(blur, (4, 4))
    with Split(4, engine="serial", workers=0) as split, pytest.raises(SplitError, match="is one board"):
        split.call(blur, (4, 4), PICTURE)
