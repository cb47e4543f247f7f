"""A sweep that ends at any moment loses nothing, and another one does not come between."""

import os
import resource
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from ctm.examples.catalogue import job
from ctm.sim.sweep.journal import Journal, journal_of
from ctm.tb.cli.invocation import ctm, error_line
from ctm.tb.cli.processes import STATUS, session, wait
from ctm.tb.sweep.processes import ended, points_in, sweeping, wait_for_points, workers_of
from ctm.tb.sweep.sweeps import POINTS, rows_of, sweep_in

TWELVE = f"""
engines = ["golden"]
[[configurations]]
preset = "tiny"
settings = {{array.threads = [4, 8, 16], memory.latency = [20, 50]}}
[[jobs]]
file = "{job("mandelbrot")}"
sizes = [64, 128]
"""
"""Twelve points, each of some tenths of a second."""
SEED, MOST_SECONDS = 20, 10


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of twelve points that nothing disturbed, in this process."""
    folder = tmp_path_factory.mktemp("serial")
    result = ctm("sweep", sweep_in(folder, TWELVE), "--workers", 0, "--no-page")
    assert result.exit_code == 0, result.output
    return folder / "sweep.parquet"


def interrupt(folder: Path, after: int, number: signal.Signals, *options: object) -> str:
    """End a sweep when so many points are done, as a terminal does, with all its processes; what it said."""
    table = folder / "sweep.parquet"
    with sweeping(folder / "sweep.toml", "--no-page", *options) as process:
        wait_for_points(table, after, process)
        os.killpg(process.pid, number)
        begin = time.monotonic()
        status, errors = ended(process)
        if status:
            assert status == STATUS[number], errors
            wait(lambda: not session(process))
            assert time.monotonic() - begin < MOST_SECONDS
    return errors


def resumed(folder: Path, *options: object) -> list[dict[str, object]]:
    with sweeping(folder / "sweep.toml", "--no-page", "--resume", *options) as process:
        status, errors = ended(process)
        assert status == 0, errors
    return rows_of(folder / "sweep.parquet")


def test_an_interrupted_sweep_is_resumed_to_the_same_table(tmp_path: Path, serial: Path) -> None:
    path, table = sweep_in(tmp_path, TWELVE), tmp_path / "sweep.parquet"
    errors = interrupt(tmp_path, 3, signal.SIGINT, "--workers", 0)
    kept = points_in(table)
    assert 3 <= kept < 12 and not table.exists()
    note, error = errors.splitlines()
    assert note == f"note: {kept} of 12 points are kept; --resume goes on"
    assert error == "error: interrupted by SIGINT; no file is half written"
    said = error_line("sweep", path, "--no-page", "--workers", 0)
    assert "a sweep into this table was interrupted; --resume goes on" in said and points_in(table) == kept
    assert resumed(tmp_path, "--workers", 0) == rows_of(serial)
    assert not journal_of(table).exists()


@pytest.mark.long
def test_a_sweep_on_workers_is_interrupted_and_resumed(tmp_path: Path, serial: Path) -> None:
    sweep_in(tmp_path, TWELVE)
    errors = interrupt(tmp_path, 2, signal.SIGINT, "--workers", 2)
    assert errors.splitlines()[-1] == "error: interrupted by SIGINT; no file is half written"
    assert len(errors.splitlines()) == 3, errors
    assert resumed(tmp_path, "--workers", 0) == rows_of(serial)


@pytest.mark.long
@pytest.mark.parametrize("workers", [0, 2])
def test_five_interruptions_at_random_moments_give_the_same_table(tmp_path: Path, serial: Path, workers: int) -> None:
    sweep_in(tmp_path, TWELVE)
    random = np.random.default_rng(SEED + workers)
    for number in range(5):
        options = ["--workers", workers, *(["--resume"] if number else [])]
        with sweeping(tmp_path / "sweep.toml", "--no-page", *options) as process:
            if number == 0:
                wait_for_points(tmp_path / "sweep.parquet", 1, process)
            time.sleep(float(random.uniform(0.0, 6.0)))
            process.send_signal(signal.SIGINT)
            ended(process)
            wait(lambda process=process: not session(process))  # type: ignore[misc]
    assert resumed(tmp_path, "--workers", workers) == rows_of(serial)


@pytest.mark.slow
def test_a_worker_that_is_killed_has_its_points_done_again(tmp_path: Path, serial: Path) -> None:
    sweep_in(tmp_path, TWELVE)
    table = tmp_path / "sweep.parquet"
    with sweeping(tmp_path / "sweep.toml", "--no-page", "--workers", 2) as process:
        wait(lambda: len(workers_of(process)) == 2)
        first, _ = workers_of(process)
        wait_for_points(table, 3, process)
        os.kill(first, signal.SIGKILL)
        assert points_in(table) < 10
        status, errors = ended(process)
        assert status == 0, errors
        assert len(errors.splitlines()) == 1, errors
        wait(lambda: not session(process))
    assert rows_of(table) == rows_of(serial)


@pytest.mark.slow
def test_a_second_sweep_into_the_same_table_is_told_so(tmp_path: Path) -> None:
    path, table = sweep_in(tmp_path, TWELVE), tmp_path / "sweep.parquet"
    with sweeping(path, "--no-page", "--workers", 0) as process:
        wait_for_points(table, 1, process)
        # On a computer that has other work it might have ended before the second one begins.
        process.send_signal(signal.SIGSTOP)
        for options in ((), ("--resume",)):
            said = error_line("sweep", path, "--no-page", "--workers", 0, *options)
            assert "another sweep writes this table" in said
        process.send_signal(signal.SIGCONT)
        status, errors = ended(process)
        assert status == 0, errors


def test_what_a_crash_left_half_written_is_cut_off(tmp_path: Path) -> None:
    sweep_in(tmp_path)
    table = tmp_path / "sweep.parquet"
    with Journal(table) as journal:
        journal.add({"point": "one", "status": "ok"})
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + b'{"point": "two", "sta')
    with Journal(table) as journal:
        assert journal.records == [{"point": "one", "status": "ok"}]
        journal.add({"point": "three", "status": "ok"})
    assert journal.path.read_bytes() == whole + b'{"point": "three", "status": "ok"}\n'
    journal.path.write_bytes(b"something else\n" + whole)
    said = error_line("sweep", tmp_path / "sweep.toml", "--resume", "--no-page", "--workers", 0)
    assert "sweep.parquet.journal:1: this is no line of a journal" in said


@pytest.mark.slow
def test_a_full_disk_is_a_line_and_loses_nothing(tmp_path: Path, serial: Path) -> None:
    """The limit of a file's size stands for the disk."""
    sweep_in(tmp_path, TWELVE)
    table = tmp_path / "sweep.parquet"
    command = (tmp_path / "sweep.toml", "--no-page", "--workers", 0)
    with sweeping(*command) as process:
        wait_for_points(table, 1, process)
        limit = journal_of(table).stat().st_size + 2000
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (limit, limit))
        status, errors = ended(process)
    kept = points_in(table)
    assert status == 2 and 1 <= kept < 12
    note, error = errors.splitlines()
    assert note == f"note: {kept} of 12 points are kept; --resume goes on"
    assert error == f"error: {journal_of(table)}: File too large"
    assert journal_of(table).read_bytes().endswith(b"}\n")
    assert resumed(tmp_path, "--workers", 0) == rows_of(serial)


