"""Real compiled programs: right results, whatever the size of a group and the place of the domain."""

import numpy as np
import pytest

from tb.system.shaders import NAMES, Shader, run, wrong_pixels

CHAOTIC_SHARE = 0.03
"""Pixels that a program with chaotic iterations may get differently."""


def test_all_programs_are_here() -> None:
    assert len(NAMES) == 59


@pytest.mark.parametrize("name", NAMES)
def test_result_is_that_of_the_renderer_for_every_group_size(name: str) -> None:
    shader = Shader.load(name)
    width, height = shader.grid
    whole = (0, 0, width - 1, height - 1)
    found = run(shader, domain=whole, lanes=4)
    allowed = CHAOTIC_SHARE if shader.document["chaotic"] else 0.0
    assert wrong_pixels(shader, found).mean() <= allowed
    for lanes in (8, 16):
        np.testing.assert_array_equal(run(shader, domain=whole, lanes=lanes).view(np.uint32), found.view(np.uint32))


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("name", NAMES)
def test_odd_corners_give_covered_pixels_the_same_values(name: str, lanes: int) -> None:
    shader = Shader.load(name)
    width, height = shader.grid
    whole = run(shader, domain=(0, 0, width - 1, height - 1))
    for i0, j0, i1, j1 in ((1, 1, width - 2, height - 2), (3, 2, 3, 2), (0, 1, width - 1, 1)):
        found = run(shader, domain=(i0, j0, i1, j1), lanes=lanes)
        expected = np.full_like(whole, shader.document["unwritten"])
        expected[:, j0 : j1 + 1, i0 : i1 + 1] = whole[:, j0 : j1 + 1, i0 : i1 + 1]
        np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("name", NAMES)
def test_compiled_programs_have_no_hazards(name: str) -> None:
    shader = Shader.load(name)
    width, height = shader.grid
    run(shader, domain=(0, 0, width - 1, height - 1), hazards=True)
