"""Cases that no recorded draw has, with results by hand; both engines leave the same bits."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.draws import PrimitiveType
from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.sim.golden.draw.topology import primitives_of
from ctm.sim.runtime import CommandBuffer
from ctm.sim.runtime.draws import Viewport
from ctm.tb.draws.scene import CLEAR, FLAT, PIXEL, SMOOTH, VERTEX, Scene, drawn, same_on_both

INF, NAN = float("inf"), float("nan")


def corner(x: float, y: float, z: float = 0.0, w: float = 1.0, value: float = 1.0) -> list[float]:
    return [x, y, z, w, value, value, value, 1.0]


WHOLE = [corner(-1, -1), corner(3, -1), corner(-1, 3)]
"""Covers all of the target."""
HALF = [corner(-1, -1), corner(1, -1), corner(-1, 1)]
"""Below the diagonal: row y of 32 has 31 - y whole pixels, and the diagonal's are on a right edge."""


def error_of(scene: Scene) -> MachineError:
    with pytest.raises(MachineError) as caught:
        drawn(scene)
    with pytest.raises(MachineError) as other:
        drawn(scene, "fast")
    assert str(other.value) == str(caught.value)
    return caught.value


def test_a_half_covers_what_is_left_of_its_diagonal() -> None:
    covered = same_on_both(Scene(vertices=HALF)).covered
    assert [int(row.sum()) for row in covered] == [31 - y for y in range(32)]


@pytest.mark.parametrize("bad", [corner(NAN, 0), corner(0, NAN), corner(0, 0, NAN), corner(0, 0, 0, NAN)])
def test_a_triangle_with_a_nan_is_not_drawn(bad: list[float]) -> None:
    found = same_on_both(Scene(vertices=[*HALF[:2], bad, *WHOLE]))
    assert (found.target == 1).all()
    assert not same_on_both(Scene(vertices=[*HALF[:2], bad])).covered.any()


@pytest.mark.parametrize("bad", [corner(INF, 0), corner(0, -INF), corner(0, 0, INF), corner(INF, INF, INF, INF)])
def test_a_triangle_with_an_infinite_coordinate_is_not_drawn(bad: list[float]) -> None:
    assert not same_on_both(Scene(vertices=[*HALF[:2], bad])).covered.any()


@pytest.mark.parametrize("w", [0.0, -0.0, -1.0, 1e-38])
def test_a_triangle_without_a_positive_w_is_not_drawn(w: float) -> None:
    assert not same_on_both(Scene(vertices=[corner(x, y, 0, w) for x, y in ((-1, -1), (1, -1), (-1, 1))])).covered.any()


def test_one_vertex_with_w_0_leaves_the_half_towards_it() -> None:
    # (0, 1, 0, 0) is infinitely far up: between x = -1 and 1 everything is covered.
    found = same_on_both(Scene(vertices=[corner(-1, -1), corner(1, -1), corner(0, 1, 0, 0)]))
    assert found.covered.all()


def test_degenerate_triangles_are_not_drawn() -> None:
    for shape in ([corner(0, 0)] * 3, [corner(-1, -1), corner(0, 0), corner(1, 1)], [*HALF[:2], HALF[0]]):
        assert not same_on_both(Scene(vertices=shape)).covered.any()


def test_a_triangle_smaller_than_a_pixel_covers_the_centre_that_it_has() -> None:
    # The centre of pixel (16, 16) is at 0.5 / 16 right of and above the middle.
    middle, reach = 0.5 / 16, 0.1 / 16
    around = [
        corner(middle - reach, middle - reach),
        corner(middle + 2 * reach, middle),
        corner(middle, middle + 2 * reach),
    ]
    assert np.argwhere(same_on_both(Scene(vertices=around)).covered).tolist() == [[16, 16]]
    beside = [corner(x - 0.4 / 16, y) for x, y, *_ in around]
    assert not same_on_both(Scene(vertices=beside)).covered.any()


def test_nothing_is_drawn_of_nothing() -> None:
    for changed in ({"count": 0}, {"count": 2}, {"draw": {"instances": 0}}, {"draw": {"discard": True}}):
        assert not same_on_both(Scene(vertices=WHOLE, **changed)).covered.any()


def test_an_index_beyond_the_buffer_reads_zeros() -> None:
    # Vertex 3 is not there: its position is (0, 0, 0, 0), whose w of 0 is clipped: what is left has no area.
    scene = Scene(vertices=HALF, indices=np.array([0, 1, 3], np.uint16))
    assert not same_on_both(scene).covered.any()
    # An element that is partly beyond the buffer is 0 in all channels.
    assert not same_on_both(Scene(vertices=HALF, size=2 * 32 + 15)).covered.any()
    assert same_on_both(Scene(vertices=HALF, size=2 * 32 + 16)).covered.any()


