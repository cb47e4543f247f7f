"""What more workers give, and how much memory the largest domains take."""

import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import DEFAULT
from ctm.sim.split.handing import AtWorkers
from ctm.sim.split.loading import load_split_job
from ctm.sim.split.plan import plan_launches
from ctm.sim.split.run import SplitRun
from ctm.sim.split.tile import Settings
from ctm.sim.sweep.cluster.workers import local_workers, processors
from ctm.tb.cli.invocation import report
from ctm.tb.split.jobs import mandelbrot_in, outputs_of

LEAST_RATIO, TRIES = 1.7, 6
SIDE, SPACE, MOST_BYTES = 32_768, 20 << 30, 2 << 30


def deep_in(folder: Path, side: int) -> Path:
    """A Mandelbrot set that lies in its inside, where each pixel takes all steps."""
    path = mandelbrot_in(folder, side)
    text = path.read_text().replace(
        f"[{3 / side}, {3 / side}, -2.0, -1.5]", f"[{0.4 / side}, {0.4 / side}, -0.3, -0.2]"
    )
    path.write_text(text.replace("[64, 0, 0]", "[255, 0, 0]"))
    return path


def tiles_a_second(workers: int, path: Path, folder: Path) -> float:
    """Of workers that have begun: between the first and the last tile."""
    job, plans = plan_launches(load_split_job(path, folder), 16)
    settings = Settings(engine="fast", config=DEFAULT, watchdog=0)
    ends: list[float] = []
    with (
        local_workers(workers) as client,
        SplitRun(job, plans, settings, lambda _: ends.append(time.perf_counter())) as run,
    ):
        client.wait_for_workers(workers)
        run.begin()
        run.run(AtWorkers(job, settings, client, name="the scheduler", sources=""))
    # As many come first as there are workers.
    return (len(ends) - workers) / (ends[-1] - ends[workers - 1])


@pytest.mark.long
@pytest.mark.skipif(processors() < 2, reason="there is one processor")
def test_two_workers_do_nearly_twice_the_tiles_of_one(tmp_path: Path) -> None:
    """The processors may have other things to do meanwhile: one of some tries has to show it."""
    path, ratios = deep_in(tmp_path, 4096), []
    assert report("run", path, "-o", tmp_path / "one", "--engine", "fast")["status"] == "ok"
    while max(ratios, default=0.0) < LEAST_RATIO:
        assert len(ratios) < TRIES, ratios
        rates = [tiles_a_second(workers, path, tmp_path / "split") for workers in (2, 1)]
        ratios.append(rates[0] / rates[1])
    print(ratios)
    assert outputs_of(tmp_path / "one") == outputs_of(tmp_path / "split")


@pytest.mark.long
def test_sixteen_gigabytes_of_output_take_two_of_memory(tmp_path: Path) -> None:
    """32,768 x 32,768 pixels of four floats, the bits of each row and column known."""
    free = shutil.disk_usage(tmp_path).free
    if free < SPACE:
        pytest.skip(f"there are {free >> 30} GiB of disk")
    (tmp_path / "large.c").write_text(
        "#include <ctm/kernel.h>\n"
        "kernel void large(vec2 pixel) { output(0, vec4(pixel.x, pixel.y, pixel.x - pixel.y, pixel.x + pixel.y)); }\n"
    )
    path = mandelbrot_in(tmp_path, SIDE, "large.npy")
    text = path.read_text()
    path.write_text(text.replace(text.split('file = "')[1].split('"')[0], "large.c").replace("FLOAT32_1", "FLOAT32_4"))
    try:
        found = report("run", path, "--engine", "fast", "--split", 256, "--workers", 2)
        assert found["status"] == "ok", found
        print(found["memory_bytes"], found["wall_s"])
        assert found["memory_bytes"] < MOST_BYTES
        large = np.load(tmp_path / "large.npy", mmap_mode="r")
        assert large.shape == (SIDE, SIDE, 4) and large.dtype == np.float32
        i = np.arange(SIDE, dtype=np.float32)
        for j in (*range(0, SIDE, 1021), SIDE - 1):
            expected = np.stack([i, np.full_like(i, j), i - j, i + j], axis=1)
            assert np.array_equal(large[j], expected)
    finally:
        (tmp_path / "large.npy").unlink(missing_ok=True)
