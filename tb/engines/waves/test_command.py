"""`ctm run --waves`: windows, and what goes wrong."""

import signal
import sys
from pathlib import Path

import pytest

from ctm.sim.engines.waves.window import FORMATS
from ctm.tb.cli.invocation import ctm, error_line, process, report
from ctm.tb.cli.processes import PATIENCE, STATUS, running, wait
from ctm.tb.engines.waves.reading import Wave
from ctm.tb.jobs.folder import Folder
from ctm.tb.lib.machines import BEATS_OPTIONS

CORE = "ctm.machine.array.core_0"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder.make(tmp_path)


@pytest.mark.long
def test_a_window_has_the_wanted_cycles(folder: Folder) -> None:
    path = folder.path / "a.fst"
    found = report("run", folder.job, *BEATS_OPTIONS, "--waves", path, "--waves-from", 100, "--waves-cycles", 50)
    assert found["engine"] == "rtl"
    assert (found["waves"]["first"], found["waves"]["end"]) == (100, 150)
    assert Wave(path).cycles == list(range(100, 150))
    assert found["cycles"] == report("run", folder.job, *BEATS_OPTIONS, "--engine", "rtl")["cycles"]
    assert sorted(Path(view).name for view in found["waves"]["views"]) == ["a.gtkw", "a.sucl"]


@pytest.mark.long
def test_a_window_around_the_end_has_the_last_cycles(folder: Folder) -> None:
    path = folder.path / "a.fst"
    found = report("run", folder.job, *BEATS_OPTIONS, "--waves", path, "--waves-around", "end", "--waves-cycles", 40)
    assert (found["waves"]["first"], found["waves"]["end"]) == (found["cycles"] - 39, found["cycles"] + 1)
    assert Wave(path).at_cycles("ctm.irq", found["cycles"] - 2, found["cycles"] + 1) == [0, 0, 1]


@pytest.mark.long
def test_a_window_around_a_fault_has_it(folder: Folder) -> None:
    path = folder.path / "a.fst"
    fault = ("run", folder.job, *BEATS_OPTIONS, "--watchdog", 2, "--waves", path, "--waves-around", "fault")
    found = report(*fault, "--waves-cycles", 80)
    assert found["status"] == "watchdog"
    first, end = found["waves"]["first"], found["waves"]["end"]
    assert 20 < end - first <= 80
    changes = Wave(path).changes("ctm.machine.fault__valid")
    assert any(value and 10 * first < time < 10 * end for time, value in changes)
    assert "there is none in" in error_line(
        "run", folder.job, *BEATS_OPTIONS, "--waves", path, "--waves-around", "fault"
    )