@pytest.mark.slow
def test_65535_indices_are_drawn() -> None:
    rows = np.tile(np.array([0, 1, 2], np.uint16), 21845)
    found = same_on_both(
        Scene(
            vertices=[corner(x, y, value=1.0) for x, y, *_ in HALF], indices=rows, width=8, height=8, draw={"add": True}
        )
    )
    assert rows.size == 65535
    # Nothing that is added 21,845 times to CLEAR is rounded.
    assert (found.target[found.covered] == CLEAR + 21845).any(axis=-1).all()
    assert found.covered.sum() == sum(range(8))


def test_a_base_vertex_may_be_negative_and_wraps() -> None:
    vertices = [*[corner(9, 9)] * 3, *WHOLE]
    high = np.array([5, 6, 7], np.uint32)
    assert same_on_both(Scene(vertices=vertices, indices=high, draw={"base_vertex": -2})).covered.all()
    last = np.array([0xFFFF_FFFF, 0, 1], np.uint32)
    assert same_on_both(Scene(vertices=vertices, indices=last, draw={"base_vertex": 4})).covered.all()


@pytest.mark.parametrize(
    "indices", [[9, 0, 1, 2], [0, 1, 2, 9], [9, 9, 0, 1, 2, 9, 9], [0, 1, 9, 0, 1, 2], [0, 9, 1, 9, 0, 1, 2, 9]]
)
def test_restarts_at_both_ends_and_in_a_row(indices: list[int]) -> None:
    scene = Scene(
        vertices=WHOLE, indices=np.array(indices, np.uint16), restart=9, draw={"primitive": "TRISTRIP", "add": True}
    )
    found = same_on_both(scene).target
    assert (found == CLEAR + 1).all()


def test_the_index_that_restarts_is_compared_before_the_base_vertex_is_added() -> None:
    vertices = [corner(9, 9), *WHOLE]
    scene = Scene(
        vertices=vertices,
        indices=np.array([0, 1, 2, 3], np.uint16),
        restart=3,
        draw={"primitive": "TRISTRIP", "base_vertex": 1},
    )
    assert same_on_both(scene).covered.all()


@pytest.mark.parametrize("clip", [(40, 0, 50, 31), (0, 32, 31, 40), (10, 10, 5, 20)])
def test_a_scissor_without_a_pixel_of_the_target_draws_nothing(clip: tuple[int, int, int, int]) -> None:
    assert not same_on_both(Scene(vertices=WHOLE, clip=clip)).covered.any()


def test_a_scissor_bounds_what_is_drawn() -> None:
    found = same_on_both(Scene(vertices=WHOLE, clip=(5, 7, 20, 9)))
    expected = np.zeros((32, 32), bool)
    expected[7:10, 5:21] = True
    assert (found.covered == expected).all()


def test_beyond_the_target_nothing_is_written() -> None:
    found = same_on_both(Scene(vertices=WHOLE, clip=(0, 0, 40, 40), draw={"viewport": Viewport.of(64, 64)}))
    assert found.covered.all()


def test_inputs_are_values_at_the_pixels_centre_also_outside_of_the_triangle() -> None:
    # The value is x in clip coordinates: at the centre of column i it is (i + 0.5) / 16 - 1, whatever is covered.
    vertices = [[x, y, 0, 1, x, y, 0, 1] for x, y, *_ in HALF]
    pixel = ".isa r700\n.stage ps\nGET_GRADIENTS_H R1, R0, t0\nMOV R0.zw, R1.xy\nEXPORT_DONE PIX0, R0\n"
    pixel = pixel.replace("MOV R0.zw, R1.xy\n", "MOV R0.z, R1.x\nMOV R0.w, R1.y\n")
    found = same_on_both(Scene(vertices=vertices, pixel=pixel))
    column = (np.arange(32, dtype=np.float32) + np.float32(0.5)) / 16 - 1
    rows, columns = np.nonzero(found.covered)
    assert np.allclose(found.target[rows, columns, 0], column[columns], atol=1e-6)
    # The difference to the neighbour in the quad is that of a column everywhere, on the diagonal too.
    assert np.allclose(found.target[rows, columns, 2], 1 / 16, atol=1e-6)


def test_flat_inputs_are_those_of_the_provoking_vertex() -> None:
    vertices = [corner(x, y, value=value) for x, y, value in ((-1, -1, 5), (3, -1, 6), (-1, 3, 7))]
    for provoking, value in (("last", 7), ("first", 5)):
        found = same_on_both(Scene(vertices=vertices, inputs=FLAT, draw={"provoking": provoking}))
        assert (found.target[..., :3] == value).all()


