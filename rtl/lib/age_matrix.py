"""Which of several entries comes first."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.lib.encoding import one_hot_index

ROUND_BITS = 4
"""Width of an entry's round, which wraps: distances of half of all rounds or more count as negative."""


class AgeMatrix(wiring.Component):
    """An age matrix with rounds: picks the oldest entry of each of several sets of candidates.

    An entry that comes to its next round becomes younger than all entries that are in no later round. So an entry that
    was delayed has priority until it has caught up, and entries that do the same work stay together. A renewed entry
    keeps its round.

    Picks are combinational. A renewed entry is the youngest from the next cycle on; a deferred one has its new age a
    cycle later. The matrix has one bit for each pair of entries.

    Members
    -------
    renew : ``In(entries)``
        Entry that is now the youngest, one-hot or 0.
    defer : ``In(entries)``
        Entry that comes to its next round, one-hot or 0. It must not be renewed in this cycle or the next one.
    present : ``In(entries)``
        Entries that have a round; the others are not compared.
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
                "present": In(entries),
                "candidates": In(entries).array(sets),
                "found": Out(1).array(sets),
                "oldest": Out(range(entries)).array(sets),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        entries = range(self._entries)
        # The first one of the pair is the older one.
        older = {(one, other): Signal(name=f"older_{one}_{other}") for other in entries for one in range(other)}
        elders = [
            Cat(
                Const(0, 1) if one == entry else older[one, entry] if one < entry else ~older[entry, one]
                for one in entries
            )
            for entry in entries
        ]
        deferred = Signal(self._entries)
        m.d.sync += deferred.eq(self.defer)
        predecessors = self._predecessors(m, deferred, elders)
        for (one, other), is_older in older.items():
            with m.If(self.renew[one] | self.renew[other]):
                m.d.sync += is_older.eq(self.renew[other])
            with m.Elif(deferred[one]):
                m.d.sync += is_older.eq(~predecessors[other])
            with m.Elif(deferred[other]):
                m.d.sync += is_older.eq(predecessors[one])
        for number in range(self._sets):
            candidates = self.candidates[number]
            picked = Signal(self._entries, name=f"picked_{number}")
            m.d.comb += [
                picked.eq(Cat(candidates[entry] & ~(candidates & elders[entry]).any() for entry in entries)),
                self.found[number].eq(candidates.any()),
                self.oldest[number].eq(one_hot_index(picked)),
            ]
        return m

    def _predecessors(self, m: Module, deferred: Value, elders: Sequence[Value]) -> Signal:
        """Entries older than the deferred one: those in no later round, and all that are older than one of them.

        The latter keep the order transitive.
        """
        rounds = [Signal(ROUND_BITS, name=f"round_{entry}") for entry in range(self._entries)]
        own, level, predecessors = Signal(ROUND_BITS), Signal(self._entries), Signal(self._entries)
        last = Cat(
            Cat(number[position] & ours for number, ours in zip(rounds, deferred, strict=True)).any()
            for position in range(ROUND_BITS)
        )
        m.d.comb += own.eq(last + 1)
        for entry, number in enumerate(rounds):
            distance = (number - own)[:ROUND_BITS].as_signed()
            m.d.comb += [
                level[entry].eq(self.present[entry] & ~deferred[entry] & (distance <= 0)),
                predecessors[entry].eq(
                    level[entry] | Cat(each & others[entry] for each, others in zip(level, elders, strict=True)).any()
                ),
            ]
            with m.If(deferred[entry]):
                m.d.sync += number.eq(own)
        return predecessors
