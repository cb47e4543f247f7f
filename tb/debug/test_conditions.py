"""What `why` says of a conditional test is what a run with another buffer, or another value, does."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import R700
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.session import Session
from ctm.sim.debug.walk import Position
from ctm.sim.debug.why import why
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import load_job
from ctm.tb.debug.jobs import config_of, example, program, session_of
from ctm.tb.draws.recorded import bits, make_job, run

WAVEFRONTS = replace(R700, array=R700.array.with_wavefront(16))
SOURCE = """
ALU r1.r = MUL(r0.r, c0.r)
ALU r2.r = MAD(r0.g, c0.g, 1.0)
OUT o0 = MOV(r2.r)
OUT w = MOV(r1.r)
"""
SECTION = """
[conditional]
location = "{location}"
test = "{test}"
file = "depth.npy"
shape = [4, 8]
format = "FLOAT32_1"
write = {write}
value = 1.25
"""
WIDTH, HEIGHT = 8, 4


def job_of(folder: Path, depth: np.ndarray, location: str, test: str, *, write: bool) -> Path:
    program(SOURCE, folder, width=WIDTH, height=HEIGHT)
    np.save(folder / "depth.npy", depth)
    path = folder / "job.toml"
    section = SECTION.format(location=location, test=test, write=str(write).lower())
    path.write_text(path.read_text().replace("[constants]", section + "[constants]", 1))
    return path


def output(path: Path) -> np.ndarray:
    job = load_job(path)
    found: np.ndarray = Execution(job, engine="golden", config=config_of(job), watchdog=0).run().outputs[0]
    return found


@pytest.mark.parametrize(("test", "write"), [("LESS", True), ("GREATER_EQUAL", False), ("NOT_EQUAL", False)])
def test_a_test_after_the_program_is_decided_by_what_is_said(test: str, write: bool, tmp_path: Path) -> None:
    depth = np.random.default_rng(3).choice(np.array([0, 0.5, 1, 1.5, 9, np.nan], np.float32), (HEIGHT, WIDTH))
    path = job_of(tmp_path, depth, "DPP", test, write=write)
    usual, fates = output(path), set()
    with session_of(load_job(path)) as session:
        for i, j in [(0, 0), (3, 1), (5, 2), (7, 3)]:
            explanation = why(session, f"o0[{i},{j}]")
            condition = explanation.condition
            assert condition is not None and condition.value == np.float32(i) / 2
            assert condition.element is not None
            assert condition.element == depth[j, i] or (np.isnan(condition.element) and np.isnan(depth[j, i]))
            fates.add(condition.passed)
            assert condition.passed == (", failed the test, is not stored" not in explanation.text)
            # What the program tests is among the targets, and so its operands are in the list.
            assert any(cell.array == "conditional" for cell in explanation.slice.targets) == condition.by_value
            differs = set()
            for other in np.array([-4, 0, 0.25, 1e9, np.nan, i / 2], np.float32):
                changed = depth.copy()
                changed[j, i] = other
                np.save(tmp_path / "depth.npy", changed)
                differs.add(output(path)[j, i].tobytes() != usual[j, i].tobytes())
            np.save(tmp_path / "depth.npy", depth)
            assert (True in differs) == condition.by_element
    assert fates == {True, False} or test == "NOT_EQUAL"


def test_what_a_test_wrote_itself_is_not_known_and_said_so(tmp_path: Path) -> None:
    path = job_of(tmp_path, np.full((HEIGHT, WIDTH), 2, np.float32), "PE", "LESS", write=True)
    with session_of(load_job(path)) as session:
        rows = list(why(session, "o0[3,1]").rows())
    by = "the set value = 1.25, the conditional buffer's (3, 1) = what the test wrote over"
    assert rows[1] == f"the pixel runs if the test LESS passes; it passes by {by}"


def test_a_test_in_front_of_the_program_is_named() -> None:
    with session_of(example("early_out/early_out", 128, 128)) as session:
        batch = session.wavefront.batch
        position = int(batch.i[session.lane]), int(batch.j[session.lane])
        rows = list(why(session, f"o0[{position[0]},{position[1]}]").rows())
    by = f"the set value = 1, the conditional buffer's {position} = 1"
    assert rows[1] == f"the pixel runs if the test EQUAL passes; it passes by {by}"


@pytest.mark.slow
def test_the_depth_of_a_pixel_is_that_of_the_fragment_in_front(tmp_path: Path) -> None:
    """The nearer primitive is told from the one that it hides, and its z is followed to the vertices."""
    path = make_job("cube_nocull_depth", "sfn", tmp_path)
    with Session(load_job(path), WAVEFRONTS) as session:
        session.go_to(Position(1, 0, 0))
        started = session.started
        last = int(np.flatnonzero(((started.i == 24) & (started.j == 24) & started.covered).any(axis=1))[-1])
        # Where it stands there already, what strips in front of it left is still to be stored.
        session.go_to(Position(1, last, 0))
        explanation = why(session, "o0[24,24]")
        session.go_on()
        assert session.result is not None and bits(session.result) == bits(run(path, "golden", 16))
    condition = explanation.condition
    assert condition is not None and condition.passed and condition.by_value and condition.by_element
    assert condition.element is not None and condition.value < condition.element
    assert "what the program leaves is stored if the test LESS" in list(explanation.rows())[1]
    shown = "\n".join(explanation.rows())
    assert "conditional = " in shown and "o64.z = " in shown


def test_what_the_conditional_buffer_gets_is_traced(tmp_path: Path) -> None:
    depth = np.random.default_rng(4).choice(np.array([0, 0.5, 1, 1.5, 9], np.float32), (HEIGHT, WIDTH))
    path = job_of(tmp_path, depth, "DPP", "LESS", write=True)
    job = load_job(path)
    stored = Execution(job, engine="golden", config=config_of(job), watchdog=0).run().outputs["conditional"]
    fates = set()
    with session_of(job) as session:
        for i, j in [(0, 0), (3, 1), (5, 2), (7, 3), (6, 3)]:
            explanation = why(session, f"conditional[{i},{j}]")
            (word,) = [word for cell, word in explanation.slice.targets.items() if cell.array == "conditional"]
            fails = explanation.text.endswith("failed the test, is not stored")
            assert fails == (stored[j, i, 0] == depth[j, i]) and explanation.lines == [("p.s", 2), ("p.s", 5)]
            assert fails or np.uint32(word).view(np.float32) == stored[j, i, 0]
            fates.add(fails)
        assert fates == {False, True} and session.position == Position(0, 0, 0)
    path = job_of(tmp_path, depth, "PE", "LESS", write=True)
    with session_of(load_job(path)) as session:
        with pytest.raises(DebugError, match="stores the set value, 1.25"):
            why(session, "conditional[7,3]")
    path = job_of(tmp_path, depth, "DPP", "LESS", write=False)
    with session_of(load_job(path)) as session, pytest.raises(DebugError, match="test of launch 0 stores nothing"):
        why(session, "conditional[7,3]")


@pytest.mark.slow
def test_the_depth_that_a_draw_stores_is_traced_to_its_vertices(tmp_path: Path) -> None:
    path = make_job("cube_nocull_depth", "sfn", tmp_path)
    stored = run(path, "golden", WAVEFRONTS.array.wavefront_lanes).outputs["conditional"]
    with Session(load_job(path), WAVEFRONTS) as session:
        session.go_to(Position(1, 0, 0))
        for i, j in ((24, 24),):
            explanation = why(session, f"conditional[{i},{j}]")
            (word,) = [word for cell, word in explanation.slice.targets.items() if cell.array == "conditional"]
            assert np.uint32(word).view(np.float32) == stored[j, i, 0] and explanation.before
