"""A wave has what the watched engine sees, cycle by cycle, and a run with one is the same run."""

import gzip
import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import pytest

from ctm.examples.catalogue import job
from ctm.rtl.config import R700, TINY, MachineConfig, with_settings
from ctm.rtl.dpp.watch import Wait
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.engines.seen import ISSUED, TAKEN, WAITS_FOR, Seen, Watching
from ctm.sim.engines.waves.engine import WavesEngine
from ctm.sim.engines.waves.window import FORMATS, Waves, Written
from ctm.sim.jobs.execution import Execution, Run
from ctm.sim.jobs.loading import load_job
from ctm.sim.report.waves.view import view
from ctm.sim.report.waves.viewers import write_views
from ctm.tb.engines.waves.reading import Wave
from ctm.tb.lib.machines import BEATS

SMALL_R700 = with_settings(R700, {"array.threads": 4, "array.lanes": 4})
CORE = "ctm.machine.array.core_0"
RUNS = (
    pytest.param("saxpy", BEATS, id="beats", marks=pytest.mark.long),
    pytest.param("saxpy", TINY, id="r5xx", marks=pytest.mark.long),
    pytest.param("early_out", TINY, id="flow control", marks=pytest.mark.long),
    pytest.param("r700/compaction", SMALL_R700, id="r700", marks=pytest.mark.long),
)


def execution(name: str, config: MachineConfig, watch: Watching | None) -> tuple[Execution, Run]:
    found = Execution(load_job(job(name)), engine="rtl", config=config, watchdog=0, watch=watch)
    return found, found.run()


def run_with_wave(name: str, config: MachineConfig, waves: Waves) -> tuple[Execution, Run, Written]:
    found, run = execution(name, config, waves)
    return found, run, found.device.end_waves()


def expected(seen: Seen, slot: int, offset: int, cycles: int) -> dict[int, list[int]]:
    """What a wave slot of core 0 does in each cycle (WAITS_FOR), and the PC that it has issued last (ISSUED)."""
    changes: dict[int, dict[int, int]] = {WAITS_FOR: {}, ISSUED: {}}
    for event in seen.events[(seen.events["core"] == 0) & (seen.events["slot"] == slot)]:
        if event["kind"] in changes:
            value = event["pc"] if event["kind"] == ISSUED else event["what"]
            changes[int(event["kind"])][int(event["cycle"]) - offset] = int(value)
    found = {}
    for kind, own in changes.items():
        value, values = Wait.FREE.value, []
        for cycle in range(cycles):
            value = own.get(cycle, value)
            values.append(value)
        found[kind] = values
    return found


@pytest.mark.parametrize(("name", "config"), RUNS)
def test_every_cycle_of_every_wave_slot_is_the_traces(name: str, config: MachineConfig, tmp_path: Path) -> None:
    watched, watched_run = execution(name, config, Watching(most_events=1 << 20))
    path = tmp_path / "a.fst"
    traced, run, written = run_with_wave(name, config, Waves(path=path))
    _, plain_run = execution(name, config, None)
    assert run.report == watched_run.report == plain_run.report
    for index, array in run.outputs.items():
        assert array.tobytes() == plain_run.outputs[index].tobytes()

    wave, seen = Wave(path), watched.device.seen()
    assert written.first == 0 and written.end is not None
    assert wave.cycles == list(range(written.end))
    takes = wave.at_cycles(f"{CORE}.take_valid", 0, written.end)
    taken = [int(event["cycle"]) for event in seen.events if event["kind"] == TAKEN]
    offset = taken[0] - takes.index(1)
    assert [cycle + offset for cycle, takes_one in enumerate(takes) if takes_one] == taken
    for slot in range(config.array.threads):
        cycles = expected(seen, slot, offset, written.end)
        assert wave.at_cycles(f"{CORE}.wave_slot_{slot}", 0, written.end) == cycles[WAITS_FOR]
        assert wave.at_cycles(f"{CORE}.wave_slot_{slot}_pc", 0, written.end) == cycles[ISSUED]
    check_views(path, traced, wave, config)


def check_views(path: Path, traced: Execution, wave: Wave, config: MachineConfig) -> None:
    """Every signal of a view is in the wave, with this width, and every instruction has a text."""
    gtkw, sucl = write_views(path, config, traced.programs())
    rows = [row for section in view(config) for row in section.rows]
    widths = {row.path: row.width for row in rows}
    assert {name: wave.variables[name].bitwidth for name in widths} == widths
    listed = [line.removeprefix("variable_add ") for line in sucl.read_text().splitlines() if "variable_add" in line]
    assert listed == list(widths)
    for name, width in widths.items():
        assert (name if width == 1 else f"{name}[{width - 1}:0]") in gtkw.read_text().splitlines()
    known = {line.split()[0] for line in path.with_name("a.instructions.txt").read_text().splitlines()}
    mnemonics = {line.split()[0] for line in path.with_name("a.instructions.mnemonic").read_text().splitlines()}
    width = widths[f"{CORE}.wave_slot_0_instruction"]
    for slot in range(config.array.threads):
        for _, value in wave.changes(f"{CORE}.wave_slot_{slot}_instruction"):
            assert f"{value:0{-(-width // 4)}X}" in known
            assert f"{value:0{width}b}" in mnemonics


