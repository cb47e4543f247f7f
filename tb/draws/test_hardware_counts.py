"""The host's counters of draws say what was drawn."""

from typing import Any

import numpy as np

from ctm.rtl.config import PRESETS
from ctm.rtl.isa.host import DRAW_COUNTERS
from ctm.sim.engines.cycle_accurate import counters_of
from ctm.sim.report.utilisation import draws_text
from ctm.tb.draws.geometry import point, scene
from ctm.tb.draws.scene import Scene, drawn


def corner(x: float, y: float) -> list[float]:
    return [x, y, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]


def triangle(x: float, y: float, side: float) -> list[list[float]]:
    """Clockwise if `side` is negative."""
    return [corner(x, y), corner(x + abs(side), y), corner(x + (side < 0) * abs(side), y + abs(side))]


def counted(made: Scene) -> tuple[dict[str, int], Any]:
    """What the hardware counted of a scene, without the names' beginning, and what it left."""
    found = drawn(made, "rtl")
    counters = found.device.report().counters
    return {name.removeprefix("draw_"): counters[name] for name in map(str.lower, DRAW_COUNTERS)}, found


def test_primitives_that_are_seen_cut_and_culled() -> None:
    seen, outside = triangle(-0.9, -0.9, 0.8), triangle(2.0, 2.0, 0.5)
    # Partly outside of the plane z = -w, and with the other winding.
    cut = [[-0.5, 0.2, -3.0, 1, 1, 1, 1, 1], [0.5, 0.9, 0.5, 1, 1, 1, 1, 1], [0.5, 0.2, 0.5, 1, 1, 1, 1, 1]]
    turned = [*reversed(triangle(0.1, -0.9, 0.5))]
    made = Scene(vertices=np.array([*seen, *outside, *cut, *turned], np.float32), draw={"cull": "back"})
    counts, found = counted(made)
    assert (counts["vertices"], counts["emitted"], counts["primitives"]) == (12, 0, 4)
    assert (counts["dropped"], counts["clipped"], counts["culled"]) == (1, 1, 1)
    # A triangle of which one vertex is cut away is two triangles.
    assert counts["pieces"] == 4
    assert counts["pixels"] == found.covered.sum() > 0
    assert counts["pixels"] <= 4 * counts["quads"] <= 16 * counts["strips"]
    clocks = counts["clocks_vertices"], counts["clocks_pixels"]
    assert min(clocks) > 100 and sum(clocks) < found.device.report().cycles
    assert counts["wait_order"] + counts["wait_raster"] < counts["clocks_pixels"]


def test_shapes_over_each_other_wait_for_their_order() -> None:
    whole = [corner(-1, -1), corner(3, -1), corner(-1, 3)]
    alone, _ = counted(Scene(vertices=np.array(whole, np.float32), width=4, height=4))
    counts, _ = counted(Scene(vertices=np.array(whole * 12, np.float32), width=4, height=4))
    assert alone["wait_order"] == 0 and counts["pixels"] == 12 * alone["pixels"]


def test_emitted_vertices_are_counted_and_a_line_says_it() -> None:
    made = scene([point(0.0, 0.0, 3), point(0.3, -0.5, 4), point(-0.5, 0.5, 0)])
    counts, found = counted(made)
    # The fourth vertex of the second point is of no primitive.
    assert (counts["vertices"], counts["emitted"], counts["primitives"]) == (3, 6, 2)
    text = draws_text(found.device.report().counters)
    assert text.startswith("draws: 3 vertices, 6 emitted, 2 primitives (0 not seen, 0 clipped, 0 culled), ")
    assert draws_text({}) == draws_text({"draw_clocks_vertices": 0}) == ""


def test_machines_that_do_not_draw_have_no_such_counters() -> None:
    assert not set(DRAW_COUNTERS) & set(counters_of(PRESETS["r700"]))
    assert set(DRAW_COUNTERS) < set(counters_of(PRESETS["r700-draw"]))
