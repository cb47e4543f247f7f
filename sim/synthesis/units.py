"""The units that ``ctm synth`` knows, by name."""

from collections.abc import Callable
from functools import partial

from amaranth.lib import wiring

from rtl.config import PipelineConfig
from rtl.fp import units as arithmetic

UNITS: dict[str, Callable[[], wiring.Component]] = {
    name: partial(make, PipelineConfig()) for name, make in arithmetic.UNITS.items()
}
