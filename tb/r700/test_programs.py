"""Programs that independent compilers made, against what a software renderer or the same C on the host gives."""

import numpy as np
import pytest

from ctm.tb.r700.shaders import FILES, Shader, run, wrong_pixels

_CHAOTIC_SHARE = 0.03
"""Share of the pixels that a program may miss in which rounding decides."""
PROGRAMS = 167


def test_all_are_there() -> None:
    assert len(FILES) == PROGRAMS


@pytest.mark.parametrize("name", FILES)
def test_program(name: str) -> None:
    shader = Shader.load(name)
    found = run(shader, wavefront=16)
    wrong = wrong_pixels(shader, found)
    allowed = int(_CHAOTIC_SHARE * wrong.size) if shader.document["chaotic"] else shader.document["edge_pixels"]
    assert np.count_nonzero(wrong) <= allowed
    for wavefront in (4, 64):
        other = run(shader, wavefront=wavefront)
        for one, two in zip(found.bits, other.bits, strict=True):
            np.testing.assert_array_equal(one, two, f"wavefronts of {wavefront}")
