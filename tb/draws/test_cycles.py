"""Cycles of draws on the hardware, exactly as they were: a change that makes one slower is seen."""

from typing import Any

import numpy as np
import pytest

from ctm.tb.draws.scene import Scene, drawn

pytestmark = pytest.mark.long
"""They are those of the preset, and `tb.lib.machines` has it with --long."""
SIDE = 64


def triangles(count: int, size: float) -> Scene:
    """So many right triangles of `size` pixels a side, beside each other, inside of the target."""
    across = int(SIDE // (size + 1))
    corners: list[list[float]] = []
    for number in range(count):
        x, y = number % across * (size + 1) + 0.25, number // across % across * (size + 1) + 0.25
        for dx, dy in ((0, 0), (size, 0), (0, size)):
            corners.append([(x + dx) / SIDE * 2 - 1, (y + dy) / SIDE * 2 - 1, 0, 1, 1, 0.5, 0, 1])
    return Scene(vertices=np.array(corners, np.float32), width=SIDE, height=SIDE)


def counted(scene: Scene) -> tuple[int, int]:
    """Cycles of a draw, and ALU groups."""
    report: Any = drawn(scene, "rtl").device.report()
    return report.cycles, report.equal_counts["issued_alu"]


MEASURED = {(64, 2.0): (17_535, 1_104), (64, 6.0): (20_455, 3_468), (16, 28.0): (32_113, 7_344)}
"""Triangles and pixels a side -> cycles, ALU groups."""
GROUP_CYCLES = 4
"""Of 16 pixels on four lanes."""
SHARES = {(64, 5.0): 0.5, (64, 6.0): 0.7, (16, 20.0): 0.85, (16, 28.0): 0.9}
"""Least share of the cycles in which the lanes have a group."""


@pytest.mark.parametrize("scene", MEASURED)
def test_a_draw_takes_as_many_cycles_as_it_did(scene: tuple[int, float]) -> None:
    assert counted(triangles(*scene)) == MEASURED[scene]


@pytest.mark.parametrize("scene", SHARES)
def test_pixels_hide_the_set_up_of_triangles(scene: tuple[int, float]) -> None:
    count, size = scene
    (once, few), (twice, many) = (counted(triangles(number, size)) for number in (count, 2 * count))
    assert GROUP_CYCLES * (many - few) / (twice - once) >= SHARES[scene]
