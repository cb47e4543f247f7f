"""The compiled rasterizer gives the records and the strips of the golden model, bit by bit."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from ctm.sim.golden.draw import clipping
from ctm.sim.golden.draw.arithmetic import flush, is_behind
from ctm.sim.golden.draw.state import Raster, Viewport
from ctm.sim.golden.pe.domain import Domain
from ctm.tb.draws.recorded import NAMES, document
from ctm.tb.lib.seeds import seeds
from ctm.tb.pa.checking import check, compiled
from ctm.tb.pa.random_scenes import KINDS, points, triangles
from ctm.tb.pa.recorded_scenes import recorded_scenes
from ctm.tb.pa.scene import Scene, plain_viewport
from ctm.tb.pa.simulation import IDEAL, Timing

F = np.float32
SHORT, LONG = 8, 400
SIZES = ((16, 64, 16), (4, 64, 3), (64, 256, 16))
"""Lanes, vertices, records."""
MOST_CYCLES = 200


def size_of(seed: int) -> tuple[int, int, int]:
    """The unit for a seed: the middle one mostly."""
    return SIZES[seed % 4 % 3]


def timing_of(seed: int) -> Timing:
    """Stalls of a seed."""
    generator = np.random.default_rng([seed, 7])
    source, sink, free = (float(each) for each in generator.choice([0, 0, 0.3, 0.8, 0.97], 3))
    return Timing(source=source, sink=sink, free=free, seed=seed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", seeds(SHORT, LONG))
def test_random_triangles(seed: int, kind: str) -> None:
    check(compiled(*size_of(seed)), triangles(seed, kind), timing_of(seed))


@pytest.mark.parametrize("seed", seeds(2 * SHORT, 2 * LONG))
def test_random_points(seed: int) -> None:
    check(compiled(*size_of(seed)), points(seed), timing_of(seed))


def behind(scene: Scene) -> np.ndarray:
    """Which planes a vertex of each primitive is behind, [planes, n], of those that are not dropped."""
    position = flush(scene.position)[scene.corners]
    with np.errstate(all="ignore"):
        kept = ~np.isnan(position).any(axis=(1, 2)) & ~clipping.outside(position, scene.raster)
        found = [is_behind(distance(position)).any(axis=1) for distance in clipping.planes(Raster(), scene.viewport)]
    distances = scene.all_distances[scene.corners]
    found += [is_behind(distances[..., plane]).any(axis=1) for plane in range(8)]
    return np.array(found) & kept


def test_random_triangles_meet_every_case() -> None:
    """Of the ordinary suite's seeds: every plane cuts many, two, three and more planes cut one, all is dropped some."""
    cut, several, counted = np.zeros(15, int), Counter[int](), Counter[str]()
    for kind in KINDS:
        for seed in range(SHORT):
            scene = triangles(seed, kind)
            shapes = scene.shapes()
            used = behind(scene)
            used[7:] &= (scene.clip_distances >> np.arange(8) & 1).astype(bool)[:, None]
            used[0] &= not scene.raster.no_near
            used[1] &= not scene.raster.no_far
            cut += used.sum(axis=1)
            several.update(used.sum(axis=0).tolist())
            record = shapes.record
            strips = scene.strips(shapes, 16)
            with np.errstate(all="ignore"):
                counted.update({
                    "front": (record[:, 2, 1] == 1).sum(), "back": (record[:, 2, 1] == -1).sum(),
                    "clipped": (record[:, 2, 3] == 1).sum(), "whole": (record[:, 2, 3] == 0).sum(),
                    "nothing": len(scene.corners) - len(np.unique(shapes.primitive)),
                    "strips": 0 if strips is None else strips.shape.size,
                    "partial": 0 if strips is None else (~strips.covered).sum(),
                    "on an edge": 0 if strips is None else (strips.edges == 0).any(axis=0).sum(),
                    "empty domain": scene.domain.is_empty, "clip zero": scene.raster.clip_zero,
                    "pieces of one": (np.bincount(shapes.primitive) > 3).sum() if shapes.count else 0,
                })  # fmt: skip
    assert cut.min() > 20
    assert min(several[number] for number in range(6)) > 5
    assert min(counted.values()) > 3, counted


