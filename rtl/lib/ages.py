"""Which of several entries is the oldest."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.lib.encoding import one_hot_index


class Ages(wiring.Component):
    """Keeps the order in which entries were renewed, and picks the oldest of each of several sets of candidates.

    Picks are combinational; a renewed entry is the youngest from the next cycle on. One bit for each pair of entries.

    Members
    -------
    renew : ``In(entries)``
        Entry that is now the youngest, one-hot or 0.
    defer : ``In(entries)``
        Entry that is now younger than all others but the renewed one; one-hot, another one than that, or 0.
    candidates : ``In(entries)`` for each set
    found : ``Out(1)`` for each set
        Whether it has a candidate.
    oldest : ``Out(range(entries))`` for each set
    """

    def __init__(self, entries: int, sets: int) -> None:
        if entries < 2:
            raise ValueError(f"entries must be at least 2, not {entries}")
        self._entries, self._sets = entries, sets
        super().__init__(
            {
                "renew": In(entries),
                "defer": In(entries),
                "candidates": In(entries).array(sets),
                "found": Out(1).array(sets),
                "oldest": Out(range(entries)).array(sets),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        older = [Signal(self._entries, name=f"older_than_{entry}") for entry in range(self._entries)]
        for entry, others in enumerate(older):
            deferred = Mux(self.defer[entry], ~(1 << entry), others & ~self.defer)
            m.d.sync += others.eq(Mux(self.renew[entry], ~(1 << entry), deferred & ~self.renew))
        for number in range(self._sets):
            candidates = self.candidates[number]
            picked = Signal(self._entries, name=f"picked_{number}")
            m.d.comb += [
                picked.eq(Cat(candidates[entry] & ~(candidates & others).any() for entry, others in enumerate(older))),
                self.found[number].eq(candidates.any()),
                self.oldest[number].eq(one_hot_index(picked)),
            ]
        return m
