"""Random work on hardware whose streams stand still at random: no unit relies on its neighbour's timing."""

from pathlib import Path

import pytest

from ctm.rtl.config import DRAW_PRESET, PRESETS, MachineConfig
from ctm.sim.compiled.machine import simulated
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.engines.model import TOP, hardware, key
from ctm.sim.engines.rtl import wrapper
from ctm.tb.draws.soak import R700_DRAWS
from ctm.tb.soak import stalls
from ctm.tb.soak.comparison import Comparison, Hardware
from ctm.tb.soak.programs import R5XX
from ctm.tb.soak.r700 import R700
from ctm.tb.soak.work import draw_work

_SOURCES = {"tiny": R5XX, "r700": R700, DRAW_PRESET: R700_DRAWS}
_RUNS = 100
_BORDERS = (
    "machine", "mc.controller", "dpp.array", "pe.processor", "pe.program_run", "pe.loader", "pe.window", "pe.launcher",
)  # fmt: skip
_OF_DRAWS = ("draw.pipeline", "vgt.grouper", "vgt.emit_grouper")
"""Modules that connect units. Inside of a unit streams may rely on each other."""
_LEAST_STREAMS = 80


def library(config: MachineConfig) -> Path:
    """The compiled machine with stalls."""
    config = hardware(config)
    modules = (*_BORDERS, *(_OF_DRAWS if config.pipeline.draws else ()))

    def model() -> Model:
        with stalls.injected(*modules) as names:
            made = simulated(config, top=TOP)
        assert len(names) > _LEAST_STREAMS
        return made

    own = Path(stalls.__file__).read_text()
    return build(model, wrapper(config, "verilated_model.h"), key=f"{own} {modules} {key(config)}")


@pytest.mark.long
@pytest.mark.parametrize("preset", _SOURCES)
def test_random_work_leaves_the_same_with_stalls(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stalled, source = library(PRESETS[preset]), _SOURCES[preset]
    monkeypatch.setattr(Hardware, "library", staticmethod(lambda config, tell=None: stalled))
    for seed in range(_RUNS):
        Comparison(draw_work(seed, source), PRESETS[preset]).run()
