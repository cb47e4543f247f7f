"""Set-up by hand: window coordinates, facing, edges, ties, bounds and the record of triangles and points."""

from typing import Any

import numpy as np
import pytest

from ctm.sim.golden.draw import setup
from ctm.sim.golden.draw.setup import Shapes, Vertices
from ctm.sim.golden.draw.state import Raster, Viewport

F = np.float32
NAN = float("nan")
# The middle of the view is the centre of pixel (16, 8); z becomes 2 z + 1.
VIEWPORT = Viewport(scale=np.array([16, 8, 2], F), offset=np.array([16.5, 8.5, 1], F))


def vertices(*rows: tuple[float, ...], size: float = 1.0, distances: dict[int, list[float]] | None = None) -> Vertices:
    """Vertices of clip coordinates; `distances` by plane."""
    beside = np.zeros((len(rows), 8), F)
    for plane, values in (distances or {}).items():
        beside[:, plane] = values
    return Vertices(position=np.array(rows, F), distances=beside, size=np.full(len(rows), size, F))


def triangles(
    given: Vertices, *corners: list[int], raster: Raster | None = None, clip: int = 0, cull: int = 0,
    viewport: Viewport = VIEWPORT, provoking: int = 2,
) -> Shapes:  # fmt: skip
    rows = np.array(corners or [list(range(3))])
    with np.errstate(all="ignore"):
        return setup.triangles(
            given, rows, rows[:, provoking], 40 + np.arange(len(rows)), raster=raster or Raster(), viewport=viewport,
            clip_distances=clip, cull_distances=cull,
        )  # fmt: skip


def points(given: Vertices, *corners: int, raster: Raster | None = None, viewport: Viewport = VIEWPORT) -> Shapes:
    rows = np.array(corners or [0])
    with np.errstate(all="ignore"):
        return setup.points(given, rows, 40 + np.arange(len(rows)), raster=raster or Raster(), viewport=viewport)


# Pixel centres (16, 8), (20, 8), (16, 12): clockwise where rows grow downwards.
CLOCKWISE = vertices((0, 0, 0, 1), (0.25, 0, 0.25, 1), (0, 0.5, -0.25, 1))


def test_the_edges_of_a_triangle_are_those_of_the_contract() -> None:
    found = triangles(CLOCKWISE)
    # E = dx (256 y - Y) - dy (256 x - X) in 1/256 pixel: (4, 0), (0, 4) and (-4, 4) pixels are the edges.
    x0, y0, side = 16 * 256, 8 * 256, 4 * 256
    assert found.edges[0].tolist() == [
        [-side * 256, -side * 256, side * (x0 + side) + side * y0],
        [side * 256, 0, -side * x0],
        [0, side * 256, -side * y0],
    ]
    # Right and upper edges of the triangle take no pixel on them, the left (dy < 0) and the lower (dx > 0) do.
    assert found.ties.tolist() == [[False, True, True]]
    assert found.bounds.tolist() == [[16, 20, 8, 12]]
    assert found.count == 1 and found.primitive.tolist() == [0] and found.corners.tolist() == [[0, 1, 2]]
    assert found.provoking.tolist() == [2]


def test_the_record_of_a_triangle() -> None:
    given = vertices((0, 0, 0, 1), (0.5, 0, 0.5, 2), (0, 2, -1, 4))
    record = triangles(given, [0, 1, 2]).record[0]
    area = F(1) / F(1024 * 1024)
    # w is 1, 2, 4; z is 1, 1.5 and 0.5.
    assert record[0].tolist() == [area, 1, 0.5, 0.25]
    assert record[1].tolist() == [-0.5, -0.75, 1, 0.5]
    # Clockwise is the back; the number is an integer's bits; nothing was clipped.
    assert record[2, :2].tolist() == [-0.5, -1] and record[2].view(np.uint32)[2] == 40 and record[2, 3] == 0
    assert record[3:6].tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    assert record[6].tolist() == [1, 2, 4, 0] and record.shape == (7, 4)


