"""Clipping by hand: planes and their order, where an edge is cut, what is dropped at once, and fans."""

from collections.abc import Sequence

import numpy as np
import pytest

from ctm.sim.golden.draw import clipping
from ctm.sim.golden.draw.clipping import Polygons
from ctm.sim.golden.draw.state import Raster, Viewport

F = np.float32


def viewport(x: float = 16367.0, y: float = -2 * 16367.0) -> Viewport:
    return Viewport(scale=np.array([x, y, 1], F), offset=np.zeros(3, F))


def triangles(*corners: Sequence[tuple[float | np.float32, ...]]) -> Polygons:
    return Polygons.of_triangles(np.array(corners, F))


def cut(polygons: Polygons, *distances: Sequence[float | np.float32]) -> Polygons:
    # Of edges that are not cut, too, it computes where they are.
    with np.errstate(all="ignore"):
        return clipping.clip(polygons, np.array(distances, F))


def rows(values: np.ndarray, count: int) -> list[list[float]]:
    return values[:count].tolist()


FLAT = [(0, 0, 0, 1), (8, 0, 0, 1), (0, 8, 0, 1)]
E0, E1, E2 = [1, 0, 0], [0, 1, 0], [0, 0, 1]


def test_planes_have_their_order() -> None:
    position = np.array([3, 5, 7, 2], F)
    # Near z + w or z; far w - z; w; then x and y: 16,367 pixels are w of the first axis and half of that of the second.
    sides = [2 + 3, 2 - 3, 2 + 2 * 5, 2 - 2 * 5]
    for raster, first in (
        (Raster(), [9, -5]), (Raster(clip_zero=True), [7, -5]), (Raster(no_near=True), [-5]),
        (Raster(no_far=True), [9]), (Raster(clip_zero=True, no_near=True, no_far=True), []),
    ):  # fmt: skip
        found = [float(plane(position)) for plane in clipping.planes(raster, viewport())]
        assert found == [*first, 2 - 2.0**-100, *sides]
    # The plane of w is far below any w that is drawn.
    w = next(clipping.planes(Raster(no_near=True, no_far=True), viewport()))
    assert w(np.array([0, 0, 0, 2.0**-100], F)) == 0 and w(np.array([0, 0, 0, 2.0**-99], F)) == F(2.0**-100)


@pytest.mark.parametrize(("vertex", "beyond"), [
    ((-2.1, 0, 0, 2), True), ((2.1, 0, 0, 2), True), ((0, -2.1, 0, 2), True), ((0, 2.1, 0, 2), True),
    ((0, 0, -2.1, 2), True), ((0, 0, 2.1, 2), True), ((-2, -2, -2, 2), False), ((2, 2, 2, 2), False),
])  # fmt: skip
def test_a_triangle_beyond_one_plane_is_outside(vertex: tuple[float, ...], beyond: bool) -> None:
    assert clipping.outside(np.array([[vertex] * 3], F), Raster()).tolist() == [beyond]
    z = vertex[2] != 0 and beyond
    without = Raster(no_near=True, no_far=True)
    assert clipping.outside(np.array([[vertex] * 3], F), without).tolist() == [beyond and not z]
    # One corner inside, or beyond other planes, is enough to go on.
    other = (0, 0, 0, 2)
    assert clipping.outside(np.array([[vertex, vertex, other]], F), Raster()).tolist() == [False]


def test_a_near_plane_of_0_is_another_one() -> None:
    below = np.array([[(0, 0, -0.5, 2)] * 3, [(0, 0, 0, 2)] * 3, [(0, 0, 0.5, 2)] * 3], F)
    assert clipping.outside(below, Raster(clip_zero=True)).tolist() == [True, False, False]
    assert clipping.outside(below, Raster()).tolist() == [False, False, False]


def test_corners_beyond_different_planes_are_not_outside() -> None:
    split = np.array([[(-9, 0, 0, 2), (9, 0, 0, 2), (0, 9, 0, 2)]], F)
    assert clipping.outside(split, Raster()).tolist() == [False]


def test_a_corner_is_cut_off() -> None:
    found = cut(triangles(FLAT), [1, -1, 1])
    # Half of both edges at corner 1 is left: 0, (4, 0), (4, 4), 2.
    assert found.count.tolist() == [4] and found.source.tolist() == [0]
    assert rows(found.position[0], 4) == [[0, 0, 0, 1], [4, 0, 0, 1], [4, 4, 0, 1], [0, 8, 0, 1]]
    assert rows(found.weights[0], 4) == [E0, [0.5, 0.5, 0], [0, 0.5, 0.5], E2]


@pytest.mark.parametrize(("distances", "expected"), [
    ([-1, 1, -1], [[0.5, 0.5, 0], E1, [0, 0.5, 0.5]]), ([1, -1, -1], [E0, [0.5, 0.5, 0], [0.5, 0, 0.5]]),
    ([-1, -1, 1], [[0, 0.5, 0.5], E2, [0.5, 0, 0.5]]),
])  # fmt: skip
def test_two_corners_are_cut_off(distances: list[float], expected: list[list[float]]) -> None:
    found = cut(triangles(FLAT), distances)
    assert found.count.tolist() == [3] and rows(found.weights[0], 3) == expected


def test_a_corner_on_the_plane_is_inside() -> None:
    found = cut(triangles(FLAT), [0, 1, -1])
    assert found.count.tolist() == [4]
    # The cut between 2 and 0 is 0 itself; the order is that of the corners.
    assert rows(found.weights[0], 4) == [E0, E1, [0, 0.5, 0.5], E0]
    kept = cut(triangles(FLAT), [0, 0, 0])
    assert kept.count.tolist() == [3] and kept.position.tolist() == triangles(FLAT).position.tolist()


