"""``ctm bench draws`` measures what is right, and nothing grows faster than linearly."""

import numpy as np
import pytest

from ctm.rtl.config import PRESETS
from ctm.sim.report import draws
from ctm.sim.report.benchmark import WrongResultError


def test_a_mesh_is_measured_on_both_engines() -> None:
    found = draws.measure(PRESETS["r700"], 64, 4)
    assert found.triangles == 32 and found.pixels > 3600
    assert found.seconds > 0 and found.golden_seconds > 0
    assert found.pixel_rate == pytest.approx(found.pixels / found.seconds)
    fields = draws.as_fields([found])["draws"]
    assert fields[0]["times_golden"] == pytest.approx(found.golden_seconds / found.seconds)


def test_different_bits_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    colours = iter((1.0, 0.5))
    usual = draws.mesh

    def other(squares: int) -> tuple[np.ndarray, np.ndarray]:
        vertices, indices = usual(squares)
        vertices[:, 4] = next(colours)
        return vertices, indices

    monkeypatch.setattr(draws, "mesh", other)
    with pytest.raises(WrongResultError, match="leave different bits"):
        draws.measure(PRESETS["r700"], 16, 1)


@pytest.mark.long
def test_a_hundred_thousand_triangles_take_no_more_than_their_share() -> None:
    few, many = (draws.measure(PRESETS["r700"], 1024, squares) for squares in (71, 224))
    assert many.golden_seconds / few.golden_seconds < 1.5 * many.triangles / few.triangles
    assert many.seconds / few.seconds < 1.5 * many.triangles / few.triangles


@pytest.mark.long
def test_fast_is_far_faster_than_golden_for_triangles_of_200_pixels() -> None:
    assert draws.measure(PRESETS["r700"], 1024, 48).times_golden > 10
