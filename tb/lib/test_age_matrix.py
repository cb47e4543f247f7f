"""Age matrix against a list in order."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from ctm.rtl.lib.age_matrix import ROUND_BITS, AgeMatrix
from ctm.tb.lib.planting import Fault, planted
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

CYCLES = fewer(400)
ROUNDS = 1 << ROUND_BITS


class Order:
    """Entries that were ever renewed, the first one first; of the others none comes before any other."""

    def __init__(self) -> None:
        self.entries: list[int] = []
        self.rounds: Counter[int] = Counter()
        self.stayed = 0
        """How often a deferred entry did not become the last one."""

    def renew(self, entry: int) -> None:
        """It is the last one."""
        self.entries[:] = [each for each in self.entries if each != entry] + [entry]

    def defer(self, entry: int, present: set[int]) -> None:
        """It goes after the last of those that are present and in no later round."""
        self.rounds[entry] += 1
        self.entries.remove(entry)
        index = max(
            (index for index, each in enumerate(self.entries, 1) if self._waits(each, entry, present)), default=0
        )
        self.stayed += index < len(self.entries)
        self.entries.insert(index, entry)

    def _waits(self, each: int, entry: int, present: set[int]) -> bool:
        is_later = 0 < (self.rounds[each] - self.rounds[entry]) % ROUNDS < ROUNDS // 2
        return each in present and not is_later


def check(make: type[AgeMatrix], entries: int, sets: int) -> None:
    """Random entries come, are deferred and are candidates, not all of them present.

    Raises
    ------
    AssertionError
        It is not as with the list.
    """
    generator, cycles = np.random.default_rng(entries), min(CYCLES, 6_400 // entries)
    ages, order = make(entries, sets), Order()
    deferred: int | None = None
    """In the last cycle."""

    def subset(*shares: float) -> set[int]:
        return {entry for entry in order.entries if generator.random() < generator.choice(shares)}

    def bits(chosen: Iterable[int | None]) -> int:
        return sum(1 << entry for entry in chosen if entry is not None)

    def one_of(chosen: Iterable[int], share: float, *others: int | None) -> int | None:
        allowed = [entry for entry in chosen if entry not in others]
        return int(generator.choice(allowed)) if allowed and generator.random() < share else None

    async def testbench(context: Any) -> None:
        nonlocal deferred
        for cycle in range(entries + cycles):
            candidates, present = [subset(0.1, 0.5, 0.95) for _ in range(sets)], subset(0.8, 1.0)
            renewed = cycle if cycle < entries else one_of(range(entries), 0.2, deferred)
            defers = one_of(order.entries, 0.7, renewed)
            context.set(ages.renew, bits([renewed]))
            context.set(ages.defer, bits([defers]))
            context.set(ages.present, bits(present))
            for number, chosen in enumerate(candidates):
                context.set(ages.candidates[number], bits(chosen))
                first = next((entry for entry in order.entries if entry in chosen), None)
                assert context.get(ages.found[number]) == (first is not None)
                assert first is None or context.get(ages.oldest[number]) == first
            await context.tick()
            if deferred is not None:
                order.defer(deferred, present)
            if renewed is not None:
                order.renew(renewed)
            deferred = defers

    simulate(ages, testbench)
    assert order.stayed > cycles // 20


@pytest.mark.parametrize(
    ("entries", "sets"), [(2, 1), (3, 2), (8, 5), (16, 3), pytest.param(32, 2, marks=pytest.mark.long)]
)
def test_the_first_candidate_of_each_set_is_found(entries, sets):
    check(AgeMatrix, entries, sets)


FAULTS = {
    name: Fault("rtl.lib.age_matrix", old, new)
    for name, (old, new) in {
        "rounds are not counted": ("sync += number.eq(own)", "sync += number.eq(number)"),
        "an entry keeps its position in its round": ("(distance <= 0)", "(distance < 0)"),
        "rounds do not wrap": ("[:ROUND_BITS].as_signed()", ""),
        "an entry is younger than itself": (" & ~deferred[entry]", ""),
        "an entry is younger than absent ones": ("self.present[entry] & ", ""),
        "an entry older than one of them is lost": ("each & others[entry]", "each & others[entry] & 0"),
        "a deferred entry is before those that it follows": (
            "is_older.eq(~predecessors[other])",
            "is_older.eq(predecessors[other])",
        ),
        "a renewed entry is the oldest": ("is_older.eq(self.renew[other])", "is_older.eq(self.renew[one])"),
        "a pair looks at one of its entries": ("self.renew[one] | self.renew[other]", "self.renew[one]"),
    }.items()
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_found(name):
    with planted(FAULTS[name], "ctm.rtl.lib.age_matrix") as module, pytest.raises(AssertionError):
        check(module.AgeMatrix, 8, 2)