def test_a_triangle_with_the_other_winding_has_the_same_pixels() -> None:
    found = triangles(CLOCKWISE, [0, 2, 1])
    one = triangles(CLOCKWISE)
    assert found.edges[0].tolist() == [one.edges[0, vertex].tolist() for vertex in (0, 2, 1)]
    assert found.ties[0].tolist() == [one.ties[0, vertex] for vertex in (0, 2, 1)]
    assert found.bounds.tolist() == one.bounds.tolist()
    assert found.record[0, 2, 1] == 1 and found.record[0, 0, 0] == one.record[0, 0, 0] > 0
    assert triangles(CLOCKWISE, [0, 2, 1], raster=Raster(front_clockwise=True)).record[0, 2, 1] == -1


@pytest.mark.parametrize(("raster", "kept"), [
    (Raster(), [0, 1]), (Raster(cull_back=True), [1]), (Raster(cull_front=True), [0]),
    (Raster(cull_front=True, cull_back=True), []), (Raster(front_clockwise=True, cull_back=True), [0]),
    (Raster(front_clockwise=True, cull_front=True), [1]),
])  # fmt: skip
def test_faces_are_culled(raster: Raster, kept: list[int]) -> None:
    found = triangles(CLOCKWISE, [0, 1, 2], [0, 2, 1], raster=raster)
    assert found.primitive.tolist() == kept and found.count == len(kept)
    assert found.record[:, 2, 2].view(np.uint32).tolist() == [40 + number for number in kept]


def test_coordinates_are_snapped_to_256ths_and_halves_to_even() -> None:
    # x of 0.5 and 1.5, y of 2.5 and -0.5 in 1/256 pixel beside the centre, and w of 2.
    step = 1 / 256 / 16
    given = vertices((0.5 * step, 0, 0, 1), (3 * step, 5 * 2 * step, 0, 2), (0.25, -0.5 * 2 * step, 0, 1))
    found = triangles(given)
    x, y = [4096, 4098, 4096 + 1024], [2048, 2050, 2048]
    constants = [
        (y[b] - y[a]) * x[a] - (x[b] - x[a]) * y[a] for a, b in ((1, 2), (2, 0), (0, 1))
    ]  # fmt: skip
    area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])
    assert area == -2048
    assert found.edges[0, :, 2].tolist() == [-constant for constant in constants]
    assert found.record[0, 0, 0] == F(1) / F(2048)


@pytest.mark.parametrize(("low", "high", "bounds"), [
    ((0, 0), (0, 0), [16, 20, 8, 12]), ((1, 1), (-1, -1), [17, 19, 9, 11]), ((-1, -1), (1, 1), [16, 20, 8, 12]),
    ((256, 0), (-256, 0), [17, 19, 8, 12]),
])  # fmt: skip
def test_bounds_are_the_centres_inside(low: tuple[int, int], high: tuple[int, int], bounds: list[int]) -> None:
    x = [(step / 256) / 16 for step in (low[0], 1024 + high[0])]
    y = [(step / 256) / 8 for step in (low[1], 1024 + high[1])]
    given = vertices((x[0], y[0], 0, 1), (x[1], y[0], 0, 1), (x[0], y[1], 0, 1))
    assert triangles(given).bounds.tolist() == [bounds]


def test_ties_are_those_of_left_and_lower_edges() -> None:
    # A square of two triangles, the diagonal on the right of one and on the left of the other.
    square = vertices((0, 0, 0, 1), (0.25, 0, 0, 1), (0, 0.5, 0, 1), (0.25, 0.5, 0, 1))
    found = triangles(square, [0, 1, 2], [1, 3, 2])
    # Opposite of each vertex: diagonal, left, lower; upper, diagonal, right.
    assert found.ties.tolist() == [[False, True, True], [False, True, False]]


def window(x: float, y: float) -> tuple[float, float, float, float]:
    """A vertex at x, y in 1/256 pixel beside the centre of pixel (16, 8)."""
    return (x / 256 / 16, y / 256 / 8, 0, 1)