@pytest.mark.long
def test_a_window_at_a_pixel_is_its_wavefronts(folder: Folder) -> None:
    path = folder.path / "a.fst"
    found = report("run", folder.job, *BEATS_OPTIONS, "--waves", path, "--waves-at", "5,3")
    first, end = found["waves"]["first"], found["waves"]["end"]
    wave = Wave(path)
    assert wave.at_cycles(f"{CORE}.take_valid", first, first + 1) == [1]
    i, j = (wave.at_cycles(f"{CORE}.take_{name}", first, first + 1)[0] for name in "ij")
    assert (i // 2, j // 2) == (5 // 2, 3 // 2)
    slot = wave.at_cycles(f"{CORE}.take_wave", first, first + 1)[0]
    states = wave.at_cycles(f"{CORE}.wave_slot_{slot}", first + 1, end)
    assert 0 not in states
    assert "no wavefront has that pixel" in error_line(
        "run", folder.job, *BEATS_OPTIONS, "--waves", path, "--waves-at", "90,3"
    )


@pytest.mark.long
def test_a_window_that_never_comes_leaves_what_was_there(folder: Folder) -> None:
    path = folder.path / "a.vcd"
    path.write_text("mine")
    line = error_line("run", folder.job, *BEATS_OPTIONS, "--waves", path, "--waves-from", 10**9)
    assert "the job's last interrupt is in cycle" in line and "is not written" in line
    assert path.read_text() == "mine"
    assert (folder.path / "y.npy").exists()
    assert not list(folder.path.glob(".ctm-*"))


@pytest.mark.long
@pytest.mark.parametrize("suffix", FORMATS)
def test_a_full_disk_costs_the_wave_only(folder: Folder, suffix: str) -> None:
    path = folder.path / f"a{suffix}"
    ended = process("run", folder.job, *BEATS_OPTIONS, "--waves", path, most=100_000)
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr == f"error: --waves {path}: File too large; the wave is not complete\n"
    assert (folder.path / "y.npy").exists()
    assert not list(folder.path.glob(".ctm-*"))
    assert path.exists() == (suffix != ".fst")


@pytest.mark.long
def test_files_that_cannot_be_written(folder: Folder) -> None:
    assert "No such file" in error_line("run", folder.job, *BEATS_OPTIONS, "--waves", folder.path / "none" / "a.fst")
    (folder.path / "b.fst").mkdir()
    assert "Is a directory" in error_line("run", folder.job, *BEATS_OPTIONS, "--waves", folder.path / "b.fst")
    (folder.path / "c.vcd").symlink_to("/dev/full")
    assert "No space left" in error_line("run", folder.job, *BEATS_OPTIONS, "--waves", folder.path / "c.vcd")
    assert (folder.path / "y.npy").exists()


@pytest.mark.long
@pytest.mark.parametrize("suffix", FORMATS)
def test_an_interruption_leaves_a_wave_that_can_be_read(folder: Folder, suffix: str) -> None:
    folder.change("i = [0, 12]\nj = [0, 4]", "i = [0, 999]\nj = [0, 999]")
    folder.change("shape = [5, 13]", "shape = [1000, 1000]")
    path = folder.path / f"a{suffix}"
    command = [sys.executable, "-c", "from ctm.sim.cli import main; main()", "run", str(folder.job), *BEATS_OPTIONS]
    with running([*command, "--waves", path]) as run:
        wait(lambda: any(file.stat().st_size for file in folder.path.glob(".ctm-*")) or run.poll() is not None)
        run.send_signal(signal.SIGINT)
        said, errors = run.communicate(timeout=PATIENCE)
    assert run.returncode == STATUS[signal.SIGINT], errors
    assert "waves: " in said and "Traceback" not in errors
    if suffix != ".vcd.gz":
        cycles = Wave(path).cycles
        assert cycles == list(range(len(cycles))) and cycles


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--waves", "a.txt"), "a wave ends in .fst, .vcd or .vcd.gz"),
        (("--waves-cycles", "3"), "it needs --waves FILE"),
        (("--waves", "a.fst", "--waves-at", "3"), "write it as I,J"),
        (("--waves", "a.fst", "--waves-from", str(1 << 64)), "--waves-from 18446744073709551616: it is 92"),
        (("--waves", "a.fst", "--waves-at", "90,3"), "--waves-at 90,3: no wavefront has that pixel; a.fst is not"),
        (("--waves", "a.fst", "--waves-around", "x"), "it is fault or end"),
        (("--waves", "a.fst", "--waves-around", "end", "--waves-from", "3"), "not together with --waves-from"),
        (("--waves", "a.fst", "--engine", "golden"), "engine 'golden' writes none"),
        (("--waves", "a.vcd", "--engine", "serial", "--port", "x"), "engine 'serial' writes none"),
        (("--waves", "a.fst", "--engine", "amaranth"), "writes .vcd only"),
        (("--waves", "a.fst", "--profile"), "not together with --profile"),
    ],
)
def test_what_does_not_go_together(folder: Folder, options: tuple[str, ...], message: str) -> None:
    assert message in error_line("run", folder.job, *options)


@pytest.mark.long
def test_amaranths_simulator_writes_the_same_cycles(folder: Folder) -> None:
    folder.change("i = [0, 12]\nj = [0, 4]", "i = [0, 1]\nj = [0, 1]")
    folder.change("shape = [5, 13]", "shape = [2, 2]")
    window = ("--waves-from", 40, "--waves-cycles", 60)
    found = report("run", folder.job, *BEATS_OPTIONS, "--engine", "amaranth", "--waves", folder.path / "a.vcd", *window)
    compiled = report("run", folder.job, *BEATS_OPTIONS, "--waves", folder.path / "b.fst", *window)
    assert (found["waves"]["first"], found["waves"]["end"]) == (40, 100)
    assert found["cycles"] == compiled["cycles"]
    one, other = Wave(folder.path / "a.vcd"), Wave(folder.path / "b.fst")
    for name in ("araddr", "arvalid", "rready", "awvalid"):
        changes = [value for _, value in other.changes(f"ctm.m_axi_local_{name}")]
        assert [value for _, value in one.changes(f"bench.top.m_axi_local_{name}")] == changes


def test_help_names_every_option() -> None:
    text = ctm("run", "--help").output
    for option in ("--waves", "--waves-from", "--waves-cycles", "--waves-around", "--waves-at", "--waves-depth"):
        assert option in text