def test_random_points_meet_every_case() -> None:
    counted = Counter[str]()
    for seed in range(2 * SHORT):
        scene = points(seed)
        shapes = scene.shapes()
        widths = np.diff(shapes.bounds[:, :2], axis=1)
        counted.update({
            "drawn": shapes.count, "dropped": len(scene.corners) - shapes.count, "one column": (widths == 0).sum(),
            "several": (widths > 0).sum(), "none": (widths < 0).sum(), "huge": (widths > 8000).sum(),
            "by program": scene.raster.program_point_size, "by state": not scene.raster.program_point_size,
        })  # fmt: skip
    assert min(counted.values()) > 1, counted


def mesh(squares: int) -> Scene:
    """Triangles of a bent mesh: each edge is that of two, of opposite directions."""
    generator = np.random.default_rng(squares)
    side = squares + 1
    ticks = np.linspace(-1, 1, side)
    x, y = np.meshgrid(ticks, ticks)
    position = np.stack([x, y, np.zeros_like(x), np.ones_like(x)], axis=-1).astype(F)
    position[1:-1, 1:-1, :2] += generator.uniform(-0.8 / side, 0.8 / side, (side - 2, side - 2, 2)).astype(F)
    position = position.reshape(-1, 4) * generator.uniform(0.5, 2, (side * side, 1)).astype(F)
    first = (np.arange(squares)[:, None] * side + np.arange(squares)).ravel()
    lower = np.stack([first, first + 1, first + side], axis=1)
    upper = np.stack([first + 1, first + side + 1, first + side], axis=1)
    return Scene(position=position, corners=np.concatenate([lower, upper]))


