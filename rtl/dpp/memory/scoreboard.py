"""What groups have asked of memory and not yet got, and the semaphore that waits for it.

Source: CTM Guide pp. 24-26, 31.
"""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.groups.scheduling import slot_bits
from ctm.rtl.lib.ram import DistributedRam


class Scoreboard(wiring.Component):
    """Counts each slot's lookups, which come back in order, and notes acquiring writes.

    A semaphore that is acquired is taken until all lookups up to that one have come back, or the write is done. Events
    count from the next cycle on.

    Members
    -------
    texture : ``In({valid, slot, looks_up, acquires})``
        A texture instruction.
    entry : ``Out(range(lookups))``
        The number of that lookup among those of its slot.
    returned : ``In({valid, slot})``
        A slot's oldest lookup is done.
    write, written : ``In({valid, slot})``
        An acquiring write is under way; it and all earlier ones are done.
    blocked, full, quiet : ``Out(threads)``
        Slots whose semaphore is taken; with as many lookups as they may have; with nothing outstanding.
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        at_slot = {"valid": 1, "slot": slot_bits(config)}
        event = data.StructLayout(at_slot)
        super().__init__(
            {
                "texture": In(data.StructLayout(at_slot | {"looks_up": 1, "acquires": 1})),
                "entry": Out(range(config.lookups)),
                "returned": In(event),
                "write": In(event),
                "written": In(event),
                "blocked": Out(config.threads),
                "full": Out(config.threads),
                "quiet": Out(config.threads),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        m.submodules.entries = entries = DistributedRam(range(config.lookups), config.threads)
        looks_up = self.texture.valid & self.texture.looks_up
        m.d.comb += self.entry.eq(entries.read(m, self.texture.slot))
        entries.write(m, self.texture.slot, (self.entry + 1) % config.lookups, looks_up)

        writing = Signal(config.threads)
        for slot in range(config.threads):
            pending, held = (Signal(range(config.lookups + 1), name=f"{name}_{slot}") for name in ("pending", "held"))
            texture = self.texture.valid & (self.texture.slot == slot)
            returned = self.returned.valid & (self.returned.slot == slot)
            following = Signal.like(pending)
            m.d.comb += following.eq(pending + (texture & self.texture.looks_up) - returned)
            m.d.sync += [
                pending.eq(following),
                held.eq(Mux(texture & self.texture.acquires, following, held - (returned & held.any()))),
            ]
            with m.If(self.write.valid & (self.write.slot == slot)):
                m.d.sync += writing[slot].eq(1)
            with m.Elif(self.written.valid & (self.written.slot == slot)):
                m.d.sync += writing[slot].eq(0)
            m.d.comb += [
                self.blocked[slot].eq(held.any() | writing[slot]),
                self.full[slot].eq(pending == config.lookups),
                self.quiet[slot].eq(~pending.any() & ~writing[slot]),
            ]
        return m