@pytest.mark.long
def test_formats_have_the_same_wave(tmp_path: Path) -> None:
    waves = {}
    for suffix in FORMATS:
        path = tmp_path / f"a{suffix}"
        run_with_wave("saxpy", BEATS, Waves(path=path, first=300, cycles=200))
        if suffix == ".vcd.gz":
            path.with_name("b.vcd").write_bytes(gzip.decompress(path.read_bytes()))
            path = path.with_name("b.vcd")
        waves[suffix] = Wave(path)
    first, *others = waves.values()
    names = [name for section in view(BEATS) for name in (row.path for row in section.rows)]
    for other in others:
        assert other.variables.keys() == first.variables.keys()
        assert other.cycles == first.cycles == list(range(300, 500))
        for name in names:
            assert other.at_cycles(name, 300, 500) == first.at_cycles(name, 300, 500)


@pytest.mark.long
def test_blocks_of_an_fst_go_on_where_the_one_before_ended(tmp_path: Path) -> None:
    """A block has at most 2,048 cycles; of signals of each width some are compared with a VCD, which has no blocks."""
    waves = []
    for suffix in (".fst", ".vcd"):
        path = tmp_path / f"a{suffix}"
        run_with_wave("saxpy", BEATS, Waves(path=path, first=500, cycles=4_500))
        waves.append(Wave(path))
    block, text = waves
    assert block.variables.keys() == text.variables.keys()
    assert block.cycles == text.cycles == list(range(500, 5_000))
    chosen: dict[int, list[str]] = {}
    for name, variable in random.Random(3).sample(sorted(block.variables.items()), len(block.variables)):
        if len(chosen.setdefault(variable.bitwidth, [])) < 8:
            chosen[variable.bitwidth].append(name)
    assert {1, 8, 32, 33, 64} < set(chosen) and max(chosen) > 128
    changes = 0
    for name in (name for names in chosen.values() for name in names):
        found = block.changes(name)
        assert found == text.changes(name), name
        changes += len(found)
    assert changes > 10_000


@pytest.mark.long
def test_enumerations_have_names_and_signals_fields(tmp_path: Path) -> None:
    path, text = tmp_path / "a.fst", tmp_path / "b.vcd"
    for each in (path, text):
        run_with_wave("saxpy", BEATS, Waves(path=each, cycles=10))
    named = [
        {name: variable.enum_type for name, variable in Wave(each).variables.items() if variable.enum_type}
        for each in (path, text)
    ]
    assert named[0] == named[1] and len(named[0]) > 10
    variables = Wave(path).variables
    name, members = variables[f"{CORE}.wave_slot_0"].enum_type
    assert name.endswith("Wait")
    assert ("0000", "FREE") in members and ("1001", "OUTPUT") in members
    assert {"ctm.machine.steps.INPUT_HITS", f"{CORE}.watch.issue_0_pc"} <= variables.keys()
    # What Verilator or Yosys made up is not there.
    assert not any("$" in name.split(".")[-1][:1] or "__DOT__" in name for name in variables)


@pytest.mark.long
def test_a_model_without_waves_is_the_one_of_before(tmp_path: Path) -> None:
    plain = RtlEngine.library(BEATS)
    before = plain.read_bytes()
    run_with_wave("saxpy", BEATS, Waves(path=tmp_path / "a.fst", cycles=10))
    assert RtlEngine.library(BEATS) == plain and plain.read_bytes() == before
    assert WavesEngine.traced_library(BEATS, 0) != plain
    assert b"VerilatedFst" not in before


@contextmanager
def screen(folder: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    """What stands in front of a program's name and in its environment, so that it has an invisible display.

    That is an X server without a screen, or GTK's server for browsers.
    """
    if which("xvfb-run"):
        yield ["xvfb-run", "-a"], {}
        return
    environment = {"XDG_RUNTIME_DIR": str(folder), "GDK_BACKEND": "broadway", "BROADWAY_DISPLAY": ":1"}
    server = subprocess.Popen(
        ["broadwayd", "--unixsocket", "http", ":1"], cwd=folder, env=os.environ | environment, stdout=subprocess.PIPE
    )
    try:
        assert server.stdout is not None and server.stdout.readline().startswith(b"Listening")
        yield [], environment
    finally:
        server.kill()
        server.communicate()


@pytest.mark.long
@pytest.mark.skipif(
    not (which("gtkwave") and (which("xvfb-run") or which("broadwayd"))),
    reason="GTKWave or a display for it is not there",
)
def test_gtkwave_loads_the_view(tmp_path: Path) -> None:
    path, script = tmp_path / "a.fst", tmp_path / "count.tcl"
    traced, _, _ = run_with_wave("saxpy", BEATS, Waves(path=path))
    gtkw, _ = write_views(path, BEATS, traced.programs())
    script.write_text('puts "traces: [gtkwave::getTotalNumTraces]"\nexit\n')
    with screen(tmp_path) as (front, environment):
        command = [*front, "gtkwave", "-S", str(script), "-a", str(gtkw)]
        shown = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=True, env=os.environ | environment
        ).stdout
    sections = view(BEATS)
    assert f"traces: {len(sections) + sum(len(section.rows) for section in sections)}" in shown


@pytest.mark.long
def test_a_depth_adds_the_words_of_memories(tmp_path: Path) -> None:
    found = []
    for depth in (0, 16):
        path = tmp_path / f"{depth}.fst"
        run_with_wave("saxpy", BEATS, Waves(path=path, cycles=10, depth=depth))
        found.append(Wave(path).variables.keys())
    none, some = found
    assert none < some
    assert all(name.rpartition("__")[2].isdecimal() for name in some - none)