def test_the_smallest_triangles_are_drawn_and_have_a_face() -> None:
    # Half a square of 1/256 pixel: the area is 1 and -1.
    given = vertices(window(0, 0), window(1, 0), window(0, 1))
    assert triangles(given, raster=Raster(cull_front=True)).record[0, :3:2, :2].tolist() == [[1, 1], [0, -1]]
    turned = triangles(given, [0, 2, 1], raster=Raster(cull_back=True))
    assert turned.record[0, :3:2, :2].tolist() == [[1, 1], [0, 1]]
    assert triangles(given, raster=Raster(cull_back=True)).count == 0
    assert triangles(given, [0, 2, 1], raster=Raster(cull_front=True)).count == 0


def test_an_edge_of_one_256th_is_a_tie_like_any_other() -> None:
    # dy is -1 from the first corner to the second, and -999 from the last to the first.
    found = triangles(vertices(window(0, 1), window(1000, 0), window(0, 1000)))
    assert found.ties.tolist() == [[False, True, True]]
    # With dy = 0, dx is 1 of a lower edge, the third one, and -1 of an upper one, the second.
    assert triangles(vertices(window(0, 0), window(1, 0), window(0, 1000))).ties.tolist() == [[False, True, True]]
    assert not triangles(vertices(window(0, 0), window(1, -1000), window(1, 0))).ties[0, 1]


def test_z_may_be_infinite_and_x_and_y_may_not() -> None:
    off = Raster(no_near=True, no_far=True)
    deep = Viewport(scale=np.array([16, 8, np.inf], F), offset=np.array([16.5, 8.5, 0], F))
    given = vertices((0, 0, 1, 1), (0.25, 0, 1, 1), (0, 0.5, 1, 1))
    found = triangles(given, raster=off, viewport=deep)
    assert found.count == 1 and np.isinf(found.record[0, 1, 2])
    assert points(given, 0, viewport=deep).count == 1
    for axis in (0, 1):
        offset = np.array([16.5, 8.5, 0], F)
        offset[axis] = np.inf
        away = Viewport(scale=np.array([16, 8, 2], F), offset=offset)
        assert triangles(given, raster=off, viewport=away).count == 0
        assert points(given, 0, viewport=away).count == 0


@pytest.mark.parametrize("bad", [
    (NAN, 0, 0, 1), (0, NAN, 0, 1), (0, 0, NAN, 1), (0, 0, 0, NAN), (float("inf"), 0, 0, 1), (-3, 0, 0, -1),
])  # fmt: skip
def test_one_bad_triangle_takes_no_other_with_it(bad: tuple[float, ...]) -> None:
    given = vertices((0, 0, 0, 1), (0.25, 0, 0, 1), (0, 0.5, 0, 1), bad)
    found = triangles(given, [0, 1, 3], [0, 1, 2], [3, 1, 2], [0, 1, 1], raster=Raster(no_near=True, no_far=True))
    assert 1 in found.primitive.tolist()
    if bad[3] == 1 or np.isnan(bad[3]):
        assert found.primitive.tolist() == [1]
    at = found.primitive.tolist().index(1)
    assert found.corners[at].tolist() == [0, 1, 2] and found.provoking[at] == 2
    assert found.record[at, 2, 2].view(np.uint32) == 41


def test_a_triangle_outside_of_the_view_is_dropped() -> None:
    # (1.1, 1.2, 1.3) is within the guard band: it would be drawn where the scissor reaches beyond the viewport.
    outside = vertices((1.1, 0, 0, 1), (1.2, 0, 0, 1), (1.3, 0.5, 0, 1))
    assert triangles(outside).count == 0


