"""Steps, breakpoints and reverse execution take the time that docs/debugger.md says, in processor time."""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctm.sim.debug.slicing import slicer
from ctm.sim.debug.stopping.locations import stop_at
from ctm.sim.debug.why import why
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import load_job
from ctm.tb.cli.invocation import process
from ctm.tb.debug.jobs import LONG, config_of, example, program, session_of

_ROUNDS = "{0 = [31, 0, 1]}"
_FAR = """
import json, resource, sys, time
from pathlib import Path
from ctm.rtl.config import TINY
from ctm.sim.debug.session import Session
from ctm.sim.jobs.loading import load_job

def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

with Session(load_job(Path(sys.argv[1])), TINY) as session:
    first = session.wavefront.batch.copy()
    begin = time.process_time()
    session.step(1_000_000)
    there = time.process_time()
    position = session.position.step
    session.back(1_000_000)
    back = time.process_time()
    print(json.dumps({
        "steps": position, "there": there - begin, "back": back - there, "bytes": memory(),
        "same": bool(session.wavefront.batch.is_in_state_of(first)) and session.position.step == 0,
    }))
"""


def long_job(folder: Path) -> Path:
    """A job whose wavefronts execute more than a million instructions."""
    program(LONG, folder)
    path = folder / "job.toml"
    path.write_text(path.read_text().replace("int = {0 = [5, 0, 1]}", f"int = {_ROUNDS}"))
    return path


@pytest.mark.long
def test_a_million_steps_and_back_to_the_first_one(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _FAR, str(long_job(tmp_path))]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert found["steps"] == 1_000_000 and found["same"]
    assert found["back"] < 10 and found["bytes"] < 1 << 30
    assert found["there"] < 600


@pytest.mark.long
def test_a_script_makes_a_hundred_thousand_steps_in_a_minute(tmp_path: Path) -> None:
    script = tmp_path / "steps.txt"
    script.write_text("stepi\n" * 100_000)

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    ended = process("debug", long_job(tmp_path), "--preset", "tiny", "-x", script)
    assert ended.returncode == 0 and "step 100,000, lane 0" in ended.stdout.splitlines()[-3]
    assert used() - before < 60


@pytest.mark.long
@pytest.mark.parametrize("side", [64, 256])
@pytest.mark.parametrize("name", ["mandelbrot/mandelbrot", "r700/mandelbrot/mandelbrot"])
def test_a_breakpoint_is_reached_at_half_the_speed_of_the_engine(name: str, side: int) -> None:
    """At the end of the last wavefront, in front of which everything runs."""
    job, ratios = example(name, width=side, height=side), []
    for _ in range(5):
        execution = Execution(job, engine="golden", config=config_of(job), watchdog=0)
        begin = time.process_time()
        execution.run()
        ran = time.process_time()
        with session_of(job) as session:
            stop_at(session, f"*{session.code.units[-1]} if i == {side - 1} and j == {side - 1}")
            made = time.process_time()
            assert session.go_on().reason == "breakpoint"
            reached = time.process_time()
            assert session.position.wavefront == len(session.started.order) - 1
        ratios.append((ran - begin) / (reached - made))
    assert max(ratios) >= 0.5, ratios


NESTED = """LOOP i0
  LOOP i0
    ALU r1 = ADD(r1, r1)
  ENDLOOP
ENDLOOP
OUT o0 = MOV(r1)
"""


def test_why_in_long_loops_ends_and_names_what_counts_their_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With another number of rounds, paths from each of the steps are long."""
    program(NESTED, tmp_path)
    path = tmp_path / "job.toml"
    path.write_text(path.read_text().replace("int = {0 = [5, 0, 1]}", "int = {0 = [255, 0, 1]}"))
    monkeypatch.setattr(slicer, "_MOST_STEPS_OF_ALL", 2_000)
    with session_of(load_job(path)) as session:
        session.step(300)
        before = time.process_time()
        text = "\n".join(why(session, "r1.r").rows())
        assert time.process_time() - before < 30
    assert "i0 = 255 rounds from 0 by 1" in text
