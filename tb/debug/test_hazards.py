"""Reads of registers that hardware may not have written yet stop; commands end when another thread cancels them."""

import io
import threading
from pathlib import Path

import numpy as np
import pytest

from ctm.sim.debug.cancellation import Cancelled
from ctm.sim.debug.console import Console
from ctm.sim.debug.walk import Position
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import load_job
from ctm.tb.cli.invocation import ctm
from ctm.tb.debug.jobs import DIVERGENT, config_of, program, race, session_of

EARLY = """.manual
TEX r1 = LOOKUP(i0, r0) unscaled acquire
ALU r2 = MOV(r1)
OUT o0 = MOV(r2) sem_wait
"""
INPUT = '[[inputs]]\nindex = 0\nfile = "x.npy"\nformat = "FLOAT32_4"\n'
LONG = "REP i0\n" * 4 + "ALU r1.r = ADD(r1.r, c0.b)\n" + "ENDREP\n" * 4 + "OUT o0 = MOV(r1)\n"


def test_a_race_stops_in_front_of_the_read_and_changes_no_result(tmp_path: Path) -> None:
    job = race(tmp_path)
    expected = Execution(job, engine="golden", config=config_of(job), watchdog=0, trace=io.StringIO()).run().outputs[0]
    with session_of(job, hazards=True) as session:
        event = session.go_on()
        assert event.reason == "hazard" and event.stop is not None
        assert event.stop.text.endswith("which another pixel of the program writes")
        assert session.line is not None and session.line.line == 13
        here = session.position
        session.step(1)
        assert session.back_on().reason == "hazard" and session.position == here
        assert session.go_on().reason == "finished" and session.result is not None
        assert np.array_equal(session.result.outputs[0], expected)
    with session_of(job) as session:
        assert session.go_on().reason == "finished"


def test_a_fetch_that_was_not_waited_for_stops_once_for_all_wavefronts(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((4, 8, 4), np.float32))
    program(DIVERGENT, tmp_path)
    (tmp_path / "p.s").write_text(EARLY)
    job = tmp_path / "job.toml"
    job.write_text(job.read_text() + INPUT)
    with session_of(load_job(job), hazards=True) as session:
        assert len(session.hazards) == 4  # One for each channel.
        event = session.go_on()
        assert event.reason == "hazard" and session.position == Position(0, 0, 1)
        assert session.go_on().reason == "finished" and not session.hazards
    script = tmp_path / "script"
    script.write_text("continue\n")
    result = ctm("debug", job, "--hazards", "-x", script)
    assert result.exit_code == 0 and "hazard: pc 1: reads r1.r, which a fetch has not delivered" in result.stdout


def test_another_thread_ends_a_command(tmp_path: Path) -> None:
    said: list[str] = []
    with session_of(program(LONG, tmp_path, width=512, height=512)) as session:
        console = Console(session, said.append)
        for line in ("stepi 3", "lane 2", "break 10 if i == 511 and j == 511"):
            console.onecmd(line)
        timer = threading.Timer(0.5, session.cancellation.request)
        timer.start()
        console.onecmd("continue")
        timer.join()
        assert said[-1].startswith("interrupted; it is again where the command began")
        assert (session.position, session.lane) == (Position(0, 0, 3), 2) and len(session.stops) == 1
        # What is wanted while nothing runs ends nothing.
        session.cancellation.request()
        console.onecmd("stepi")
        assert session.position.step == 4 and console.error is None
        session.cancellation.request()
        with pytest.raises(Cancelled):
            session.step()
        # A second request does not keep the session from becoming whole again; the end does.
        session.go_afresh(Position(0, 0, 3))
        assert session.step().reason == "step" and session.position.step == 4
        session.cancellation.end()
        with pytest.raises(Cancelled):
            session.go_afresh(Position(0, 0, 3))
