"""Split runs as processes: clusters that share no folder, what goes away, a full disk, signals."""

import os
import shutil
import signal
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from ctm.sim.sweep.cluster import handed
from ctm.tb.cli.invocation import ctm, error_line, process
from ctm.tb.cli.processes import Process, session, wait
from ctm.tb.split.jobs import blur_in, mandelbrot_in, outputs_of
from ctm.tb.sweep.processes import ended, environment, of_ctm, worker

_TILES = 32
"""Of a job that takes some seconds."""


running = partial(of_ctm, "run")
"""``ctm run``."""


def slow_in(folder: Path) -> Path:
    """A job whose tiles take a tenth of a second each."""
    (folder / "slow.c").write_text(
        "#include <ctm/kernel.h>\n"
        "kernel void slow(vec2 pixel) {\n"
        "    float x = pixel.x;\n"
        "    for (int n = 0; n < 20000; n++)\n"
        "        x = x * 0.5f + pixel.y + 1;\n"
        "    output(0, x);\n"
        "}\n"
    )
    path = mandelbrot_in(folder, 512)
    text = path.read_text()
    path.write_text(text.replace(text.split('file = "')[1].split('"')[0], "slow.c"))
    return path


def wait_for_a_tile(folder: Path, process: Process) -> None:
    """Wait until a tile is in an output that is written under another name."""

    def is_there() -> bool:
        files = [path.read_bytes()[128:] for path in folder.glob(".ctm-*.partial")]
        return any(data.count(0) < len(data) for data in files)

    wait(lambda: is_there() or process.poll() is not None)
    assert process.poll() is None, process.communicate()


@pytest.mark.slow
def test_a_cluster_that_shares_no_folder_gives_the_bits_of_one_run(
    tmp_path: Path, cluster: tuple[str, Process]
) -> None:
    address, _ = cluster
    path = blur_in(tmp_path, 300, 200)
    assert ctm("run", path, "-o", tmp_path / "one", "--engine", "fast").exit_code == 0
    client = tmp_path / "client"
    client.mkdir()
    for name in ("blur.toml", "picture.npy"):
        shutil.move(tmp_path / name, client)
    with ExitStack() as stack:
        for name in ("first", "second"):
            stack.enter_context(worker(tmp_path / name, address))
        process = stack.enter_context(
            running(
                "blur.toml",
                "-o",
                "split",
                "--engine",
                "fast",
                "--split",
                12,
                "--scheduler",
                address,
                env=environment(client),
                cwd=client,
            )  # fmt: skip
        )
        status, errors = ended(process)
    assert status == 0, errors
    assert outputs_of(client / "split") == outputs_of(tmp_path / "one")


@pytest.mark.long
def test_a_worker_that_dies_has_its_tiles_done_again(tmp_path: Path, cluster: tuple[str, Process]) -> None:
    address, _ = cluster
    path = slow_in(tmp_path)
    out = tmp_path / "split"
    with worker(tmp_path / "second", address), worker(tmp_path / "first", address) as first:
        options = ("--engine", "fast", "--split", _TILES, "--scheduler", address)
        with running(path, "-o", out, *options) as process:
            wait_for_a_tile(out, process)
            first.kill()
            status, errors = ended(process)
    assert status == 0, errors
    assert ctm("run", path, "-o", tmp_path / "one", "--engine", "fast").exit_code == 0
    assert outputs_of(out) == outputs_of(tmp_path / "one")


@pytest.mark.long
def test_a_scheduler_that_goes_away_is_a_line_and_leaves_no_output(
    tmp_path: Path, cluster: tuple[str, Process]
) -> None:
    address, process_of_scheduler = cluster
    out = tmp_path / "split"
    with worker(tmp_path / "worker", address):
        options = ("--engine", "fast", "--split", _TILES, "--scheduler", address)
        with running(slow_in(tmp_path), "-o", out, *options) as process:
            wait_for_a_tile(out, process)
            process_of_scheduler.kill()
            status, errors = ended(process)
    assert (status, errors) == (2, f"error: the scheduler {address} has gone away\n")
    assert list(out.iterdir()) == []


@pytest.mark.slow
def test_a_cluster_without_workers_is_a_line(
    tmp_path: Path, cluster: tuple[str, Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, _ = cluster
    monkeypatch.setattr(handed, "_PATIENCE", 1.0)
    said = error_line("run", mandelbrot_in(tmp_path, 64), "--split", 4, "--scheduler", address)
    assert said == f"error: the scheduler {address} has had no worker for 1 s: start some (dask worker)\n"
    assert not (tmp_path / "steps.npy").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_a_signal_ends_workers_and_leaves_no_output(number: signal.Signals, tmp_path: Path) -> None:
    out = tmp_path / "split"
    options = ("--engine", "fast", "--split", _TILES, "--workers", 1)
    with running(slow_in(tmp_path), "-o", out, *options) as process:
        wait_for_a_tile(out, process)
        os.kill(process.pid, number)
        status, errors = ended(process)
        assert (status, errors) == (
            128 + number, f"error: interrupted by {number.name}; no file is half written\n"
        )  # fmt: skip
        wait(lambda: not session(process))
    assert list(out.iterdir()) == []


def test_a_full_disk_is_a_line_before_anything_runs(tmp_path: Path) -> None:
    result = process("run", mandelbrot_in(tmp_path, 64), "--split", 4, "--workers", 0, most=10_000)
    assert result.returncode == 2
    assert result.stderr == f"error: {tmp_path / 'steps.npy'}: File too large\n"
    assert [each.name for each in tmp_path.iterdir()] == ["mandelbrot.toml"]
