"""Which of several entries comes first."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.lib.encoding import one_hot_index

ROUND_BITS = 4
"""Of an entry's number of rounds, which wraps: one that is half of these rounds behind another counts as before it."""


class AgeMatrix(wiring.Component):
    """Keeps the order of entries, by rounds and by age, and picks the oldest of each of several sets of candidates.

    An entry that comes to its next round goes behind all that are in no later one, and stays before those that are. So
    entries that do the same stay together: who was late has precedence until the others are overtaken. Rounds are not
    forgotten when an entry is renewed, so what comes next in it is where the entry was.

    Picks are combinational; a renewed entry is the youngest from the next cycle on, a deferred one has its new place a
    cycle later. One bit for each pair of entries.

    Members
    -------
    renew : ``In(entries)``
        Entry that is now the youngest, one-hot or 0.
    defer : ``In(entries)``
        Entry that comes to its next round, one-hot or 0; another one than is renewed in this cycle or the next one.
    present : ``In(entries)``
        Entries behind which others are put; the rest is in no round.
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
        # Of each pair the first one is the older one.
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
        before = self._before(m, deferred, elders)
        for (one, other), is_older in older.items():
            with m.If(self.renew[one] | self.renew[other]):
                m.d.sync += is_older.eq(self.renew[other])
            with m.Elif(deferred[one]):
                m.d.sync += is_older.eq(~before[other])
            with m.Elif(deferred[other]):
                m.d.sync += is_older.eq(before[one])
        for number in range(self._sets):
            candidates = self.candidates[number]
            picked = Signal(self._entries, name=f"picked_{number}")
            m.d.comb += [
                picked.eq(Cat(candidates[entry] & ~(candidates & elders[entry]).any() for entry in entries)),
                self.found[number].eq(candidates.any()),
                self.oldest[number].eq(one_hot_index(picked)),
            ]
        return m

    def _before(self, m: Module, deferred: Value, elders: Sequence[Value]) -> Signal:
        """Entries that come before the deferred one: those in no later round, and all that are older than one of them.

        The latter because the order is one of age, too, and would not be one otherwise.
        """
        rounds = [Signal(ROUND_BITS, name=f"round_{entry}") for entry in range(self._entries)]
        own, level, before = Signal(ROUND_BITS), Signal(self._entries), Signal(self._entries)
        last = Cat(
            Cat(number[place] & ours for number, ours in zip(rounds, deferred, strict=True)).any()
            for place in range(ROUND_BITS)
        )
        m.d.comb += own.eq(last + 1)
        for entry, number in enumerate(rounds):
            ahead = (number - own)[:ROUND_BITS].as_signed()
            m.d.comb += [
                level[entry].eq(self.present[entry] & ~deferred[entry] & (ahead <= 0)),
                before[entry].eq(
                    level[entry] | Cat(each & others[entry] for each, others in zip(level, elders, strict=True)).any()
                ),
            ]
            with m.If(deferred[entry]):
                m.d.sync += number.eq(own)
        return before
