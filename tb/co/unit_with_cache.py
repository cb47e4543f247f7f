"""The conditional unit and its cache as one component."""

from amaranth import Module
from amaranth.lib import wiring

from ctm.rtl.co.unit import CLIENTS, ConditionalUnit, passenger_layout
from ctm.rtl.config import CacheConfig
from ctm.rtl.lib.forwarding import forward
from ctm.rtl.mc.conditional.cache import DEFAULT, ConditionalCache

_OF_THE_UNIT = ("command", "target", "format_legal", "tests_pe", "tests_dpp")
_OF_THE_CACHE = (
    "lines", "line_write", "line_written", "invalidate", "flush", "flushed", "lost", "hit",
    "miss",
)  # fmt: skip


class UnitWithCache(wiring.Component):
    """All ports of both but those between them; `idle` if both are, `unit_idle` if the unit is."""

    def __init__(self, lanes: int, config: CacheConfig = DEFAULT, *, outstanding: int = 8, waiting: int = 32) -> None:
        self._units = (
            ConditionalUnit(lanes),
            ConditionalCache(passenger_layout(lanes), config, outstanding=outstanding, waiting=waiting),
        )
        unit, cache = (each.signature.members for each in self._units)
        super().__init__(
            {name: unit[name] for name in _OF_THE_UNIT}
            | {"clients": unit["clients"], "unit_idle": unit["idle"]}
            | {name: cache[name] for name in (*_OF_THE_CACHE, "idle")}
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.unit, m.submodules.cache = unit, cache = self._units
        wiring.connect(m, unit.cache, cache.client)
        forward(m, self, unit, _OF_THE_UNIT)
        forward(m, self, cache, _OF_THE_CACHE)
        for number in range(len(CLIENTS)):
            wiring.connect(m, wiring.flipped(self.clients[number]), unit.clients[number])
        m.d.comb += [self.unit_idle.eq(unit.idle), self.idle.eq(unit.idle & cache.idle)]
        return m
