"""A draw on a board: the host sends what it reads over a serial line, and gets back what it wrote."""

import pytest

from ctm.sim.runtime import Device
from ctm.tb.board.stand_in import StandIn
from ctm.tb.board.terminal import Terminal
from ctm.tb.draws.random_draws import scene
from ctm.tb.draws.scene import drawn, drawn_on
from ctm.tb.lib.machines import machine

_GEOMETRY, _PLAIN = 2, 8
"""Seeds of a scene with a geometry program and streams, and of one with depth."""
CONFIG = machine("draws")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [_PLAIN, _GEOMETRY])
def test_targets_depth_and_streams_are_the_golden_models(seed: int) -> None:
    made = scene(seed)
    assert bool(made.streams) == (seed == _GEOMETRY)
    with Terminal(StandIn(CONFIG), idle=0.0005) as terminal:
        found = drawn_on(made, Device("serial", CONFIG, port=terminal.port))
    wanted = drawn(made, wavefront=CONFIG.array.wavefront_lanes)
    assert found.target.tobytes() == wanted.target.tobytes() and found.depth.tobytes() == wanted.depth.tobytes()
    assert [each.tobytes() for each in found.streams] == [each.tobytes() for each in wanted.streams]
    assert wanted.covered.any()
