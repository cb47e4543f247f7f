"""The host's end of the control bus."""

from typing import Any

import numpy as np

from ctm.rtl.isa.host import COUNTERS, COUNTERS_OFFSET, REGISTERS
from ctm.rtl.isa.word import pack, unpack

_REGISTERS = {register.name: register for register in REGISTERS}
_DEADLINE = 200
_OKAY = 0


class Driver:
    """Reads and writes registers; with `stall` address, data and response wait at random.

    `each_cycle` is called in every cycle in front of its clock edge.
    """

    def __init__(self, bus: Any, *, stall: float = 0, seed: int = 1) -> None:
        self._bus, self._stall = bus, stall
        self._generator = np.random.default_rng(seed)
        self.each_cycle: Any = lambda context: None

    async def clock(self, context: Any) -> None:
        """One cycle."""
        self.each_cycle(context)
        await context.tick()

    def _goes(self) -> bool:
        return bool(self._generator.random() >= self._stall)

    async def write(self, context: Any, offset: int, value: int, strobe: int = 15) -> None:
        """Write a register."""
        bus, remaining = self._bus, {"aw", "w"}
        offered: set[str] = set()
        context.set(bus.aw.payload, offset)
        context.set(bus.w.payload.bits, value)
        context.set(bus.w.payload.strobe, strobe)
        responded = False
        for _ in range(_DEADLINE):
            offered |= {name for name in sorted(remaining) if self._goes()}
            for name in ("aw", "w"):
                context.set(getattr(bus, name).valid, name in offered and name in remaining)
            takes = self._goes()
            context.set(bus.b.ready, takes)
            if context.get(bus.b.valid):
                assert not remaining, "no response before address and data have come"
                assert context.get(bus.b.payload) == _OKAY
                responded = takes
            remaining -= {name for name in offered if context.get(getattr(bus, name).ready)}
            await self.clock(context)
            if responded:
                context.set(bus.b.ready, 0)
                return
        raise AssertionError("a write has no response")

    async def read(self, context: Any, offset: int) -> int:
        """Read a register."""
        bus, offers, taken = self._bus, False, False
        context.set(bus.ar.payload, offset)
        for _ in range(_DEADLINE):
            offers = offers or self._goes()
            context.set(bus.ar.valid, offers and not taken)
            takes = self._goes()
            context.set(bus.r.ready, takes)
            response = None
            if context.get(bus.r.valid):
                assert taken, "no response before the address has come"
                assert context.get(bus.r.payload.response) == _OKAY
                response = int(context.get(bus.r.payload.bits)) if takes else None
            taken = taken or bool(offers and context.get(bus.ar.ready))
            await self.clock(context)
            if response is not None:
                context.set(bus.r.ready, 0)
                return response
        raise AssertionError("a read has no response")

    async def set(self, context: Any, name: str, **fields: int) -> None:
        """Write the fields of a register."""
        await self.write(context, _REGISTERS[name].offset, pack(_REGISTERS[name].layout, **fields))

    async def get(self, context: Any, name: str) -> dict[str, int]:
        """Read the fields of a register."""
        return unpack(_REGISTERS[name].layout, await self.read(context, _REGISTERS[name].offset))

    async def counter(self, context: Any, name: str) -> int:
        """Read a counter."""
        return await self.read(context, COUNTERS_OFFSET + 4 * list(COUNTERS).index(name))
