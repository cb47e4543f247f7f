"""The arithmetic units as the tests have them: cases, pipelines, compiled."""

from functools import cache

from ctm.rtl.config import PipelineConfig
from ctm.rtl.r5xx.units import UNITS
from ctm.sim.compiled import CompiledUnit
from ctm.tb.fp.cases import CASES
from ctm.tb.r5xx.lane_case import LANE

ALL_CASES = {**CASES, "lane": LANE}
DEEP = PipelineConfig()
SHALLOW = PipelineConfig(operands=0, product=0, alignment=0, addition=0, normalisation=0, rounding=0, result=0)
"""Only the register that a table needs."""

RANDOM_OPERANDS = 250_000
"""Of each unit in the ordinary suite; with them, after the corners, every planted mistake is found."""


@cache
def compiled(name: str, config: PipelineConfig) -> CompiledUnit:
    return CompiledUnit(UNITS[name](config))