@pytest.mark.parametrize(
    "line", ["{}", '{"sweep": 1}', '{"point": [], "status": "ok", "reason": null}', '{"area": "x"}', '{"point": "x"}']
)
def test_a_journal_with_a_line_that_is_none_is_left_alone(line: str, tmp_path: Path) -> None:
    path, journal = sweep_in(tmp_path), journal_of(tmp_path / "sweep.parquet")
    journal.write_text(f"{line}\n")
    problem = f"error: {journal}:1: this is no line of a journal; move the file away\n"
    assert error_line("sweep", path, "--no-page", "--workers", 0, "--resume") == problem
    assert journal.read_text() == f"{line}\n"


def test_of_a_table_and_a_page_that_are_there_the_table_is_named(tmp_path: Path) -> None:
    path, table = sweep_in(tmp_path), tmp_path / "sweep.parquet"
    for file in (table, table.with_suffix(".html")):
        file.write_bytes(b"old")
    assert error_line("sweep", path, "--workers", 0).startswith(f"error: {table}: it is there already; --resume")
    assert table.read_bytes() == table.with_suffix(".html").read_bytes() == b"old"


def test_a_resumed_sweep_that_is_complete_runs_nothing(tmp_path: Path) -> None:
    path, table = sweep_in(tmp_path), tmp_path / "sweep.parquet"
    assert ctm("sweep", path, "--no-page", "--workers", 0).exit_code == 0
    before = table.stat().st_ino, rows_of(table)
    result = ctm("sweep", path, "--no-page", "--resume", "--json")
    assert result.exit_code == 0 and f'"points": {POINTS}' in result.stdout
    assert rows_of(table) == before[1]


@pytest.mark.parametrize("name", ["write_table", "write_file"])
def test_a_table_or_page_that_cannot_be_written_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path, table = sweep_in(tmp_path), tmp_path / "sweep.parquet"
    module = "ctm.sim.sweep.sweep" if name == "write_table" else "ctm.sim.cli.sweep.command"

    def fail(file: Path, *_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(file))

    with monkeypatch.context() as full:
        full.setattr(f"{module}.{name}", fail)
        result = ctm("sweep", path, "--workers", 0)
    file = table if name == "write_table" else table.with_suffix(".html")
    note, error = result.stderr.splitlines()
    assert result.exit_code == 2 and error == f"error: {file}: No space left on device"
    assert note == f"note: {POINTS} of {POINTS} points are kept; --resume goes on" and points_in(table) == POINTS
    result = ctm("sweep", path, "--workers", 0, "--resume")
    assert result.exit_code == 0 and result.stderr == ""
    assert len(rows_of(table)) == POINTS and table.with_suffix(".html").exists()
    assert not journal_of(table).exists()