@pytest.mark.parametrize("plane", range(8))
def test_a_negative_cull_distance_of_all_corners_drops_a_triangle(plane: int) -> None:
    rows = ((0, 0, 0, 1), (0.25, 0, 0, 1), (0, 0.5, 0, 1), (0.25, 0.5, 0, 1))
    corners = [0, 1, 2], [1, 3, 2]
    # The second triangle has one corner on the plane.
    given = vertices(*rows, distances={plane: [-1, -0.5, -2, 0]})
    assert triangles(given, *corners, cull=1 << plane).primitive.tolist() == [1]
    assert triangles(given, *corners, cull=0xFF ^ 1 << plane).primitive.tolist() == [0, 1]
    assert triangles(given, *corners).primitive.tolist() == [0, 1]
    # Corners that are outside of different planes do not drop it.
    split = vertices(*rows, distances={plane: [-1, 1, 1, 1], (plane + 1) % 8: [1, -1, -1, 1]})
    assert triangles(split, *corners, cull=0xFF).primitive.tolist() == [0, 1]


@pytest.mark.parametrize("plane", range(8))
def test_a_clip_distance_cuts_a_triangle(plane: int) -> None:
    rows = ((0, 0, 0, 1), (0.25, 0, 0, 1), (0, 0.5, 0, 1), (0, 0, 0, -1))
    given = vertices(*rows, distances={plane: [1, -1, 1, 1]})
    # A triangle in front of it is dropped; the triangles of the other one have its numbers, corners and weights.
    found = triangles(given, [3, 3, 3], [0, 1, 2], clip=1 << plane, raster=Raster(front_clockwise=True))
    assert found.primitive.tolist() == [1, 1] and found.corners.tolist() == [[0, 1, 2]] * 2
    assert found.provoking.tolist() == [2, 2] and found.record[:, 2, 2].view(np.uint32).tolist() == [41, 41]
    assert found.record[:, 2, 3].tolist() == [1, 1] and found.record[:, 2, 1].tolist() == [1, 1]
    assert found.record[0, 3:6, :3].tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]]
    assert found.record[1, 3:6, :3].tolist() == [[1, 0, 0], [0, 0.5, 0.5], [0, 0, 1]]
    assert found.record[:, 6, :3].tolist() == [[1, 1, 1]] * 2
    assert found.bounds.tolist() == [[16, 18, 8, 10], [16, 18, 8, 12]]
    assert triangles(given, clip=0xFF ^ 1 << plane).count == 1


def test_distances_are_weighted_in_clipped_triangles() -> None:
    given = vertices((0, 0, 0, 1), (0.25, 0, 0, 1), (0, 0.5, 0, 1), distances={0: [1, -1, 1], 5: [-1, 3, 3]})
    # Cut by plane 0 corner 1 is gone; there plane 5 is -1, 1, 3, 3: corner 0 is cut off at a half and a quarter.
    found = triangles(given, clip=1 | 1 << 5)
    weights = found.record[:, 3:6, :3].tolist()
    assert weights[0] == [[0.75, 0.25, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]]
    assert weights[1] == [[0.75, 0.25, 0], [0, 0.5, 0.5], [0, 0, 1]]
    assert weights[2] == [[0.75, 0.25, 0], [0, 0, 1], [0.75, 0, 0.25]]


def test_planes_cut_before_clip_distances_do() -> None:
    # Corner 0 is beyond near, whose distances are -2, 4 and 1, and corner 1 beyond clip distance 0.
    given = vertices((0, 0, -3, 1), (0.25, 0, 3, 1), (0, 0.5, 0, 1), distances={0: [1, -1, 1]})
    found = triangles(given, clip=1, raster=Raster(no_far=True))
    # Near leaves (0 to 1), 1, 2, (2 to 0) of the edges; distance 0 is a third, -1, 1, 1 there.
    t = F(4) * (F(1) / (F(4) + F(2)))
    assert found.record[0, 3, :3].tolist() == [t, F(1) - t, 0]
    assert found.count == 3 and (found.record[:, 3, :3] == found.record[0, 3, :3]).all()
    third = F(1) * (F(1) / F(3))
    assert found.record[2, 5, :3].tolist() == [third, 0, F(1) - third]


