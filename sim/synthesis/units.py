"""The units that ``ctm synth`` knows, by name."""

import inspect
from collections.abc import Callable
from functools import partial

from amaranth.lib import wiring

from ctm.rtl.config import PipelineConfig
from ctm.rtl.r5xx import units as arithmetic
from ctm.rtl.r700.lane.lane import Lane

UNITS: dict[str, Callable[[], wiring.Component]] = {
    name: partial(make, PipelineConfig()) for name, make in {**arithmetic.UNITS, "r700_lane": Lane}.items()
}


def summary(name: str) -> str:
    """What a unit computes: the first line of the description of its class."""
    make: Callable[..., wiring.Component] = UNITS[name]
    while isinstance(make, partial):
        make = make.func
    return (inspect.getdoc(make) or "").partition("\n")[0]
