"""Profiles: what is seen of the hardware is what the golden model counts, in the same cycles as a run without."""

import json
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.examples.catalogue import FOLDER, job
from ctm.rtl.config import R700, TINY, MachineConfig, with_settings
from ctm.sim.engines.seen import ISSUED, TAKEN, Seen, Watching
from ctm.sim.jobs.execution import Execution, Run
from ctm.sim.jobs.loading import load_job
from ctm.sim.profile.figures import WAITS
from ctm.sim.profile.profile import profiles
from ctm.sim.report.timeline import write_timeline
from ctm.sim.sweep.sized import Size, sized
from ctm.tb.draws.scene import Scene, drawn
from ctm.tb.lib.machines import BEATS
from ctm.tb.lib.some import only
from ctm.tb.report.sums import check_sums

COUNTS = ["issues", "active", "working", "present"]
SMALL_R700 = with_settings(R700, {"array.threads": 4, "array.lanes": 4})
R5XX = ("saxpy/saxpy", "early_out/early_out", "transpose/transpose")
_SAMPLE = 64, 64
"""Of the domain: as many pixels take a tenth of the time, and have all kinds of events."""
ON_R700 = ("r700/matmul/matmul", "r700/compaction/compaction", "r700/sha256/sha256")


def execution(
    path: Path, engine: str, config: MachineConfig, watch: Watching | None = None, size: Size | None = None
) -> tuple[Execution, Run]:
    """A job, over its own domain or over one of another size."""
    job = load_job(path)
    job = job if size is None else sized(job, size)
    found = Execution(job, engine=engine, config=config, watchdog=0, watch=watch)
    return found, found.run()


def by_instruction(seen: Seen) -> dict[tuple[int, int], list[int]]:
    """Counts of each instruction, of all cores together."""
    found: dict[tuple[int, int], list[int]] = {}
    for row in seen.rows:
        counts = found.setdefault((int(row["executable"]), int(row["pc"])), [0] * len(COUNTS))
        for index, name in enumerate(COUNTS):
            counts[index] += int(row[name])
    return found


def check(path: Path, config: MachineConfig, size: Size | None = None) -> None:
    """Compare a watched run with one that is not, with the golden model and with the machine's counters."""
    plain, plain_run = execution(path, "rtl", config, size=size)
    watched, run = execution(path, "rtl", config, Watching(most_events=1 << 20), size)
    golden, _ = execution(path, "golden", config, Watching(), size)
    assert run.report == plain_run.report
    for index, array in run.outputs.items():
        assert array.tobytes() == plain_run.outputs[index].tobytes()
    seen = watched.device.seen()
    assert by_instruction(seen) == by_instruction(golden.device.seen())
    check_sums(seen, profiles(seen, watched.programs()), run.report)
    check_timeline(watched, seen, run)
    assert plain.programs() == watched.programs()


def check_timeline(watched: Execution, seen: Seen, run: Run) -> None:
    """Slices add up to what was counted, and none lies outside of the one that it belongs to."""
    target = BytesIO()
    count = write_timeline(target, seen, watched.programs(), watched.device.config, compressed=False)
    events = json.loads(target.getvalue())["traceEvents"]
    assert len(events) == count and not seen.lost_events
    slices = [event for event in events if event["ph"] == "X"]
    assert {"ph", "pid", "tid", "ts", "dur", "name", "cat", "args"} == set(slices[0])
    assert sum(event["cat"] == "instruction" for event in slices) == run.report.instructions
    assert sum(event["cat"] == "wavefront" for event in slices) == run.report.counters["groups"]
    check_misses(events, run)
    slices = [event for event in slices if event["cat"] != "miss"]
    waits = Counter[str]()
    for event in slices:
        if event["cat"] == "wait":
            waits[event["name"]] += event["dur"]
    counted = {wait.name.lower(): int(seen.rows["waited"][:, wait.value].sum()) for wait in WAITS}
    # A slice may end with the recording.
    assert all(0 <= counted[name] - waits[name] <= watched.device.config.array.threads for name in counted)
    for track in {(event["pid"], event["tid"]) for event in slices}:
        own = [event for event in slices if (event["pid"], event["tid"]) == track]
        around = sorted((each["ts"], each["ts"] + each["dur"]) for each in own if each["cat"] == "wavefront")
        begins, ends = np.array(around).T
        assert (begins[1:] >= ends[:-1]).all()
        first, last = np.array([(each["ts"], each["ts"] + each["dur"]) for each in own]).T
        inside = np.searchsorted(begins, first, side="right") - 1
        assert (inside >= 0).all() and (last <= ends[inside]).all()


