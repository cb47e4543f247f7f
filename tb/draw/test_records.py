"""Records of shapes: each is free until it is taken, and again when all strips of its shape have ended."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.shading import RECORDS
from ctm.rtl.draw.records import Records
from ctm.tb.lib.streams import simulate

STRIPS = 8
"""Most strips in flight."""
CYCLES = 1500


def one(record: int | None, name: str = "record") -> dict[str, int]:
    """An event of a record, or none."""
    return {"valid": int(record is not None), name: record or 0}


class Shapes:
    """Shapes with their records: what may happen in a cycle, and which records are free after it."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator
        self.free = set(range(RECORDS))
        self.open: list[int] = []
        """Taken, and not yet made."""
        self.made: set[int] = set()
        self.strips: Counter[int] = Counter()

    def happens(self, probability: float) -> bool:
        return bool(self.generator.random() < probability)

    def one_of(self, records: list[int]) -> int:
        return records[int(self.generator.integers(len(records)))]

    async def cycle(self, records: Any, context: Any, busy: float) -> None:
        """Draw what happens in a cycle, see that the free record is one, and keep what has changed."""
        takes = self.happens(busy)
        begun = made = ended = None
        in_flight = [record for record, count in self.strips.items() if count]
        if in_flight and self.happens(0.7 if busy < 0.5 else 0.4):
            ended = self.one_of(in_flight)
        if self.open and sum(self.strips.values()) < STRIPS and self.happens(busy):
            begun = self.one_of(self.open)
        if self.open and self.happens(0.3):
            made = begun if begun is not None and self.happens(0.5) else self.one_of(self.open)
        context.set(records.free.ready, int(takes))
        context.set(records.begun, one(begun))
        context.set(records.ended, one(ended))
        context.set(records.made, one(made, "payload"))
        is_free, free = context.get(records.free.valid), context.get(records.free.payload)
        assert is_free == bool(self.free)
        assert not is_free or free in self.free
        # Between the end of the last strip, or its last shape's, and the record's freedom is a cycle.
        leaving = {record for record in self.made if not self.strips[record]}
        self.made -= leaving
        self.free |= leaving
        if is_free and takes:
            self.free.remove(free)
            self.open.append(free)
        if begun is not None:
            self.strips[begun] += 1
        if ended is not None:
            self.strips[ended] -= 1
        if made is not None:
            self.open.remove(made)
            self.made.add(made)
        await context.tick()


@pytest.mark.parametrize("seed", range(3))
def test_a_record_is_free_when_no_pixel_needs_it(seed: int) -> None:
    records, shapes = Records(STRIPS), Shapes(np.random.default_rng(seed))

    async def testbench(context: Any) -> None:
        for number in range(CYCLES):
            await shapes.cycle(records, context, 0.9 if number // 250 % 2 else 0.2)

    simulate(records, testbench)


def test_all_strips_in_flight_may_be_of_one_shape() -> None:
    records = Records(STRIPS)

    async def testbench(context: Any) -> None:
        context.set(records.free.ready, 1)
        taken = context.get(records.free.payload)
        await context.tick()
        context.set(records.free.ready, 0)
        context.set(records.begun, one(taken))
        for _ in range(STRIPS - 1):
            await context.tick()
        context.set(records.made, one(taken, "payload"))
        await context.tick()
        context.set(records.begun, one(None))
        context.set(records.made, one(None, "payload"))
        for ended in [*[taken] * STRIPS, None]:
            assert taken in await used(records, context)
            context.set(records.ended, one(ended))
            await context.tick()
        assert taken not in await used(records, context)

    async def used(records: Records, context: Any) -> set[int]:
        """Records that are not free; none is taken."""
        free = context.get(records.free.payload) if context.get(records.free.valid) else None
        return set(range(RECORDS)) - {free}

    simulate(records, testbench)
