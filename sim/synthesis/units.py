"""The units that ``ctm synth`` knows, by name."""

import inspect
from collections.abc import Callable
from functools import partial

from amaranth.lib import wiring

from ctm.rtl.board.bridge import Bridge, BridgeConfig
from ctm.rtl.config import DEFAULT, PipelineConfig
from ctm.rtl.fp.function_table import with_table
from ctm.rtl.isa.link import BAUD
from ctm.rtl.r5xx import units as arithmetic
from ctm.rtl.r700.lane.lane import Lane

_BOARD = BridgeConfig(
    frequency=50_000_000, baud=BAUD, memory_bytes=32 << 20, data_bits=DEFAULT.memory.data_bits, fingerprint=0x0123_4567
)
UNITS: dict[str, Callable[[], wiring.Component]] = {
    name: partial(make, PipelineConfig()) for name, make in {**arithmetic.UNITS, "r700_lane": with_table(Lane)}.items()
} | {"bridge": partial(Bridge, _BOARD)}


def summary(name: str) -> str:
    """What a unit computes: the first line of the description of its class."""
    make: Callable[..., wiring.Component] = UNITS[name]
    while isinstance(make, partial):
        make = make.func
    return (inspect.getdoc(make) or "").partition("\n")[0]