def test_what_is_cut_off_as_a_whole_is_dropped_and_the_others_keep_their_order() -> None:
    polygons = triangles(FLAT, FLAT, FLAT, FLAT)
    found = cut(polygons, [1, -1, 1], [1, 1, 1], [-1, -1, -1], [-1, 1, -1])
    assert found.source.tolist() == [0, 1, 3] and found.count.tolist() == [4, 3, 3]
    assert rows(found.weights[1], 3) == [E0, E1, E2]
    assert found.weights.shape == (3, 4, 3) and not found.weights[1:, 3].any() and not found.position[1:, 3].any()
    assert cut(triangles(FLAT), [-1, -1, -1]).count.tolist() == []


def test_a_polygon_is_cut_again() -> None:
    first = cut(triangles(FLAT, FLAT), [1, -1, 1], [1, 1, 1])
    # Of 0, (4, 0), (4, 4), 2 the last is cut: three quarters of the edge from it to 0 go, half of that from (4, 4).
    found = cut(first, [1, 1, 1, -1], [1, 1, -3, 9])
    assert found.count.tolist() == [5, 4]
    assert rows(found.position[0], 5) == [[0, 0, 0, 1], [4, 0, 0, 1], [4, 4, 0, 1], [2, 6, 0, 1], [0, 4, 0, 1]]
    # The second has three vertices: its fourth distance is of none.
    assert rows(found.position[1], 4) == [[0, 0, 0, 1], [8, 0, 0, 1], [6, 2, 0, 1], [0, 2, 0, 1]]


def test_a_distance_of_no_vertex_cuts_nothing() -> None:
    first = cut(triangles(FLAT, FLAT), [1, -1, 1], [1, 1, 1])
    found = cut(first, [1, 1, 1, 1], [1, 1, 1, -1])
    assert found is first


@pytest.mark.parametrize(("da", "db"), [(F(0.3), F(-1.9)), (F(0.3), F(-0.9))])
def test_an_edge_is_cut_from_its_inside_outwards_with_rounding(da: np.float32, db: np.float32) -> None:
    # t = da * (1 / (da - db)); new = a + t (b - a): whichever corner comes first, a is the one inside.
    inside, outside = F(1 / 3), F(10.7)
    t = da * (F(1) / (da - db))
    expected = inside + t * (outside - inside)
    back = db * (F(1) / (db - da))
    assert expected != outside + back * (inside - outside)
    cases: list[tuple[list[tuple[float | np.float32, ...]], list[float | np.float32], int]] = [
        ([(inside, 0, 0, 1), (outside, 0, 0, 1), (inside, 8, 0, 1)], [da, db, 1], 1),
        ([(outside, 0, 0, 1), (inside, 0, 0, 1), (inside, 8, 0, 1)], [db, da, 1], 0),
    ]
    for corners, distances, at in cases:
        found = cut(triangles(corners), distances)
        assert found.count.tolist() == [4] and found.position[0, at, 0] == expected
        assert found.weights[0, at].tolist() == ([F(1) - t, t, 0] if at else [F(0) + t, F(1) - t, 0])


def test_an_edge_from_a_corner_on_the_plane_is_cut_there() -> None:
    # 41 * (1 / 41) is not 1: from outside inwards the cut would miss the corner.
    assert F(41) * (F(1) / F(41)) != 1
    found = cut(triangles([(F(1 / 3), 0, 0, 1), (F(10.7), 0, 0, 1), (0, 8, 0, 1)]), [0, -41, 1])
    assert rows(found.position[0], 4)[:2] == [[F(1 / 3), 0, 0, 1]] * 2 and rows(found.weights[0], 2) == [E0, E0]


def test_polygons_of_any_size_are_joined() -> None:
    # The first has five vertices and is kept, the second becomes a triangle of its own three.
    five = cut(cut(triangles(FLAT, FLAT), [1, -1, 1], [1, 1, 1]), [1, 1, 1, -1], [1, 1, 1, 1])
    assert five.count.tolist() == [5, 3]
    found = cut(five, [1, 1, 1, 1, 1], [1, -1, -1, 0, 0])
    assert found.count.tolist() == [5, 3] and found.source.tolist() == [0, 1]
    assert rows(found.position[0], 5) == rows(five.position[0], 5)
    assert rows(found.weights[1], 3) == [E0, [0.5, 0.5, 0], [0.5, 0, 0.5]]


def test_polygons_become_fans_around_their_first_vertex() -> None:
    polygons = Polygons(np.zeros((3, 5, 4), F), np.zeros((3, 5, 3), F), np.array([3, 5, 4]), np.array([7, 8, 9]))
    owner, corners = clipping.fans(polygons)
    assert owner.tolist() == [0, 1, 1, 1, 2, 2]
    assert corners.tolist() == [[0, 1, 2], [0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 1, 2], [0, 2, 3]]


def test_a_polygon_keeps_its_first_28_vertices() -> None:
    # Of 20 vertices every second one is cut off: ten are left, each between the crossings on both sides.
    position = np.zeros((1, 20, 4), F)
    position[0, :, 0] = 4 * np.arange(20)
    found = cut(Polygons(position, np.zeros((1, 20, 3), F), np.array([20]), np.array([0])), [1, -1] * 10)
    whole = [x for vertex in range(0, 20, 2) for x in (4 * vertex, 4 * vertex + 2, 4 * vertex + 6)]
    assert len(whole) == 30 and found.count.tolist() == [28]
    assert found.position[0, :, 0].tolist() == whole[:28]
