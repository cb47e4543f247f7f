"""The arithmetic units of an R5xx core by name, for tests, measurements and synthesis of all."""

from collections.abc import Callable

from amaranth.lib import wiring

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp import units
from ctm.rtl.fp.function_table import with_table
from ctm.rtl.r5xx.alu.lane import Lane

UNITS: dict[str, Callable[[PipelineConfig], wiring.Component]] = {**units.UNITS, "lane": with_table(Lane)}
