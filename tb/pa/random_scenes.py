"""Random scenes: triangles and points of all sizes, over every plane, with all kinds of state."""

from collections.abc import Callable

import numpy as np

from ctm.rtl.border.draws import DISTANCES
from ctm.sim.golden.draw.state import Raster, Viewport
from ctm.sim.golden.pe.domain import Domain
from ctm.tb.lib.words import CORNERS, floats
from ctm.tb.pa.scene import Scene, plain_viewport

F = np.float32
_VERTICES = 63
Generator = np.random.Generator


def _inside(generator: Generator, count: int) -> np.ndarray:
    """Small and large ones inside of the view."""
    middle = generator.uniform(-0.9, 0.9, (count, 1, 2))
    reach = generator.choice([0.02, 0.1, 0.8], (count, 1, 1))
    found = np.empty((count, 3, 4), F)
    found[..., :2] = np.clip(middle + reach * generator.uniform(-1, 1, (count, 3, 2)), -1, 1)
    found[..., 2] = generator.uniform(-1, 1, (count, 3))
    found[..., 3] = 1
    return found * generator.uniform(0.3, 3, (count, 3, 1)).astype(F)


def _around(generator: Generator, count: int) -> np.ndarray:
    """Vertices on both sides of all planes of the view."""
    found = generator.uniform(-2, 2, (count, 3, 4)).astype(F)
    found[..., 3] = generator.uniform(0.2, 1.5, (count, 3))
    return found


def _near_the_eye(generator: Generator, count: int) -> np.ndarray:
    """With w negative, 0, and next to 0."""
    found = generator.uniform(-1, 1, (count, 3, 4)).astype(F)
    some = generator.random((count, 3)) < 0.3
    near_zero = generator.choice([0.0, -0.0, 2.0**-100, 2.0**-101, 2.0**-99, 1e-40, -(2.0**-120)], (count, 3))
    found[..., 3] = np.where(some, near_zero, generator.uniform(-0.5, 2, (count, 3)))
    return found


def _far(generator: Generator, count: int) -> np.ndarray:
    """Beyond the guard band on one side, on two, on all."""
    found = _inside(generator, count)
    some = generator.random((count, 3, 2)) < 0.4
    scale = (2.0 ** generator.uniform(6, 14, (count, 3, 2))).astype(F)
    found[..., :2] = np.where(some, found[..., :2] * scale, found[..., :2])
    return found


def _degenerate(generator: Generator, count: int) -> np.ndarray:
    """Equal corners, corners on a line, slivers, corners on planes."""
    found = _inside(generator, count)
    kind = generator.integers(0, 5, count)
    found[kind == 0, 1] = found[kind == 0, 0]
    found[kind == 1, 2] = (found[kind == 1, 0] + found[kind == 1, 1]) / 2
    found[kind == 2, 2] = found[kind == 2, 1] * F(1.0001)
    found[kind == 3, 0, 2] = -found[kind == 3, 0, 3]
    found[kind == 4, :, 2] = found[kind == 4, :, 3]
    return found


def _special(generator: Generator, count: int) -> np.ndarray:
    """NaNs, infinities, denormals, the largest and the smallest numbers."""
    found = _around(generator, count)
    some = generator.random((count, 3, 4)) < 0.15
    found[some] = floats(generator.choice(CORNERS, some.sum()))
    return found


def _any_words(generator: Generator, count: int) -> np.ndarray:
    """Words of any exponent."""
    return floats(generator.integers(0, 1 << 32, (count, 3, 4), np.uint32))


def _huge_and_tiny(generator: Generator, count: int) -> np.ndarray:
    """All coordinates of a triangle times a power of two."""
    found = _around(generator, count)
    scale = np.ldexp(1.0, generator.integers(-126, 126, (count, 1, 1)))
    return (found * scale).astype(F)


def _on_a_grid(generator: Generator, count: int) -> np.ndarray:
    """Corners at and between the centres of pixels, so that edges are shared and pixels lie on them."""
    found = np.empty((count, 3, 4), F)
    found[..., 0] = generator.integers(-64, 65, (count, 3)) / 64
    found[..., 1] = generator.integers(-48, 49, (count, 3)) / 48
    found[..., 2] = generator.integers(-2, 3, (count, 3)) / 2
    found[..., 3] = 1
    return found


KINDS: dict[str, Callable[[Generator, int], np.ndarray]] = {
    "inside": _inside, "around": _around, "near the eye": _near_the_eye, "far": _far, "degenerate": _degenerate,
    "special": _special, "any words": _any_words, "huge and tiny": _huge_and_tiny, "on a grid": _on_a_grid,
}  # fmt: skip


