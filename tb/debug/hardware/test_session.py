"""A session on the hardware steps through its states, forward and back, and reports where the golden model differs."""

from pathlib import Path

import numpy as np
import pytest

from ctm.sim.debug.cancellation import Cancelled
from ctm.sim.debug.console import Console
from ctm.sim.debug.difference import difference_from
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.hardware.wavefront import HardwareWavefront
from ctm.sim.debug.session import Session
from ctm.sim.debug.walk import Position
from ctm.sim.debug.why import why
from ctm.tb.debug.hardware.stepping import same
from ctm.tb.debug.jobs import DIVERGENT, config_of, example, program, session_of

JOB = "r700/compaction/compaction"
_R5XX = ("mandelbrot/mandelbrot", "bitonic/bitonic", "early_out/early_out")
"""Their machine is compiled for this alone."""


def lines(session: Session, *commands: str) -> list[str]:
    said: list[str] = []
    console = Console(session, said.append)
    for command in commands:
        console.onecmd(command)
    return said


@pytest.mark.long
@pytest.mark.parametrize("name", [JOB, *_R5XX])
def test_steps_are_those_of_the_golden_model_with_cycles(name: str) -> None:
    job = example(name, 16, 4)
    with session_of(job, engine="rtl") as session, session_of(job) as model:
        cycles = [-1]
        for _ in range(200):
            event, other = session.step(), model.step()
            assert event.reason == other.reason
            if event.reason == "finished":
                break
            assert session.position == model.position
            same(session.wavefront.batch, model.wavefront.batch)
            if not session.position.step:
                cycles = [-1]
            cycle = session.wavefront.cycle
            assert cycle is not None and cycle >= cycles[-1]
            cycles.append(cycle)
        assert model.wavefront.cycle is None


@pytest.mark.long
def test_the_job_ends_as_without_a_debugger() -> None:
    job = example(JOB, 16, 4)
    with session_of(job, engine="rtl") as session, session_of(job) as model:
        for each in (session, model):
            assert each.go_on().reason == "finished"
        assert session.result is not None and model.result is not None
        for number, output in model.result.outputs.items():
            np.testing.assert_array_equal(session.result.outputs[number], output)


@pytest.mark.long
def test_cycles_breakpoints_and_why() -> None:
    with session_of(example(JOB, 16, 4), engine="rtl") as session:
        session.step(9)
        wanted = session.wavefront.cycle
        session.go_to(Position(0, 0, 0))
        (where, *_) = lines(session, f"cycle {wanted}")
        assert session.position.step == 9
        assert f"cycle {wanted:,}" in where
        early = lines(session, "cycle 0")
        assert "had not begun" in early[0] and "step 0" in early[1]
        explanation = why(session, "o1[3,1]")
        assert explanation.slice.causes
        assert "can be set" in lines(session, "set R1.x = 2")[0]
        assert session.value("R1").words.shape == session.value("R0").words.shape
    with session_of(example(JOB, 16, 4)) as model:
        assert "no cycles" in lines(model, "cycle 9")[0]
        assert "takes a job" in lines(model, "diff")[0]


@pytest.mark.long
def test_diff_stops_where_the_hardware_does_something_else() -> None:
    with session_of(example(JOB, 16, 4), engine="rtl") as session:
        assert lines(session, "diff") == ["the wavefront is the same to its end, here and in golden"]
        session.go_to(Position(0, 0, 0))
        with session_of(example(JOB, 16, 4)) as other:
            assert difference_from(session, other) is None
        session.go_to(Position(0, 0, 0))
        wavefront = session.wavefront
        assert isinstance(wavefront, HardwareWavefront)
        for moment in wavefront.recording.moments[6:]:
            moment.arrays["temporaries"] = moment.arrays["temporaries"].copy()
            moment.arrays["temporaries"].view(np.uint32)[1, 2, session.lane] ^= 1
        said = lines(session, "diff")
        assert session.position.step == 7
        assert any("R1.z = " in row and "in golden" in row for row in said), said
        session.go_to(Position(0, 0, 0))
        wavefront.recording.moments[3].pc += 1
        assert "the hardware executed pc" in lines(session, "diff")[0]
        assert session.position.step == 3


def test_diff_of_two_jobs_names_the_first_instruction_that_differs(tmp_path: Path) -> None:
    jobs = []
    wrong = DIVERGENT.replace("MAD(r2.r, c0.g, c0.g)", "MAD(r2.r, c0.g, c0.b)")
    for name, source in (("one", DIVERGENT), ("other", wrong)):
        (tmp_path / name).mkdir()
        jobs.append(program(source, tmp_path / name))

    def opened(path: str) -> Session:
        return Session(jobs[1], config_of(jobs[1]))

    with Session(jobs[0], config_of(jobs[0])) as session:
        said: list[str] = []
        Console(session, said.append, opened).onecmd("diff other.toml")
        assert "MAD" in said[0] and "MAD" in said[1] and said[1].endswith("in other.toml")
        assert any(row.strip().startswith("r2.r") for row in said), said
        assert session.position.step == 4


@pytest.mark.long
def test_a_run_of_the_hardware_is_ended_from_another_thread() -> None:
    with session_of(example(JOB, 16, 4), engine="rtl") as session:
        session.cancellation.request()
        with pytest.raises(Cancelled):
            assert session.wavefront.cycle
        session.cancellation.clear()
        session.go_afresh(Position(0, 1, 2))
        assert session.wavefront.cycle


def test_an_engine_that_does_not_exist_is_named() -> None:
    with pytest.raises(DebugError, match="did you mean rtl"):
        session_of(example(JOB), engine="rtll")
