"""Real compiled programs: right results, whatever the size of a group and the position of the domain."""

import numpy as np
import pytest

from ctm.tb.r5xx.shaders import NAMES, Shader, run, wrong_pixels

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
        for other, bits in zip(run(shader, domain=whole, lanes=lanes).bits, found.bits, strict=True):
            np.testing.assert_array_equal(other, bits)


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("name", NAMES)
def test_odd_corners_give_covered_pixels_the_same_values(name: str, lanes: int) -> None:
    shader = Shader.load(name)
    width, height = shader.grid
    whole = run(shader, domain=(0, 0, width - 1, height - 1))
    for i0, j0, i1, j1 in ((1, 1, width - 2, height - 2), (3, 2, 3, 2), (0, 1, width - 1, 1)):
        found = run(shader, domain=(i0, j0, i1, j1), lanes=lanes)
        inside = (slice(None), slice(j0, j1 + 1), slice(i0, i1 + 1))
        expected = np.full_like(whole.outputs, shader.document["unwritten"])
        expected[inside] = whole.outputs[inside]
        np.testing.assert_array_equal(found.outputs.view(np.uint32), expected.view(np.uint32))
        if found.depth is not None:
            assert whole.depth is not None
            expected = np.full_like(whole.depth, shader.document["unwritten"])
            expected[inside[1:]] = whole.depth[inside[1:]]
            np.testing.assert_array_equal(found.depth.view(np.uint32), expected.view(np.uint32))


def test_programs_that_write_the_conditional_value_are_among_them() -> None:
    assert [name for name in NAMES if "expected_depth" in Shader.load(name).arrays] == ["depth_out", "depth_out_noopt"]


@pytest.mark.parametrize("name", NAMES)
def test_compiled_programs_have_no_hazards(name: str) -> None:
    shader = Shader.load(name)
    width, height = shader.grid
    run(shader, domain=(0, 0, width - 1, height - 1), hazards=True)