def test_a_point_is_a_square_around_its_snapped_centre() -> None:
    # Sides of 3 pixels: half a side is 384 in 1/256.
    given = vertices((0, 0, 0.25, 1), (0.25, 0.5, -0.5, 2), size=3.0)
    found = points(given, 1, 0)
    assert found.bounds.tolist() == [[17, 19, 9, 11], [15, 17, 7, 9]]
    assert found.record[:, 0, :3].tolist() == [
        [18 * 256 - 384, 10 * 256 - 384, F(1) / F(768)], [16 * 256 - 384, 8 * 256 - 384, F(1) / F(768)],
    ]  # fmt: skip
    # z is 2 z / w + 1, the face that of a front, the numbers those of the primitives.
    assert found.record[:, 1].tolist() == [[0, 0, 0.5, 0], [0, 0, 1.5, 0]]
    assert found.record[:, 2, 1].tolist() == [1, 1] and found.record[:, 2, 2].view(np.uint32).tolist() == [40, 41]
    assert found.record[:, 6, 0].tolist() == [2, 1] and not found.record[:, 3:6].any()
    assert found.primitive.tolist() == [0, 1] and found.provoking.tolist() == [1, 0]
    assert found.corners.tolist() == [[1, 1, 1], [0, 0, 0]]
    assert found.edges.shape == (2, 3, 3) and not found.edges.any()
    assert found.ties.tolist() == [[True] * 3] * 2


@pytest.mark.parametrize(("x", "size", "columns"), [
    (0, 1.0, [16, 16]), (0, 2.0, [15, 16]), (0, 4.0, [14, 17]), (1, 2.0, [16, 17]), (-1, 2.0, [15, 16]),
    (127, 1.0, [16, 16]), (128, 1.0, [16, 16]), (129, 1.0, [17, 17]), (0, 1 / 64, [16, 16]), (1, 1 / 64, [16, 16]),
    (2, 1 / 64, [16, 16]), (3, 1 / 64, [17, 16]),
])  # fmt: skip
def test_the_lower_end_of_a_point_is_inside_and_the_upper_is_not(x: int, size: float, columns: list[int]) -> None:
    given = vertices((x / 256 / 16, 0, 0, 1), size=size)
    assert points(given).bounds[0, :2].tolist() == columns
    upright = vertices((0, x / 256 / 8, 0, 1), size=size)
    assert points(upright).bounds[0, 2:].tolist() == [row - 8 for row in columns]


def test_half_a_side_is_rounded_to_even_and_0_is_not_drawn() -> None:
    for halves, half in ((0.5, 0), (0.6, 1), (1.5, 2), (2.5, 2)):
        found = points(vertices((0, 0, 0, 1), size=halves / 128))
        assert found.record[:, 0, 0].tolist() == ([4096 - half] if half else [])
    for size in (0.0, -4.0, NAN):
        assert points(vertices((0, 0, 0, 1), size=size)).count == 0
    # Squares are at most 2^22 wide.
    assert points(vertices((0, 0, 0, 1), size=float("inf"))).record[0, 0, 0] == 4096 - 2**21


@pytest.mark.parametrize(("vertex", "raster", "is_drawn"), [
    ((2, 0, 0, 2), {}, True), ((-2, 0, 0, 2), {}, True), ((0, 2, 0, 2), {}, True), ((0, -2, 0, 2), {}, True),
    ((2.1, 0, 0, 2), {}, False), ((-2.1, 0, 0, 2), {}, False), ((0, 2.1, 0, 2), {}, False),
    ((0, -2.1, 0, 2), {}, False), ((0, 0, -2, 2), {}, True), ((0, 0, -2.1, 2), {}, False), ((0, 0, 2, 2), {}, True),
    ((0, 0, 2.1, 2), {}, False), ((0, 0, -0.1, 2), {"clip_zero": True}, False),
    ((0, 0, 0, 2), {"clip_zero": True}, True), ((0, 0, 0.1, 2), {"clip_zero": True}, True),
    ((0, 0, -9, 2), {"no_near": True}, True), ((0, 0, 9, 2), {"no_near": True}, False),
    ((0, 0, 9, 2), {"no_far": True}, True), ((0, 0, -9, 2), {"no_far": True}, False),
    ((NAN, 0, 0, 2), {}, False), ((0, NAN, 0, 2), {}, False), ((0, 0, NAN, 2), {}, False),
    ((0, 0, 0, 0), {}, False), ((0, 0, 0, NAN), {}, False),
])  # fmt: skip
def test_a_point_is_drawn_if_its_centre_is_in_the_view(
    vertex: tuple[float, ...], raster: dict[str, Any], is_drawn: bool
) -> None:
    found = points(vertices((0, 0, 0, 1), vertex, (0, 0, 0, 1)), 0, 1, 2, raster=Raster(**raster))
    assert found.primitive.tolist() == ([0, 1, 2] if is_drawn else [0, 2])


