"""Ages against a list in order of age."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.lib.ages import Ages
from ctm.tb.lib.streams import simulate

CYCLES = 300


@pytest.mark.parametrize(("entries", "sets"), [(2, 1), (3, 2), (8, 5), (16, 3), (64, 2)])
def test_the_oldest_candidate_of_each_set_is_found(entries, sets):
    generator = np.random.default_rng(entries)
    ages = Ages(entries, sets)
    order: list[int] = []
    """Entries that were ever renewed, the oldest first. Of the others none is older than any other: not looked at."""

    def subset() -> int:
        chosen = [entry for entry in order if generator.random() < generator.choice([0.1, 0.5, 0.95])]
        return sum(1 << entry for entry in chosen)

    async def testbench(context: Any) -> None:
        for number in range(entries + CYCLES):
            candidates = [subset() for _ in range(sets)]
            renewed = number if number < entries else int(generator.integers(entries))
            renews = number < entries or generator.random() < 0.5
            deferred = int(generator.choice(order)) if order else renewed
            defers = deferred != renewed and generator.random() < 0.5
            context.set(ages.renew, 1 << renewed if renews else 0)
            context.set(ages.defer, 1 << deferred if defers else 0)
            for port, bits in zip(ages.candidates, candidates, strict=True):
                context.set(port, bits)
            for found, oldest, bits in zip(ages.found, ages.oldest, candidates, strict=True):
                assert context.get(found) == (bits != 0)
                if bits:
                    assert context.get(oldest) == next(entry for entry in order if bits >> entry & 1)
            await context.tick()
            if defers:
                order[:] = [entry for entry in order if entry != deferred] + [deferred]
            if renews:
                order[:] = [entry for entry in order if entry != renewed] + [renewed]

    simulate(ages, testbench)
