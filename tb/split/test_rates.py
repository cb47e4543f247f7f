"""What more workers give, and how much memory the largest domains take."""

import shutil
import time
from collections import Counter
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


def busy_seconds(workers: int, path: Path, folder: Path) -> tuple[float, float, float]:
    """Processor time of the busiest process of a run in 16 tiles: of workers and client; and seconds of the clock.

    Other work on the computer makes a run longer, and leaves processor time nearly as it is.
    """
    job, plans = plan_launches(load_split_job(path, folder), 16)
    settings = Settings(engine="fast", config=DEFAULT, watchdog=0)
    with local_workers(workers) as client, SplitRun(job, plans, settings, lambda _: None) as run:
        client.wait_for_workers(workers)
        run.begin()
        start, processor = time.perf_counter(), time.process_time()
        run.run(AtWorkers(job, settings, client, name="the scheduler", sources=""))
        own, seconds = time.process_time() - processor, time.perf_counter() - start
    of_workers: Counter[str] = Counter()
    for tile in run.tally.tiles:
        of_workers[tile["process"]] += tile["processor_seconds"]
    return max(of_workers.values()), own, seconds


@pytest.mark.long
@pytest.mark.skipif(processors() < 2, reason="there is one processor")
def test_two_workers_are_nearly_twice_as_fast_as_one(tmp_path: Path) -> None:
    """Where each has a processor; the client is not what they wait for. One of some tries has to show it."""
    path = deep_in(tmp_path, 4096)
    ratios: list[float] = []
    assert report("run", path, "-o", tmp_path / "one", "--engine", "fast")["status"] == "ok"
    while max(ratios, default=0.0) < LEAST_RATIO:
        assert len(ratios) < TRIES, ratios
        one, *of_one = busy_seconds(1, path, tmp_path / "split")
        two, *of_two = busy_seconds(2, path, tmp_path / "split")
        ratios.append(one / max(two, of_two[0]))
        print(f"{ratios[-1]:.2f}: processor seconds {one:.2f}, {two:.2f}; of client and clock {of_one}, {of_two}")
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