def test_coordinates_beyond_what_is_snapped_are_the_nearest_that_are() -> None:
    far = Viewport(scale=np.array([2.0**20, 1, 1], F), offset=np.array([0.5, 8.5, 0], F))
    given = vertices((1, 0, 0, 1), (-1, 0, 0, 1), size=1.0)
    assert points(given, 0, 1, viewport=far).record[:, 0, 0].tolist() == [2**23 - 128, -(2**23) - 128]


@pytest.mark.parametrize(("corners", "primitives", "clipped"), [
    (([0, 1, 2], [3, 1, 2]), [0, 1, 1], [0, 1, 1]), (([3, 1, 2], [0, 1, 2]), [0, 0, 1], [1, 1, 0]),
])  # fmt: skip
def test_a_triangle_beside_one_that_is_clipped_is_whole(
    corners: tuple[list[int], ...], primitives: list[int], clipped: list[int]
) -> None:
    rows = ((0, 0, 0, 1), (0.25, 0, 0, 1), (0, 0.5, 0, 1), (0, 0, -3, 1))
    found = triangles(vertices(*rows), *corners, raster=Raster(front_clockwise=True))
    assert found.primitive.tolist() == primitives and found.record[:, 2, 3].tolist() == clipped


DENORMAL = float(2.0**-127)


def test_denormal_coordinates_are_zeros() -> None:
    # z of -2^-127 is not below 0, w of 2^-127 makes an infinity of 1 / w, and the words themselves are in the record.
    given = vertices((0, 0, -DENORMAL, 1), (0.25, 0, 0, 1), (0, 0.5, 0, 1))
    found = triangles(given, raster=Raster(clip_zero=True, front_clockwise=True))
    assert found.record[:, 2, 3].tolist() == [0] and found.record[0, 1, 2:].tolist() == [1, 0]
    assert points(vertices((0, 0, 0, DENORMAL)), 0, raster=Raster()).count == 0
    # A size of 2^-127 is none; a distance of -2^-127 neither clips nor culls.
    assert points(vertices((0, 0, 0, 1), size=DENORMAL), 0, raster=Raster()).count == 0
    at_plane = vertices(*((*row, 1) for row in ((0, 0, 0), (0.25, 0, 0), (0, 0.5, 0))), distances={3: [-DENORMAL] * 3})
    found = triangles(at_plane, clip=8, cull=8, raster=Raster(front_clockwise=True))
    assert found.record[:, 2, 3].tolist() == [0]


def test_the_words_of_w_are_kept_as_they_are() -> None:
    given = vertices((0, 0, 0, 1), (0.25, 0, 0, 1), (0, 0.5, 0, DENORMAL))
    found = triangles(given, raster=Raster(no_near=True, no_far=True, front_clockwise=True))
    assert found.record[0, 6, :3].tolist() == [1, 1, DENORMAL]


def test_a_reciprocal_that_would_be_a_denormal_is_0() -> None:
    # 2^126 / 2^127 is a half, but 2^126 x 0 is 0, and z becomes the offset.
    assert points(vertices((0, 0, 2.0**126, 2.0**127)), 0).record[:, 1, 2].tolist() == [1]