def check_misses(events: list[dict[str, Any]], run: Run) -> None:
    """Each miss is a slice in its cycle, and a flow leads to it from the instruction whose fetch it is."""
    misses = [event for event in events if event.get("cat") == "miss"]
    slices, starts, ends = ([event for event in misses if event["ph"] == phase] for phase in ("X", "s", "f"))
    assert len(slices) == run.report.counters.get("input_misses", 0)
    assert [event["id"] for event in starts] == [event["id"] for event in ends] == list(range(1, len(slices) + 1))
    begun = {
        (event["pid"], event["tid"], event["ts"]): event["args"]["unit"]
        for event in events if event["ph"] == "X" and event["cat"] == "instruction"
    }  # fmt: skip
    for own, start, end in zip(slices, starts, ends, strict=True):
        assert start["ts"] < end["ts"] == own["ts"]
        assert (end["pid"], end["tid"]) == (own["pid"], own["tid"])
        assert begun[start["pid"], start["tid"], start["ts"]] == own["args"]["unit"]


@pytest.mark.slow
@pytest.mark.parametrize("config", [BEATS, pytest.param(TINY, marks=pytest.mark.long)], ids=["beats", "lanes"])
@pytest.mark.parametrize("name", only(R5XX, R5XX[:2]))
def test_what_is_seen_of_r5xx_hardware_is_what_the_golden_model_counts(
    name: str, config: MachineConfig, is_long: bool
) -> None:
    check(FOLDER / f"{name}.toml", config, None if is_long else _SAMPLE)


@pytest.mark.long
@pytest.mark.parametrize("name", ON_R700)
def test_what_is_seen_of_r700_hardware_is_what_the_golden_model_counts(name: str) -> None:
    check(FOLDER / f"{name}.toml", SMALL_R700)


@pytest.mark.long
def test_what_is_seen_of_several_cores_is_of_all_of_them() -> None:
    check(job("saxpy"), with_settings(TINY, {"array.cores": 2}))


@pytest.mark.long
def test_what_is_seen_of_several_banks_is_of_all_of_them() -> None:
    check(job("matmul"), with_settings(TINY, {"array.cores": 2, "shared_cache.banks": 2}))


@pytest.mark.parametrize("name", only([*R5XX, ON_R700[1]], (R5XX[0], ON_R700[1])))
def test_the_golden_model_s_timeline_has_every_instruction_once(name: str) -> None:
    config = R700 if name.startswith("r700") else TINY
    golden, run = execution(FOLDER / f"{name}.toml", "golden", config, Watching(most_events=1 << 20))
    seen = golden.device.seen()
    assert not seen.has_times
    check_timeline(golden, seen, run)
    issued = seen.events[seen.events["kind"] == ISSUED]
    totals = Counter[tuple[int, int]](zip(issued["executable"].tolist(), issued["pc"].tolist(), strict=True))
    assert totals == {address: counts[0] for address, counts in by_instruction(seen).items()}
    assert int(issued["lanes"].sum()) == int(seen.rows["working"].sum())


def test_each_program_of_a_draw_has_a_track_of_its_own() -> None:
    corners = [(-0.8, -0.8, 0, 1, 1, 0, 0, 1), (0.8, -0.8, 0, 1, 0, 1, 0, 1), (0, 0.8, 0, 1, 0, 0, 1, 1)]
    seen = drawn(Scene(vertices=corners), watch=Watching(most_events=10_000)).device.seen()
    assert [track.name.split(":")[0] for track in seen.tracks] == ["VS", "PS"]
    taken = seen.events[seen.events["kind"] == TAKEN]
    assert taken["core"].tolist().count(0) == 1 and taken["lanes"][0] == 3
    # The pixels begin when all vertices are through.
    last_vertex = seen.events["cycle"][seen.events["core"] == 0].max()
    assert seen.events["cycle"][seen.events["core"] == 1].min() >= last_vertex


def test_what_is_dropped_is_counted() -> None:
    golden, run = execution(job("saxpy"), "golden", TINY, Watching(most_events=1000))
    seen = golden.device.seen()
    kept = int((seen.events["kind"] == ISSUED).sum())
    assert kept == 1000 and kept + seen.lost_events == run.report.instructions
