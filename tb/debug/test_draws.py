"""Draws in a session: each program is a launch, and what they leave is what the draw leaves, forward and back."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.examples.catalogue import job as job_of
from ctm.rtl.config import R700
from ctm.sim.debug.console import Console
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.given_engine import Calls
from ctm.sim.debug.session import Session
from ctm.sim.debug.slicing.cell import Cell
from ctm.sim.debug.stopping.locations import stop_at, watch
from ctm.sim.debug.stopping.trials import storing_strips
from ctm.sim.debug.texts import Texts
from ctm.sim.debug.walk import Position
from ctm.sim.debug.why import why
from ctm.sim.golden.r700.draws.threads import ThreadLaunch
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime.device import Device
from ctm.tb.debug.slicing.draws import stages_of
from ctm.tb.debug.slicing.launches import choose_lane
from ctm.tb.debug.slicing.recomputation import items_of, targets_of, wrong
from ctm.tb.draws.geometry import point, scene
from ctm.tb.draws.recorded import NAMES, bits, cases, make_job, run
from ctm.tb.draws.scene import drawn_on

_ORDINARY = ("cube_indexed", "gs_pass", "depth_out")
_WAVEFRONT = 16


DRAWS = [name if name in _ORDINARY else pytest.param(name, marks=pytest.mark.long) for name, _ in cases(("sfn",))]


SLICED = [pytest.param(name, marks=pytest.mark.long) if name == "xfb_gs" else name for name in DRAWS]
"""gs_pass has a geometry and a copy program, too."""


def finished_twice(session: Session, wavefront: int, steps: int) -> None:
    """Finish a wavefront, go back and finish it again: every bit of its state is the same."""

    def state() -> dict[str, bytes]:
        batch = session.wavefront.batch
        return {name: getattr(batch, name).tobytes() for name in (*batch.LANE_ARRAYS, *batch.WAVEFRONT_ARRAYS)}

    session.go_to(session.position._replace(wavefront=wavefront, step=0))
    session.finish()
    finished = state()
    session.back(steps)
    session.finish()
    assert state() == finished


def session_of(path: Path) -> Session:
    return Session(load_job(path), replace(R700, array=R700.array.with_wavefront(_WAVEFRONT)))


def test_those_that_are_always_run_are_there() -> None:
    assert set(_ORDINARY) <= set(NAMES)


@pytest.mark.parametrize("name", DRAWS)
def test_steps_forward_and_back_leave_what_the_draw_leaves(name: str, tmp_path: Path) -> None:
    job = make_job(name, "sfn", tmp_path)
    random = np.random.default_rng(len(name))
    stages: list[str | None] = []
    with session_of(job) as session:
        while session.result is None:
            stages.append(session.started.launch.stage)
            last = len(session.started.order) - 1
            for _ in range(3):
                here = session.position.wavefront
                finished_twice(session, int(random.integers(here, last + 1)), int(random.choice([1, 5, 1000])))
            session.go_to(session.position._replace(wavefront=last, step=0))
            session.finish()
            session.step()
        assert bits(session.result) == bits(run(job, "golden", _WAVEFRONT))
    assert stages in (["VS", "PS"], ["ES", "GS", "DC", "PS"], ["VS"], ["ES", "GS", "DC"])


@pytest.mark.slow
@pytest.mark.parametrize("name", SLICED)
def test_slices_determine_what_the_programs_of_draws_leave(name: str, tmp_path: Path) -> None:
    traced = 0
    for number, started in enumerate(stages_of(load_job(make_job(name, "sfn", tmp_path)), _WAVEFRONT)):
        chosen = choose_lane(started, number + len(name))
        slicer, begin = chosen.slicer(), chosen.wavefront().batch.copy()
        targets = targets_of(slicer, chosen.lane)
        if not started.launch.program.outputs:
            # What it leaves goes into the ring.
            assert isinstance(started.launch, ThreadLaunch)
            targets = items_of(started.launch, slicer, chosen.lane)
        found = slicer.slice(targets)
        assert found.causes
        assert not wrong(started.launch, slicer.probe, begin, found, chosen.lane, number)
        if started.launch.stage in ("GS", "DC"):
            # One that lists nothing of the ring is found.
            poorer = replace(found, elements={})
            assert wrong(started.launch, slicer.probe, begin, poorer, chosen.lane, number)
        traced += 1
    assert traced


def vertices_that_matter(path: Path, pixel: tuple[int, int]) -> set[int]:
    """The vertices that make a difference to a pixel where each is moved alone."""
    file = path.parent / "cube_indexed_vertices0.npy"
    data = np.load(file)
    vertices = data.view(np.float32).reshape(-1, 4)

    def colour() -> bytes:
        return run(path, "golden", _WAVEFRONT).outputs[0][pixel[1], pixel[0]].tobytes()

    usual, found = colour(), set()
    for number in range(len(vertices)):
        moved = vertices.copy()
        moved[number, 0] += np.float32(1 / 64)
        np.save(file, moved.view(data.dtype).reshape(data.shape))
        if colour() != usual:
            found.add(number)
    np.save(file, data)
    return found


@pytest.mark.slow
def test_why_names_the_primitive_and_the_vertices_that_made_a_pixel(tmp_path: Path) -> None:
    path = make_job("cube_indexed", "sfn", tmp_path)
    with session_of(path) as session:
        session.go_to(Position(1, 0, 0))
        explanation = why(session, "o0[24,24]")
        text = "\n".join(explanation.rows())
        assert session.position == Position(1, 0, 0)
    named = {int(phrase.split()[1].rstrip("),")) for phrase in text.split("(")[1:] if phrase.startswith("vertex")}
    assert "(24, 24) of primitive 2 (vertex 4, vertex 5, vertex 6)" in text
    assert vertices_that_matter(path, (24, 24)) == named == {4, 5, 6}


def dwords_that_matter(path: Path, name: str, pixel: tuple[int, int]) -> set[str]:
    """The dwords of vertex buffers that make a difference to a pixel where each is moved alone, a little or far."""
    usual, found = run(path, "golden", _WAVEFRONT).outputs[0][pixel[1], pixel[0]].tobytes(), set()
    for number, file in enumerate(sorted(path.parent.glob(f"{name}_vertices*.npy"))):
        data = np.load(file)
        for dword in range(data.nbytes // 4):
            for step in (1 / 64, -(2.0**20)):
                moved = data.copy()
                moved.view(np.float32).reshape(-1)[dword] += np.float32(step)
                np.save(file, moved)
                if run(path, "golden", _WAVEFRONT).outputs[0][pixel[1], pixel[0]].tobytes() != usual:
                    found.add(f"{number}, {4 * dword}")
                    break
        np.save(file, data)
    return found


@pytest.mark.parametrize(("name", "pixel", "stride"), [pytest.param("gs_pass", (25, 12), 16, marks=pytest.mark.long)])
def test_a_pixel_after_a_geometry_program_is_explained_to_the_vertex_buffers(
    name: str, pixel: tuple[int, int], stride: int, tmp_path: Path
) -> None:
    path = make_job(name, "sfn", tmp_path)
    with session_of(path) as session:
        session.go_to(Position(3, 0, 0))
        explanation = why(session, f"o0[{pixel[0]},{pixel[1]}]")
        assert session.position == Position(3, 0, 0)
        ended = session.go_on()
        assert ended.reason == "finished" and session.result is not None
        assert bits(session.result) == bits(run(path, "golden", _WAVEFRONT))
    stages = [each.text.split("(")[1].split()[0] for each in explanation.before]
    assert stages == ["DC"] * 3 + ["GS"] + ["ES"] * 3
    text = "\n".join(row for row in explanation.rows() if row.startswith("inputs and memory: "))
    named = re.findall(r"vertex buffer (\d+) \(element (\d+), byte (\d+)\)", text)
    found = {f"{buffer}, {int(element) * stride + int(byte)}" for buffer, element, byte in named}
    assert found == dwords_that_matter(path, name, pixel)


@pytest.mark.slow
def test_why_in_a_geometry_program_goes_back_through_its_ring(tmp_path: Path) -> None:
    with session_of(make_job("gs_variable", "sfn", tmp_path)) as session:
        session.go_to(Position(1, 0, 0))
        session.select(4, 0)
        session.finish()
        launch = session.started.launch
        assert isinstance(launch, ThreadLaunch) and launch.emits is not None
        emitted, ring = launch.emits.count.copy(), launch.written.copy()
        text = "\n".join(why(session, "R1.x").rows()) + "\n".join(why(session, "R2.x").rows())
        assert np.array_equal(launch.emits.count, emitted)
        assert np.array_equal(launch.written, ring)
    assert "ring dword 4 of vertex 4 = 4" in text
    assert "launch 0 (ES of draw 0), vertex 4: ring dword 4 of vertex 4 = 4" in text
    assert "vertex buffer 1 (element 4, byte 0) = 4" in text


@pytest.mark.long
def test_why_takes_the_last_fragment_that_is_stored(tmp_path: Path) -> None:
    """After a nearer primitive later ones fail the test, and are not named."""
    path = make_job("cube_nocull_depth", "sfn", tmp_path)
    expected = run(path, "golden", _WAVEFRONT).outputs[0]
    with session_of(path) as session:
        session.go_to(Position(1, 0, 0))
        covered = np.argwhere((expected != np.float32(-777)).any(axis=-1))
        for j, i in covered[:: max(1, len(covered) // 6)].tolist():
            found = why(session, f"o0[{i},{j}]", follows=False).slice.targets
            stored = [word for cell, word in found.items() if cell.array == "outputs"]
            assert np.array(stored, np.uint32).tobytes() == expected[j, i].tobytes()


def test_threads_of_stages_have_names_and_break(tmp_path: Path) -> None:
    with session_of(make_job("gs_pass", "sfn", tmp_path)) as session:
        texts = Texts(session)
        assert "launch 0 (ES of draw 0)" in texts.where() and "vertex 0" in texts.where()
        for name in ("", "o0"):
            console = Console(session, lambda _: None)
            console.execute(f"image {name}")
            assert console.error == "ES has no image: the targets of a draw are those of its PS"
        session.go_to(Position(1, 0, 0))
        assert "GS" in texts.where() and "primitive 0" in texts.where()
        with pytest.raises(DebugError, match=r"\(GS of draw 0\) has the threads \(0, 0\) to \(\d+, 0\), not \(0, 1\)"):
            session.select(0, 1)
        stop_at(session, "(0, 0)")
        assert session.go_on().reason == "breakpoint"
        assert "launch 2 (DC of draw 0)" in texts.where() and "that primitive 0 emitted" in texts.where()
        session.remove_stop(1)
        assert session.go_on().reason == "finished"


@pytest.mark.slow
def test_what_was_set_by_hand_in_a_strip_counts(tmp_path: Path) -> None:
    with session_of(make_job("cube_indexed", "sfn", tmp_path)) as session:
        session.go_to(Position(1, 0, 0))
        pixel = "o0[24,24]"
        why(session, pixel)
        index = next(n for n in range(len(session.started.order)) if session.started.holds(24, 24) == n)
        session.go_to(Position(1, index, 17))
        session.select(24, 24)
        session.set("R4", "x", 0x3F000000)
        session.set("R5", "x", 0)
        targets = why(session, pixel).slice.targets
        assert targets[Cell("outputs", (0, 0), session.lane)] == 0x3F000000
        assert session.position == Position(1, index, 17)


def test_outputs_of_a_draw_are_those_of_its_ps_and_stored_after_it(tmp_path: Path) -> None:
    with session_of(make_job("cube_indexed", "sfn", tmp_path)) as session:
        for text in ("o0[1,1]", "o64[0,0]", "o64[0,0].x"):
            with pytest.raises(DebugError, match="VS stores no output: the targets of a draw are those of its PS"):
                why(session, text)
        with pytest.raises(DebugError, match="VS stores no output"):
            watch(session, "o64[0,0]")
        session.lane = 8
        assert "no thread" in Texts(session).where(), "there are eight vertices"
        session.go_to(Position(1, 0, 0))
        with pytest.raises(DebugError, match=r"`break \(24, 24\) if` takes conditions"):
            watch(session, "o0[24,24] if R0.x > 1")


def test_a_pixel_is_watched_at_the_fragments_that_store_it(tmp_path: Path) -> None:
    path = make_job("cube_nocull_depth", "sfn", tmp_path)
    with session_of(path) as session:
        session.go_to(Position(1, 0, 0))
        started = session.started
        stored: dict[tuple[Any, int], tuple[int, int]] = {}
        for pixel in ((24, 24), (20, 12), (33, 30)):
            orders = storing_strips(started, 0, pixel, session.cancellation)
            covering = ((started.i == pixel[0]) & (started.j == pixel[1]) & started.covered).any(axis=1).sum()
            assert 0 < len(orders) <= covering
            stop = watch(session, f"o0[{pixel[0]},{pixel[1]}]")
            stored |= {(session.started.index(order), stop.number): pixel for order in orders}
        stops, here = [], None
        while session.go_on().reason == "breakpoint":
            assert session.wavefront.has_ended
            batch, here = session.wavefront.batch, session.position
            pixel = int(batch.i[session.lane]), int(batch.j[session.lane])
            stops.append((here.wavefront, pixel))
        assert stops == sorted((index, pixel) for (index, _), pixel in stored.items())
        assert session.result is not None and bits(session.result) == bits(run(path, "golden", _WAVEFRONT))
        session.go_to(Position(1, len(started.order) - 1, 0))
        back = []
        while session.back_on().stop is not None:
            assert session.wavefront.has_ended
            back.append(session.position.wavefront)
        assert back == [index for index, _ in reversed(stops)]


def test_a_pixel_stops_from_the_vertex_program_on(tmp_path: Path) -> None:
    with session_of(make_job("cube_indexed", "sfn", tmp_path)) as session:
        stop_at(session, "(24, 24)")
        with pytest.raises(DebugError, match=r"\(VS of draw 0\) has the threads"):
            stop_at(session, "(24, 2400)")
        assert session.go_on().reason == "breakpoint"
        assert session.started.launch.stage == "PS" and session.position.step == 0
        batch = session.wavefront.batch
        assert (batch.i[session.lane], batch.j[session.lane]) == (24, 24)


def test_constants_that_why_names_are_printed(tmp_path: Path) -> None:
    with session_of(make_job("cube_indexed", "sfn", tmp_path)) as session:
        with pytest.raises(DebugError, match="a draw's pixel program has constants of its primitive"):
            session.value("CB1[0].x")
        session.go_to(Position(1, 0, 0))
        found = why(session, "o0[24,24]", follows=False).slice.constants
        session.select(24, 24)
        names = [cell for cell in found if cell.array == "primitive"]
        assert names
        for cell in names:
            bank, row, channel = cell.index
            value = session.value(f"CB{bank}[{row}].{'xyzw'[channel]}")
            assert value.words[0][session.lane] == found[cell]
        assert session.value("CB0[3].w").words[0][0] == session.value("C3.w").words[0][0]
        assert session.value("CB4[0].x > 0").all()
        for text in ("CB6[0].x", "CB0[999]", "R1[0]"):
            with pytest.raises(DebugError, match=f"there is no {text[:2]}"):
                session.value(text)


def test_primitives_are_numbered_in_their_instance(tmp_path: Path) -> None:
    with session_of(make_job("gs_instances", "sfn", tmp_path)) as session:
        session.go_to(Position(1, 0, 0))
        numbers = session.value("R0.z").words[0]
        for lane in np.flatnonzero(session.wavefront.batch.covered).tolist():
            session.lane = lane
            assert f" primitive {numbers[lane]} " in Texts(session).where()


def test_a_program_without_threads_is_no_launch() -> None:
    """A geometry program that emits nothing leaves nothing to the copy program."""
    made = scene([point(0.0, 0.0, 0)])
    stages = []
    with Session(Calls(Device(config=R700), lambda own: drawn_on(made, own)), R700) as session:
        while session.result is None:
            stages.append(session.started.launch.stage)
            session.finish()
            session.step()
    assert stages == ["ES", "GS"]


def test_instructions_without_a_source_line_say_what_they_are() -> None:
    with Session(load_job(job_of("r700/torus")), R700) as session:
        session.go_to(Position(1, 0, 3))
        label = "(prologue: inputs of the pixel program)"
        first, _ = Texts(session).here().splitlines()
        assert session.line is None and first == label
        assert f"step 1  {label}" in why(session, "R2.x").rows()
        session.step_line()
        assert session.line is not None and session.code.label(session.unit) == ""
        assert "torus_ps.s:" in Texts(session).here()