@pytest.mark.parametrize(("cull", "front", "drawn_there"), [
    ("none", "counterclockwise", True), ("front", "counterclockwise", False), ("back", "counterclockwise", True),
    ("front", "clockwise", True), ("back", "clockwise", False), ("both", "clockwise", False),
])  # fmt: skip
def test_faces_are_culled(cull: str, front: str, drawn_there: bool) -> None:
    # Rows grow downwards in memory: from (-1, -1) over (-1, 3) to (3, -1) is counter-clockwise there.
    scene = Scene(vertices=[WHOLE[0], WHOLE[2], WHOLE[1]], draw={"cull": cull, "front": front})
    assert same_on_both(scene).covered.all() == drawn_there


def test_points_are_half_open_squares() -> None:
    for size, count in ((1.0, 1), (2.0, 4), (3.0, 9), (0.0, 0)):
        scene = Scene(
            vertices=[corner(0, 0)], draw={"primitive": "POINTLIST", "point_size": size}, linked={"points": True}
        )
        assert same_on_both(scene).covered.sum() == count, size
    # The square of side 2 around (16, 16) has columns and rows 15 and 16.
    found = same_on_both(
        Scene(vertices=[corner(0, 0)], draw={"primitive": "POINTLIST", "point_size": 2.0}, linked={"points": True})
    )
    assert np.argwhere(found.covered).tolist() == [[15, 15], [15, 16], [16, 15], [16, 16]]


@pytest.mark.parametrize("size", [-1.0, NAN, 8191.9, 1e9])
def test_a_size_that_no_point_has_is_an_error(size: float) -> None:
    with pytest.raises(ValueError, match=r"a point's size is 0\.\.8191\.875 pixels, not "):
        CommandBuffer().set_raster(PrimitiveType.POINTLIST, point_size=size)


def test_points_outside_of_the_view_are_not_drawn() -> None:
    outside = [
        corner(1.01, 0),
        corner(0, -1.01),
        corner(0, 0, 1.01),
        corner(0, 0, -1.01),
        corner(NAN, 0),
        corner(0, 0, 0, -1),
    ]
    scene = Scene(vertices=outside, draw={"primitive": "POINTLIST", "point_size": 8.0}, linked={"points": True})
    assert not same_on_both(scene).covered.any()


@pytest.mark.parametrize(("near", "far", "z", "is_drawn"), [
    ("minus_w", True, -0.5, True), ("zero", True, -0.5, False), ("off", True, -5.0, True),
    ("minus_w", True, -1.5, False), ("minus_w", True, 1.5, False), ("minus_w", False, 1.5, True),
])  # fmt: skip
def test_the_planes_of_z(near: str, far: bool, z: float, is_drawn: bool) -> None:
    scene = Scene(vertices=[corner(x, y, z) for x, y, *_ in WHOLE], draw={"near": near, "far": far})
    assert same_on_both(scene).covered.all() == is_drawn


def test_depth_is_clamped_to_its_range() -> None:
    scene = Scene(
        vertices=[corner(x, y, 5.0) for x, y, *_ in WHOLE],
        depth=ConditionalTest.LESS_EQUAL,
        draw={"near": "off", "far": False, "viewport": replace(Viewport.of(32, 32), depth=(0.25, 0.75))},
    )
    assert (same_on_both(scene).depth == 0.75).all()


@pytest.mark.parametrize("test", [each for each in ConditionalTest if each is not ConditionalTest.NEVER])
def test_depth_is_tested_in_the_order_of_primitives(test: ConditionalTest) -> None:
    levels = [0.9, 0.3, 0.6, 0.3, 1.0, 0.1, 0.8, 0.1]
    compare: Callable[[np.float32, np.float32], bool] = dict[ConditionalTest, Any]({
        ConditionalTest.LESS: np.less, ConditionalTest.LESS_EQUAL: np.less_equal, ConditionalTest.EQUAL: np.equal,
        ConditionalTest.GREATER_EQUAL: np.greater_equal, ConditionalTest.GREATER: np.greater,
        ConditionalTest.NOT_EQUAL: np.not_equal, ConditionalTest.ALWAYS: lambda one, other: True,
    })[test]  # fmt: skip
    depth, colour = np.float32(1), CLEAR
    for level in levels:
        if compare(np.float32(level), depth):
            depth, colour = np.float32(level), np.float32(level)
    vertices = [corner(x, y, level, value=level) for level in levels for x, y, *_ in WHOLE]
    viewport = replace(Viewport.of(32, 32), z=(1.0, 0.0))
    found = same_on_both(Scene(vertices=vertices, depth=test, inputs=FLAT, draw={"viewport": viewport}))
    assert (found.depth == depth).all() and (found.target[..., 0] == colour).all()


