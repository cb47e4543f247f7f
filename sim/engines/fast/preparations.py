"""The functions that compile launches and draws, by instruction set; a set without one in `STAGES` has no draws."""

from ctm.sim.engines.fast.core import MakeStages, Prepare
from ctm.sim.engines.fast.r5xx.preparation import prepare as prepare_r5xx
from ctm.sim.engines.fast.r700.draws.stages import FastStages
from ctm.sim.engines.fast.r700.preparation import prepare as prepare_r700

STAGES: dict[str, MakeStages] = {"r700": FastStages}
PREPARATIONS: dict[str, Prepare] = {"r5xx": prepare_r5xx, "r700": prepare_r700}
