"""Which pixels triangles cover: beside a rasterizer in whole numbers, written apart, and shared edges."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from ctm.tb.draws.scene import CLEAR, FLAT, Scene, drawn, same_on_both

Point = tuple[int, int]
SIDE = 32
STEP = 256


def inside(triangle: list[Point], x: int, y: int) -> bool:
    """Whether the centre of pixel (x, y) belongs to a triangle of corners in 1/256 pixel, by the top-left rule.

    A point on an edge belongs to the triangle if it does after an infinitely small step to the right and, far smaller
    than that, down: what is left of the centre or above it gives it away. Written with half-planes by exact fractions.
    """
    (ax, ay), (bx, by), (cx, cy) = triangle
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if area == 0:
        return False
    corners = [(ax, ay), (bx, by), (cx, cy)] if area > 0 else [(ax, ay), (cx, cy), (bx, by)]
    # The centre of pixel (x, y) is at (x + 1/2, y + 1/2).
    px, py = Fraction(2 * x + 1, 2) * STEP, Fraction(2 * y + 1, 2) * STEP
    for (fx, fy), (tx, ty) in zip(corners, [*corners[1:], corners[0]], strict=True):
        side = (tx - fx) * (py - fy) - (ty - fy) * (px - fx)
        # The same of the step: a step right changes it by -(ty - fy), a step down by (tx - fx).
        side = side or Fraction(-(ty - fy)) or Fraction(tx - fx)
        if side < 0:
            return False
    return True


def cover(triangle: list[Point]) -> npt.NDArray[np.bool_]:
    """The pixels of a triangle, [SIDE, SIDE]."""
    found = np.zeros((SIDE, SIDE), bool)
    (left, bottom), (right, top) = (
        [choose(corner[axis] for corner in triangle) // STEP for axis in range(2)] for choose in (min, max)
    )
    for y in range(max(bottom, 0), min(top, SIDE - 1) + 1):
        for x in range(max(left, 0), min(right, SIDE - 1) + 1):
            found[y, x] = inside(triangle, x, y)
    return found


def vertex(point: Point, number: int) -> list[float]:
    """A vertex at a point in 1/256 pixel: all of the arithmetic to get there is exact."""
    half = SIDE * STEP / 2
    return [(point[0] - half) / half, (point[1] - half) / half, 0.0, 1.0, float(number), 0.0, 0.0, 1.0]


def triangles(generator: np.random.Generator, count: int) -> list[list[Point]]:
    """Random triangles: of whole pixels, of halves, and of any 1/256; small, large, and over the edges."""
    found = []
    for _ in range(count):
        grid = int(generator.choice([1, 1, 64, 128, 256]))
        reach = int(generator.choice([2, 6, SIDE, 2 * SIDE])) * STEP
        middle = generator.integers(0, SIDE * STEP, 2)
        corners = middle + generator.integers(-reach // 2, reach // 2 + 1, (3, 2))
        found.append([(int(x), int(y)) for x, y in corners // grid * grid])
    return found


def check_many(seed: int, count: int) -> None:
    """Draw triangles a hundred at a time, each with its number in red and over all before it."""
    generator = np.random.default_rng(seed)
    for first in range(0, count, 100):
        shapes = triangles(generator, min(100, count - first))
        expected = np.full((SIDE, SIDE), CLEAR)
        for number, triangle in enumerate(shapes):
            expected[cover(triangle)] = number
        vertices = [vertex(point, number) for number, triangle in enumerate(shapes) for point in triangle]
        found = drawn(Scene(vertices=vertices, width=SIDE, height=SIDE, inputs=FLAT)).target[..., 0]
        wrong = np.argwhere(found != expected)
        assert not wrong.size, (seed, first, wrong[0][::-1], found[tuple(wrong[0])], expected[tuple(wrong[0])])


@pytest.mark.slow
def test_random_triangles_cover_what_whole_numbers_say() -> None:
    check_many(0, 600)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 21))
def test_many_random_triangles_cover_what_whole_numbers_say(seed: int) -> None:
    check_many(seed, 1000)


@pytest.mark.parametrize("seed", range(3))
def test_every_pixel_of_a_mesh_is_covered_once(seed: int) -> None:
    generator = np.random.default_rng(seed)
    count = 7
    grid = np.linspace(-256, SIDE * STEP + 256, count).astype(int)
    x, y = np.meshgrid(grid, grid)
    inner = np.zeros((count, count), bool)
    inner[1:-1, 1:-1] = True
    for axis in (x, y):
        axis[inner] += generator.integers(-500, 501, inner.sum()) // 128 * 128
    points = [(int(a), int(b)) for a, b in zip(x.ravel(), y.ravel(), strict=True)]
    corners = []
    for row in range(count - 1):
        for column in range(count - 1):
            a = row * count + column
            b, c, d = a + 1, a + count, a + count + 1
            halves = [(a, b, c), (b, d, c)] if generator.random() < 0.5 else [(a, b, d), (a, d, c)]
            corners += [tuple(generator.permutation(half)) for half in halves]
    scene = Scene(
        vertices=[[*vertex(point, 0)[:4], 1.0, 1.0, 1.0, 1.0] for point in points],
        indices=np.array(corners, np.uint16).ravel(),
        width=SIDE, height=SIDE, draw={"add": True},
    )  # fmt: skip
    found = same_on_both(scene).target
    assert (found == CLEAR + 1).all()