def test_a_depth_that_is_no_number_passes_what_is_unequal_only() -> None:
    pixel = ".isa r700\n.stage ps\n.depth\nMOV R1.x, 0x7fffffff\nEXPORT DEPTH, R1.x\nEXPORT_DONE PIX0, R0\n"
    for test, passes in ((ConditionalTest.LESS, False), (ConditionalTest.NOT_EQUAL, True)):
        found = same_on_both(Scene(vertices=WHOLE, pixel=pixel, depth=test))
        assert found.covered.all() == passes and np.isnan(found.depth).all() == passes


def test_every_wavefront_size_draws_the_same() -> None:
    scene = Scene(vertices=[*WHOLE, *HALF], depth=ConditionalTest.LESS_EQUAL)
    first, *others = (drawn(scene, wavefront=size).target.tobytes() for size in (4, 16, 64))
    assert others == [first, first]


def test_vertices_are_shaded_once_and_with_the_first_instance_added_to_instance_data_only() -> None:
    vertex = VERTEX.replace(
        "FETCH R2, R0.x, b160 OFFSET(16)",
        """
        FETCH R2, R0.w, b160 OFFSET(16) FETCH_TYPE(INSTANCE_DATA)
        UINT_TO_FLT R3.x, R0.w
        MOV R2.y, R3.x""",
    )
    vertices = [[*point[:4], float(number), 0, 0, 1] for number, point in enumerate([*WHOLE, *WHOLE])]
    found = same_on_both(
        Scene(vertices=vertices, vertex=vertex, inputs=FLAT, count=3, draw={"instances": 2, "first_instance": 3})
    )
    # The last instance is number 1, its data that of 3 + 1.
    assert (found.target[..., 0] == 4).all() and (found.target[..., 1] == 1).all()
    # Three vertices of two instances take a wavefront; 32 x 32 pixels take 64 wavefronts in each instance.
    assert found.device.report().counters["groups"] == 1 + 2 * 64


def test_lines_are_assembled_and_not_drawn() -> None:
    for kind in ("LINELIST", "LINESTRIP", "LINELOOP", "LINELIST_ADJ"):
        found = error_of(Scene(vertices=[*HALF, *HALF], draw={"primitive": kind}))
        assert found.status is Status.BAD_DRAW and found.detail == f"{kind} is not drawn"
        assert found.word == 0xC0032400


def test_what_a_draw_needs_is_said() -> None:
    error = error_of(Scene(vertices=WHOLE, draw={"viewport": Viewport(x=(0.0, 0.0), y=(1.0, 0.0))}))
    assert error.status is Status.BAD_DRAW and "the viewport has no size" in error.detail


@pytest.mark.parametrize("kind", list(PrimitiveType))
def test_every_kind_is_drawn_or_unsupported_by_its_name(kind: PrimitiveType) -> None:
    scene = Scene(vertices=[*WHOLE, *WHOLE], inputs=SMOOTH, draw={"primitive": kind.name})
    if kind in (PrimitiveType.TRILIST, PrimitiveType.TRIFAN, PrimitiveType.TRISTRIP, PrimitiveType.TRILIST_ADJ,
                PrimitiveType.TRISTRIP_ADJ):  # fmt: skip
        same_on_both(scene)
    elif kind is PrimitiveType.POINTLIST:
        same_on_both(replace(scene, linked={"points": True}))
    else:
        assert kind.name in error_of(scene).detail


def test_a_strip_keeps_its_provoking_vertex_and_its_winding() -> None:
    for last in (True, False):
        found = primitives_of(PrimitiveType.TRISTRIP, np.array([6]), provoking_last=last)
        index = 2 if last else 0
        assert (found.corners[:, index] == found.provoking).all()
        # The sense of rotation is that of the strip in all of them.
        signs = {tuple(np.argsort(np.argsort(row))) in {(0, 1, 2), (1, 2, 0), (2, 0, 1)} for row in found.corners[::2]}
        assert signs == {True}


def test_a_watchdog_names_the_vertex_and_the_pixel() -> None:
    loop = "LOOP\nADD R3.x, R3.x, 1.0\nENDLOOP\n"
    with pytest.raises(MachineError) as caught:
        drawn(
            Scene(vertices=WHOLE, vertex=VERTEX.replace("EXPORT_DONE POS60", loop + "EXPORT_DONE POS60")), watchdog=99
        )
    assert caught.value.status is Status.WATCHDOG and "VS, vertex 0 of instance 0" in str(caught.value)
    scene = Scene(vertices=WHOLE, pixel=PIXEL.replace("EXPORT_DONE", loop + "EXPORT_DONE"))
    for engine in ("golden", "fast"):
        with pytest.raises(MachineError) as caught:
            drawn(scene, engine, watchdog=99)
        assert caught.value.status is Status.WATCHDOG
        assert "PS, strip of pixel (0, 0) of primitive 0" in str(caught.value)
