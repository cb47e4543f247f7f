"""No output of the rasterizer, or of a unit in it at a declared border, follows from an input in the same cycle."""

import pytest

from ctm.rtl.pa.rasterizer import Rasterizer
from ctm.rtl.pa.strips import StripWalker
from ctm.tb.border.units import border_ports, pairs_of


@pytest.mark.parametrize("lanes", [4, 64])
def test_every_border_has_a_register(lanes: int) -> None:
    unit = Rasterizer(vertices=64, records=16, lanes=lanes)
    inputs, outputs = border_ports(unit)
    assert "strip__ready" in inputs and "strip__payload" in outputs and "records__write" in outputs
    assert not pairs_of(unit)


@pytest.mark.parametrize("lanes", [2, 12])
def test_lanes_are_whole_quads_in_a_power_of_two(lanes: int) -> None:
    with pytest.raises(ValueError, match=f"power of two from 4 on, not {lanes}"):
        StripWalker(lanes, 64, 16)