def _viewport(generator: Generator) -> Viewport:
    kind = generator.integers(0, 8)
    if kind < 5:
        width, height = generator.choice([2, 17, 64, 64, 130], 2)
        return plain_viewport(float(width), float(-height if generator.random() < 0.3 else height))
    scale, offset = generator.uniform(-80, 80, 3), generator.uniform(-30, 60, 3)
    if kind == 6:
        scale, offset = generator.uniform(-20000, 20000, 3), generator.uniform(-40000, 40000, 3)
    if kind == 7:
        some = generator.random(3) < 0.3
        scale[some], offset[some] = floats(generator.choice(CORNERS, (2, 3)))[:, some]
    with np.errstate(all="ignore"):
        return Viewport(scale=scale.astype(F), offset=offset.astype(F))


def _domain(generator: Generator) -> Domain:
    kind = generator.integers(0, 14)
    i0, j0 = (int(each) for each in generator.choice([0, 0, 0, 1, 6, 13], 2))
    if kind == 0:
        return Domain(i0=i0, j0=j0, i1=i0 + int(generator.integers(0, 3)), j1=j0 + int(generator.integers(0, 3)))
    if kind == 1:
        empty = {"i1": max(i0 - 1, 0), "j1": j0 + 20} if generator.random() < 0.5 else {"i1": i0 + 20, "j1": 0}
        return Domain(i0=i0 or 1, j0=j0 or 1, **empty)
    if kind == 2:
        return Domain(i0=4090, j0=4085, i1=4095, j1=4095)
    return Domain(i0=i0, j0=j0, i1=i0 + int(generator.integers(3, 90)), j1=j0 + int(generator.integers(3, 60)))


def _raster(generator: Generator) -> Raster:
    front_clockwise, clip_zero = (bool(generator.random() < 0.5) for _ in range(2))
    rare = [bool(generator.random() < 0.15) for _ in range(4)]
    return Raster(
        front_clockwise=front_clockwise, clip_zero=clip_zero, cull_front=rare[0], cull_back=rare[1], no_near=rare[2],
        no_far=rare[3], program_point_size=bool(generator.random() < 0.7),
        point_radius=int(generator.choice([0, 1, 8, 20, 100, 65535])),
    )  # fmt: skip


def _distances(generator: Generator) -> np.ndarray:
    found = generator.uniform(-0.4, 1, (_VERTICES, DISTANCES)).astype(F)
    some = generator.random(found.shape) < 0.03
    found[some] = floats(generator.choice(CORNERS, some.sum()))
    return found


def triangles(seed: int, kind: str) -> Scene:
    """Some 20 triangles of a kind, with one state."""
    generator = np.random.default_rng([seed, list(KINDS).index(kind)])
    with np.errstate(all="ignore"):
        position = KINDS[kind](generator, _VERTICES // 3).reshape(_VERTICES, 4)
    corners = np.arange(_VERTICES).reshape(-1, 3)
    if generator.random() < 0.3:
        corners = generator.integers(0, _VERTICES, corners.shape)
    clips = generator.random() < 0.3
    culls = generator.random() < 0.3
    provoking = corners[np.arange(len(corners)), generator.integers(0, 3, len(corners))]
    return Scene(
        position=position, corners=corners, distances=_distances(generator), raster=_raster(generator),
        viewport=plain_viewport() if kind == "on a grid" else _viewport(generator), domain=_domain(generator),
        provoking=provoking,
        number=generator.integers(0, 1 << 32, len(corners)),
        clip_distances=int(generator.choice([1, 2, 128, 9, 255])) if clips else 0,
        cull_distances=int(generator.choice([1, 128, 129, 255])) if culls else 0,
    )  # fmt: skip


def points(seed: int) -> Scene:
    """Some 60 points with one state."""
    generator = np.random.default_rng([seed, 99])
    kind = str(generator.choice(list(KINDS)))
    with np.errstate(all="ignore"):
        position = KINDS[kind](generator, _VERTICES // 3).reshape(_VERTICES, 4)
    size = generator.choice([0.0, 1 / 256, 1 / 128, 0.5, 1.0, 1.5, 2.5, 7.0, 33.3, -1.0, np.nan, 1e9], _VERTICES)
    some = generator.random(_VERTICES) < 0.1
    size = size.astype(F)
    size[some] = floats(generator.choice(CORNERS, some.sum()))
    return Scene(
        position=position, corners=np.arange(_VERTICES)[:, None], size=size, distances=_distances(generator),
        raster=_raster(generator), viewport=_viewport(generator), domain=_domain(generator),
        clip_distances=int(generator.choice([0, 255])), cull_distances=int(generator.choice([0, 255])),
    )  # fmt: skip
