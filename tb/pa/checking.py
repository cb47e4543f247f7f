"""The compiled rasterizer beside the golden model: rows of records and strips, bit by bit, in order."""

from functools import cache
from typing import Any

import numpy as np

from ctm.rtl.border.draws import EDGE_BITS, SIDE_BITS
from ctm.rtl.pa.shape import STEP_BITS
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.draw.strips import Strips
from ctm.tb.pa.scene import Scene
from ctm.tb.pa.simulation import IDEAL, RasterRun, RasterSimulation, Timing


@cache
def compiled(lanes: int = 16, vertices: int = 64, records: int = 16) -> RasterSimulation:
    """The unit, compiled once."""
    return RasterSimulation(vertices=vertices, records=records, lanes=lanes)


def check(simulation: RasterSimulation, scene: Scene, timing: Timing = IDEAL) -> tuple[RasterRun, Shapes]:
    """Run a scene, and compare all that comes with the golden model's."""
    shapes = scene.shapes()
    strips = scene.strips(shapes, simulation.lanes)
    count = 0 if strips is None else strips.shape.size
    run = simulation.run(
        scene.state(), scene.primitives(simulation.vertices), scene.vectors(simulation.vertices),
        strips=count + 1, shapes=shapes.count + 1, timing=timing,
        max_cycles=4000 + 12000 * len(scene.corners) + 400 * count,
    )  # fmt: skip
    _compare_records(scene, shapes, run)
    if strips is None:
        assert not run.strip_cycles.size, f"{run.strip_cycles.size} strips where there is none"
    else:
        _compare_strips(shapes, strips, run, simulation.lanes)
    assert run.counts["taken"] == len(scene.corners)
    assert run.counts["strips"] == count
    assert run.counts["pieces"] == run.counts["culled"] + shapes.count
    return run, shapes


def _compare_records(scene: Scene, shapes: Shapes, run: RasterRun) -> None:
    """All shapes in their order, with all words of their records."""
    expected, found = shapes.record.view(np.uint32), run.rows
    least = min(len(expected), len(found))
    wrong = np.argwhere(expected[:least] != found[:least])
    if wrong.size:
        shape, row, word = wrong[0].tolist()
        primitive = int(shapes.primitive[shape])
        raise AssertionError(
            f"shape {shape} of {shapes.count} ({len(found)} came), primitive {primitive}: row {row} word {word} is "
            f"{found[shape, row, word]:08x}, not {expected[shape, row, word]:08x}; {len(np.unique(wrong[:, 0]))} "
            f"differ; positions {scene.position[scene.corners[primitive]].tolist()}; {scene.raster}"
        )
    assert len(found) == len(expected), f"{len(found)} shapes, not {len(expected)}"


def _compare_strips(shapes: Shapes, strips: Strips, run: RasterRun, lanes: int) -> None:
    """All strips in their order: pixels, lanes, edges at lane 0, vertices, record."""
    shape, found = strips.shape, run.strips
    edges = shapes.edges[shape]
    expected: dict[str, Any] = {
        "i": strips.i[::lanes], "j": strips.j[::lanes],
        "covered": (strips.covered.reshape(-1, lanes).astype(np.uint64) << np.arange(lanes, dtype=np.uint64)).sum(1),
        "value": strips.edges[:, ::lanes].T, "dx": edges[..., 1] >> STEP_BITS, "dy": -(edges[..., 0] >> STEP_BITS),
        "corners": shapes.corners[shape], "provoking": shapes.provoking[shape], "record": run.records[shape],
    }  # fmt: skip
    constants, own = found["constants"], found["edges"]
    given = {
        **{name: found[name] for name in ("i", "j", "covered")}, **constants, "value": _signed(own["value"], EDGE_BITS),
        "dx": _signed(own["dx"], SIDE_BITS), "dy": _signed(own["dy"], SIDE_BITS),
    }  # fmt: skip
    least = min(len(shape), len(run.strip_cycles))
    for name, values in expected.items():
        wrong = np.argwhere(values[:least] != given[name][:least])
        if wrong.size:
            at = int(wrong[0, 0])
            raise AssertionError(
                f"strip {at} of {len(shape)} ({len(run.strip_cycles)} came), shape {shape[at]}: {name} is "
                f"{given[name][at]}, not {values[at]}; {len(np.unique(wrong[:, 0]))} differ"
            )
    assert len(shape) == len(run.strip_cycles), f"{len(run.strip_cycles)} strips, not {len(shape)}"


def _signed(values: np.ndarray, bits: int) -> np.ndarray:
    """Numbers of that many bits as signed ones."""
    shift = np.int64(64 - bits)
    return values.astype(np.uint64).view(np.int64) << shift >> shift
