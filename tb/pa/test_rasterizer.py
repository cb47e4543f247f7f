"""The compiled rasterizer gives the records and the strips of the golden model, bit by bit."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from ctm.sim.golden.draw import clipping
from ctm.sim.golden.draw.arithmetic import flush, is_outside
from ctm.sim.golden.draw.state import Raster
from ctm.sim.golden.pe.domain import Domain
from ctm.tb.draws.recorded import NAMES, document
from ctm.tb.lib.seeds import seeds
from ctm.tb.lib.some import only
from ctm.tb.pa.checking import check, compiled
from ctm.tb.pa.directed_scenes import directed, faces, infinite, mesh, small
from ctm.tb.pa.random_scenes import KINDS, points, triangles
from ctm.tb.pa.recorded_scenes import recorded_scenes
from ctm.tb.pa.scene import Scene
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


def random_scenes(wanted: range, size: tuple[int, int, int]) -> Iterator[tuple[str, Scene, Timing]]:
    """Those of some seeds that are for a size, with names."""
    for seed in wanted:
        if size_of(seed) == size:
            for kind in KINDS:
                yield f"{kind}, seed {seed}", triangles(seed, kind), timing_of(seed)
            for number in (2 * seed, 2 * seed + 1):
                yield f"points, seed {number}", points(number), timing_of(number)


def check_all(size: tuple[int, int, int], scenes: Iterable[tuple[str, Scene, Timing]]) -> None:
    """Check one after the other."""
    for name, scene, timing in scenes:
        try:
            check(compiled(*size), scene, timing)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


# These make the models that later tests take. One test of many scenes runs them all on a mutant of the hardware.
@pytest.mark.slow
@pytest.mark.parametrize("size", only(SIZES, SIZES[:1]))
def test_all_scenes_give_the_golden_models_bits(size: tuple[int, int, int]) -> None:
    check_all(size, random_scenes(range(SHORT), size))
    check_all(size, ((name, scene, IDEAL) for name, scene in directed()) if size == SIZES[0] else ())


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SHORT, LONG))
def test_more_random_scenes(seed: int) -> None:
    check_all(size_of(seed), random_scenes(range(seed, seed + 1), size_of(seed)))


def cutting_planes(scene: Scene) -> np.ndarray:
    """The planes that each primitive has a vertex outside of, [planes, n], of those that are not dropped."""
    position = flush(scene.position)[scene.corners]
    with np.errstate(all="ignore"):
        kept = ~np.isnan(position).any(axis=(1, 2)) & ~clipping.outside(position, scene.raster)
        found = [is_outside(distance(position)).any(axis=1) for distance in clipping.planes(Raster(), scene.viewport)]
    distances = scene.all_distances[scene.corners]
    found += [is_outside(distances[..., plane]).any(axis=1) for plane in range(8)]
    return np.array(found) & kept


def test_random_triangles_meet_every_case() -> None:
    """Of the ordinary suite's seeds: every plane cuts many, two, three and more planes cut one, all is dropped some."""
    cut, several, counted = np.zeros(15, int), Counter[int](), Counter[str]()
    for kind in KINDS:
        for seed in range(SHORT):
            scene = triangles(seed, kind)
            shapes = scene.shapes()
            used = cutting_planes(scene)
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
                    "triangles of one": (np.bincount(shapes.primitive) > 3).sum() if shapes.count else 0,
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


@pytest.mark.slow
@pytest.mark.parametrize("lanes", only([size[0] for size in SIZES], SIZES[0][:1]))
def test_triangles_of_a_mesh_cover_each_pixel_once(lanes: int) -> None:
    size = next(size for size in SIZES if size[0] == lanes)
    run, _ = check(compiled(*size), mesh(6))
    count = np.zeros((64, 256), int)
    for i, j, covered in zip(run.strips["i"], run.strips["j"], run.strips["covered"].tolist(), strict=True):
        for lane in range(lanes):
            count[int(j) + (lane >> 1 & 1), int(i) + 2 * (lane // 4) + lane % 2] += covered >> lane & 1
    assert (count[:48, :64] == 1).all() and count.sum() == 48 * 64


@pytest.mark.parametrize("distances", [0, 255])
def test_set_up_of_a_triangle_that_is_not_clipped_takes_no_more_than_200_cycles(distances: int) -> None:
    scene = replace(small(), distances=np.ones((63, 8), F), clip_distances=distances, cull_distances=distances)
    run, shapes = check(compiled(), scene)
    assert shapes.count == 84 and run.counts["clipped"] == 0
    assert np.diff(run.shape_cycles.astype(np.int64)).max() <= MOST_CYCLES


@pytest.mark.parametrize("size", only(SIZES, SIZES[:1]))
def test_a_strip_takes_a_cycle_for_each_quad(size: tuple[int, int, int]) -> None:
    lanes, vertices, records = size
    position = np.array([(-1, -1, 0, 1), (3, -1, 0, 1), (-1, 3, 0, 1)], F)
    scene = Scene(position=position, corners=np.arange(3)[None], domain=Domain(i0=0, j0=0, i1=63, j1=47))
    run, _ = check(compiled(lanes, vertices, records), scene)
    assert run.counts["strips"] == 64 * 48 // lanes
    assert set(np.diff(run.strip_cycles.astype(np.int64)).tolist()) == {lanes // 4}


@pytest.mark.slow
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


@pytest.mark.long
@pytest.mark.parametrize("free", [0.0, 0.99])
def test_records_that_are_delayed_are_waited_for(free: float) -> None:
    run, shapes = check(compiled(4, 64, 3), small(), Timing(free=free))
    assert shapes.count == 84 and set(run.records.tolist()) == {0, 1, 2}


def test_a_state_follows_another_when_all_is_idle() -> None:
    """Nothing of one draw is left for the next: the guard band, bounds, rows, edges of points."""
    simulation = compiled()
    for seed in range(12):
        check(simulation, points(seed).chosen(range(4)) if seed % 3 == 0 else triangles(seed, "far").chosen(range(4)))


@pytest.mark.parametrize("seed", seeds(4, 100))
def test_a_reset_ends_all_primitives_in_flight(seed: int) -> None:
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


def test_the_faces_that_are_not_culled_are_drawn() -> None:
    for scene in faces():
        raster = scene.raster
        _, shapes = check(compiled(), scene)
        assert shapes.count == 9 * ((not raster.cull_front) + (not raster.cull_back))


def test_depths_may_be_infinite_and_columns_and_rows_may_not() -> None:
    for scene, is_drawn in infinite():
        _, shapes = check(compiled(), scene)
        assert (shapes.count > 0) == is_drawn


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if not document(name).get("optional")])
def test_vertices_of_recorded_draws(name: str) -> None:
    for scene in recorded_scenes(name):
        check(compiled(64, 256, 16), scene, IDEAL)
