"""Geometry programs, rings and streams, with results by hand."""

import numpy as np
import pytest

from ctm.rtl.isa.draws import Ring
from ctm.rtl.isa.r700.pipeline import OutputPrimitive
from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.tb.draws.geometry import POINT_TO_TRIANGLES, STREAMED, VERTEX_STREAM, point, scene
from ctm.tb.draws.scene import CLEAR, Scene, drawn, same_on_both


def streamed(points: list[list[float]], words: int = 400, **changed: object) -> list[list[float]]:
    """The positions that the copy program streams out, as far as they were written."""
    found = same_on_both(scene(points, program={"copy": STREAMED}, streams={0: (words, 4)}, **changed)).streams[0]
    rows = found[: words // 4 * 4].reshape(-1, 4)
    written = (rows != CLEAR).any(axis=1)
    assert not written[written.argmin() :].any() or written.all()
    return rows[written].tolist()


def corner(x: float, y: float, number: int) -> list[float]:
    step, up = np.float32(number) * np.float32(0.1), np.float32(8 * (number % 2)) * np.float32(0.05)
    return [float(step + np.float32(x)), float(up + np.float32(y)), 0.0, 1.0]


def test_a_cut_and_the_end_of_a_thread_end_strips() -> None:
    # 0 to 2 corners form nothing; 3 a triangle; 4 and 5 have left the vertices after the cut; 6 are two triangles.
    points = [point(0.0, 0.1 * n - 0.5, n) for n in range(7)]
    triangles = [(3, (0, 1, 2)), (4, (0, 1, 2)), (5, (0, 1, 2)), (6, (0, 1, 2)), (6, (3, 4, 5))]
    expected = [corner(0.0, 0.1 * n - 0.5, number) for n, numbers in triangles for number in numbers]
    assert streamed(points) == expected


def test_a_geometry_program_that_emits_nothing_draws_nothing() -> None:
    found = same_on_both(scene([point(0.0, 0.0, 0), point(0.2, 0.0, 0)], program={}))
    assert not found.covered.any()
    assert streamed([point(0.0, 0.0, 0)]) == []


@pytest.mark.slow
def test_vertices_beyond_the_most_are_lost_with_what_is_written_for_them() -> None:
    # Each of 6 is cut after the third: the most of 4 leaves one triangle and one vertex.
    points = [point(0.0, 0.0, 6), point(0.2, 0.0, 6)]
    program = {"copy": STREAMED, "most": 4}
    found = same_on_both(scene(points, program=program, streams={0: (400, 4)})).streams[0].reshape(-1, 4)
    expected = [corner(x, 0.0, number) for x in (0.0, 0.2) for number in range(3)]
    assert found[:6].tolist() == expected and (found[6:] == CLEAR).all()


def test_strips_reverse_every_other_triangle() -> None:
    program = {"copy": STREAMED, "program": POINT_TO_TRIANGLES.replace("CUT_VERTEX", "NOP")}
    found = same_on_both(scene([point(0.0, 0.0, 5)], program=program, streams={0: (400, 4)})).streams[0]
    order = [0, 1, 2, 2, 1, 3, 2, 3, 4]
    assert found[: 4 * len(order)].reshape(-1, 4).tolist() == [corner(0.0, 0.0, number) for number in order]
    assert (found[4 * len(order) :] == CLEAR).all()


def test_points_that_are_emitted_are_drawn() -> None:
    program = {"output": OutputPrimitive.POINTLIST}
    found = same_on_both(scene([point(0.0, 0.0, 3)], program=program, draw={"point_size": 1.0}))
    assert found.covered.sum() == 3


def test_lines_that_are_emitted_are_unsupported() -> None:
    with pytest.raises(MachineError) as caught:
        drawn(scene([point(0.0, 0.0, 3)], program={"output": OutputPrimitive.LINESTRIP}))
    assert caught.value.status is Status.BAD_DRAW and caught.value.detail == "LINESTRIP is not drawn"


@pytest.mark.parametrize("wavefront", [4, 16, 64])
def test_every_wavefront_size_emits_the_same(wavefront: int) -> None:
    points = [point(0.01 * n - 0.5, 0.02 * n - 0.9, n % 7) for n in range(90)]
    made = scene(points)
    assert drawn(made, wavefront=wavefront).target.tobytes() == drawn(made).target.tobytes()


@pytest.mark.parametrize(("ring", "dwords", "needed"), [(Ring.ES_GS, 127, 128), (Ring.GS_VS, 767, 768)])
def test_a_ring_that_is_too_small_for_a_wavefront_is_an_error(ring: Ring, dwords: int, needed: int) -> None:
    points = [point(0.0, 0.0, 3)] * 20
    with pytest.raises(MachineError) as caught:
        drawn(scene(points, rings={ring: dwords}))
    assert caught.value.status is Status.BAD_DRAW
    message = f"ring {ring.value} ({ring.name}) has {dwords} dwords, and a wavefront of items takes {needed}"
    assert caught.value.detail == message
    drawn(scene(points, rings={ring: needed}))


@pytest.mark.parametrize(("words", "written"), [(0, 0), (11, 0), (12, 12), (23, 12), (24, 24), (40, 24)])
def test_a_primitive_that_does_not_fit_into_a_stream_is_not_written(words: int, written: int) -> None:
    vertices = [[float(n), 0.5, 0.25, 1.0, 0, 0, 0, 1] for n in range(6)]
    made = Scene(vertices=vertices, vertex=VERTEX_STREAM, streams={0: (words, 4)} if words else {})
    found = same_on_both(made)
    if words:
        assert (found.streams[0][:written].reshape(-1, 4) == np.array(vertices)[: written // 4, :4]).all()
        assert (found.streams[0][written:] == CLEAR).all()


def test_a_primitive_has_to_fit_into_every_stream() -> None:
    both = VERTEX_STREAM.replace("EXPORT_DONE POS60", "MEM_STREAM1 R2.xyzw, [0] ELEM_SIZE(4)\nEXPORT_DONE POS60")
    vertices = [[float(n), 0.5, 0.25, 1.0, 5, 6, 7, 8] for n in range(6)]
    found = same_on_both(Scene(vertices=vertices, vertex=both, streams={0: (24, 4), 1: (23, 4)})).streams
    assert (found[0] != CLEAR).sum() == 12 and (found[1] != CLEAR).sum() == 12


def test_strips_are_streamed_out_as_triangles() -> None:
    vertices = [[float(n), 0.5, 0.25, 1.0, 0, 0, 0, 1] for n in range(5)]
    for provoking, order in (("last", [0, 1, 2, 2, 1, 3, 2, 3, 4]), ("first", [0, 1, 2, 1, 3, 2, 2, 3, 4])):
        draw = {"primitive": "TRISTRIP", "provoking": provoking}
        found = same_on_both(Scene(vertices=vertices, vertex=VERTEX_STREAM, streams={0: (36, 4)}, draw=draw))
        assert found.streams[0].reshape(-1, 4)[:, 0].tolist() == order


def test_what_is_discarded_is_streamed_out_all_the_same() -> None:
    vertices = [[float(n), 0.5, 0.25, 1.0, 0, 0, 0, 1] for n in range(3)]
    found = same_on_both(Scene(vertices=vertices, vertex=VERTEX_STREAM, streams={0: (12, 4)}, draw={"discard": True}))
    assert not found.covered.any() and (found.streams[0] != CLEAR).all()


def test_a_fault_of_a_geometry_program_names_the_primitive() -> None:
    endless = POINT_TO_TRIANGLES.replace("BREAK IF PRED_SETGE R4.x, R3.x", "BREAK IF PRED_SETE R3.x, 0")
    points = [point(0.0, 0.0, 0)] * 17 + [point(0.0, 0.0, 1)]
    with pytest.raises(MachineError) as caught:
        drawn(scene(points, program={"program": endless}), watchdog=500)
    assert caught.value.status is Status.WATCHDOG and "GS, primitive 16" in str(caught.value)
