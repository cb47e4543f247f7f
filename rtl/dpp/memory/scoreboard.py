"""Scoreboard of outstanding fetches and acquiring writes, and the semaphore that waits for them.

Source: CTM Guide pp. 24-26, 31.
"""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import Outstanding, wave_bits
from ctm.rtl.lib.ram import DistributedRam


class Scoreboard(wiring.Component):
    """Counts each wave slot's outstanding fetches, which return in order, and its acquiring write.

    An acquired semaphore is taken until all fetches up to that one have returned, or the write is done. Events take
    effect in the next cycle.

    Members
    -------
    texture : ``In({valid, wave, fetches, acquires})``
        A texture instruction.
    entry : ``Out(config.fetch_entry_bits)``
        The index of that fetch among those of its wave slot.
    returned : ``In({valid, wave})``
        A wave slot's oldest fetch is done.
    write, written : ``In({valid, wave})``
        An acquiring write is in flight; it and all earlier ones are done.
    waves : ``In(Outstanding(threads))``
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        at_wave = {"valid": 1, "wave": wave_bits(config)}
        event = data.StructLayout(at_wave)
        super().__init__(
            {
                "texture": In(data.StructLayout(at_wave | {"fetches": 1, "acquires": 1})),
                "entry": Out(config.fetch_entry_bits),
                "returned": In(event),
                "write": In(event),
                "written": In(event),
                "waves": In(Outstanding(config.threads)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        config = self._config
        m.submodules.entries = entries = DistributedRam(config.fetch_entry_bits, config.threads)
        fetches = self.texture.valid & self.texture.fetches
        m.d.comb += self.entry.eq(entries.read(m, self.texture.wave))
        entries.write(m, self.texture.wave, (self.entry + 1) % config.lookups, fetches)

        writing, still_writing = Signal(config.threads), Signal(config.threads)
        drained = Signal(config.threads, init=-1)
        for wave in range(config.threads):
            pending, held = (Signal(range(config.lookups + 1), name=f"{name}_{wave}") for name in ("pending", "held"))
            texture = self.texture.valid & (self.texture.wave == wave)
            returned = self.returned.valid & (self.returned.wave == wave)
            writes = self.write.valid & (self.write.wave == wave)
            written = self.written.valid & (self.written.wave == wave)
            following, still_held = Signal.like(pending), Signal.like(held)
            m.d.comb += [
                following.eq(pending + (texture & self.texture.fetches) - returned),
                still_held.eq(Mux(texture & self.texture.acquires, following, held - (returned & held.any()))),
                still_writing[wave].eq(writes | writing[wave] & ~written),
            ]
            m.d.sync += [
                pending.eq(following),
                held.eq(still_held),
                self.waves.blocked[wave].eq(still_held.any() | still_writing[wave]),
                self.waves.full[wave].eq(following == config.lookups),
                drained[wave].eq(~following.any() & ~still_writing[wave]),
            ]
        m.d.sync += writing.eq(still_writing)
        m.d.comb += self.waves.drained.eq(drained)
        return m