@pytest.mark.parametrize("lanes", [size[0] for size in SIZES])
def test_triangles_of_a_mesh_cover_each_pixel_once(lanes: int) -> None:
    size = next(size for size in SIZES if size[0] == lanes)
    run, _ = check(compiled(*size), mesh(6))
    count = np.zeros((64, 256), int)
    for i, j, covered in zip(run.strips["i"], run.strips["j"], run.strips["covered"].tolist(), strict=True):
        for lane in range(lanes):
            count[int(j) + (lane >> 1 & 1), int(i) + 2 * (lane // 4) + lane % 2] += covered >> lane & 1
    assert (count[:48, :64] == 1).all() and count.sum() == 48 * 64


def small(count: int = 21) -> Scene:
    """Triangles inside of the view, of few pixels."""
    generator = np.random.default_rng(0)
    middle = generator.uniform(-0.8, 0.8, (count, 1, 2))
    position = np.zeros((3 * count, 4), F)
    position[:, :2] = (middle + generator.uniform(-0.05, 0.05, (count, 3, 2))).reshape(-1, 2)
    position[:, 3] = 1
    return Scene(position=position, corners=np.tile(np.arange(3 * count).reshape(-1, 3), (4, 1)))


@pytest.mark.parametrize("distances", [0, 255])
def test_set_up_of_a_triangle_that_is_not_clipped_takes_no_more_than_200_cycles(distances: int) -> None:
    scene = replace(small(), distances=np.ones((63, 8), F), clip_distances=distances, cull_distances=distances)
    run, shapes = check(compiled(), scene)
    assert shapes.count == 84 and run.counts["clipped"] == 0
    assert np.diff(run.shape_cycles.astype(np.int64)).max() <= MOST_CYCLES


@pytest.mark.parametrize(("lanes", "vertices", "records"), SIZES)
def test_a_strip_takes_a_cycle_for_each_quad(lanes: int, vertices: int, records: int) -> None:
    position = np.array([(-1, -1, 0, 1), (3, -1, 0, 1), (-1, 3, 0, 1)], F)
    scene = Scene(position=position, corners=np.arange(3)[None], domain=Domain(i0=0, j0=0, i1=63, j1=47))
    run, _ = check(compiled(lanes, vertices, records), scene)
    assert run.counts["strips"] == 64 * 48 // lanes
    assert set(np.diff(run.strip_cycles.astype(np.int64)).tolist()) == {lanes // 4}


def test_a_shape_ends_its_row_at_its_last_column() -> None:
    """A shape of two columns in strips of 64 lanes takes a cycle for each row of quads and one before the next one."""
    position = np.array([(-1, -1, 0, 1), (-1 + 1 / 16, -1, 0, 1), (-1, 1, 0, 1)], F)
    run, _ = check(compiled(64, 256, 16), Scene(position=position, corners=np.arange(3)[None]))
    assert run.strip_cycles[-1] - run.strip_cycles[0] < 24


def test_the_walk_goes_on_while_the_next_shapes_are_made() -> None:
    position = np.array([(-1, -1, 0, 1), (3, -1, 0, 1), (-1, 3, 0, 1)], F)
    one = Scene(position=position, corners=np.arange(3)[None])
    many = replace(one, corners=np.tile(one.corners, (8, 1)))
    (first, _), (run, _) = check(compiled(), one), check(compiled(), many)
    walk = int(first.strip_cycles[-1] - first.strip_cycles[0])
    assert run.cycles - first.cycles < 7 * (walk + 8)


@pytest.mark.parametrize("free", [0.0, 0.99])
def test_records_that_are_late_are_waited_for(free: float) -> None:
    run, shapes = check(compiled(4, 64, 3), small(), Timing(free=free))
    assert shapes.count == 84 and set(run.records.tolist()) == {0, 1, 2}


def test_a_state_follows_another_when_all_is_idle() -> None:
    """Nothing of one draw is left for the next: the guard band, bounds, rows, edges of points."""
    simulation = compiled()
    for seed in range(12):
        check(simulation, points(seed).chosen(range(4)) if seed % 3 == 0 else triangles(seed, "far").chosen(range(4)))


@pytest.mark.parametrize("seed", seeds(4, 100))
def test_a_reset_ends_whatever_is_under_way(seed: int) -> None:
    """Nothing that has no reset, and no memory, is read before it is written."""
    simulation, generator = compiled(), np.random.default_rng(seed)
    for kind in KINDS:
        scene = triangles(seed, kind)
        state, primitives = scene.state(), scene.primitives(simulation.vertices)
        stop = int(generator.integers(1, 3000))
        simulation.run(state, primitives, scene.vectors(simulation.vertices), strips=4000, shapes=400, stop=stop)
        simulation.reset()
        other = points(seed) if seed % 2 else triangles(seed + 1, kind)
        check(simulation, other.chosen(range(6)))


def test_no_primitive_is_no_work() -> None:
    run = compiled().run(0, [], np.zeros((64, 4, 4), np.uint32), strips=1, shapes=1)
    assert run.cycles < 3 and not any(run.counts.values())


@pytest.mark.parametrize(("scale", "offset"), [(2.0**14, 2.0**14), (-(2.0**14), 2.0**15), (8000.0, -40000.0)])
def test_coordinates_at_the_ends_of_what_is_snapped(scale: float, offset: float) -> None:
    """The largest triangles: areas and edge values of 49 bits."""
    position = np.array([(-1, -1, 0, 1), (1, -1, 0, 1), (-1, 1, 0, 1), (1, 1, 0, 1)], F)
    corners = np.array([(0, 1, 2), (0, 2, 1), (3, 1, 2), (3, 2, 1)])
    for shift in (0.0, -offset, -2 * offset):
        viewport = Viewport(scale=np.full(3, scale, F), offset=np.full(3, offset + shift, F))
        for domain in (Domain(i0=0, j0=0, i1=40, j1=6), Domain(i0=4070, j0=4090, i1=4095, j1=4095)):
            check(compiled(), Scene(position=position, corners=corners, viewport=viewport, domain=domain))


@pytest.mark.parametrize("raster", [
    Raster(cull_front=front, cull_back=back, front_clockwise=clockwise)
    for front in (False, True) for back in (False, True) for clockwise in (False, True)
])  # fmt: skip
def test_faces(raster: Raster) -> None:
    scene = replace(mesh(3), raster=raster)
    turned = scene.corners.copy()
    turned[::2] = turned[::2, ::-1]
    _, shapes = check(compiled(), replace(scene, corners=turned))
    assert shapes.count == 9 * ((not raster.cull_front) + (not raster.cull_back))


@pytest.mark.parametrize("is_point", [False, True])
def test_depths_may_be_infinite_and_columns_and_rows_may_not(is_point: bool) -> None:
    scene = replace(small(), raster=Raster(no_near=True, no_far=True, point_radius=9))
    if is_point:
        scene = replace(scene, corners=np.arange(63)[:, None])
    depths = np.array([0, 1, -1, 1e30, -1e30, 3e38, 2.0**-126], F)
    scene.position[:, 2] = np.resize(depths, 63)
    for axis in range(3):
        for name in ("scale", "offset"):
            viewport = plain_viewport()
            getattr(viewport, name)[axis] = np.inf
            _, shapes = check(compiled(), replace(scene, viewport=viewport))
            assert (shapes.count > 0) == (axis == 2)


@pytest.mark.parametrize("name", [name for name in NAMES if not document(name).get("optional")])
def test_vertices_of_recorded_draws(name: str) -> None:
    for scene in recorded_scenes(name):
        check(compiled(64, 256, 16), scene, IDEAL)
