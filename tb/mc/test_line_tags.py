"""LineTags: which lines hit, where, and which line the next one replaces."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import CacheConfig
from ctm.rtl.mc.lines.tags import LineTags
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

CYCLES, LINES = fewer(2500), 24


class Set:
    """The ways of a set: of each the line that hits, if one does, and the row that it owns."""

    def __init__(self, ways: int) -> None:
        self.lines: list[int | None] = [None] * ways
        self.rows: list[int | None] = [None] * ways
        self.victim = 0

    def put(self, line: int, row: int) -> None:
        """Replace the victim."""
        self.lines[self.victim], self.rows[self.victim] = line, row
        self.victim = (self.victim + 1) % len(self.lines)


def _line(generator: np.random.Generator) -> int:
    return int(generator.integers(3)) << 20 | int(generator.integers(LINES))


@pytest.mark.parametrize("synchronous", [False, True], ids=["at-once", "synchronous"])
@pytest.mark.parametrize(("sets", "ways"), [(1, 1), (4, 1), (1, 4), (4, 2), (2, 8)])
def test_random_lines(sets: int, ways: int, synchronous: bool) -> None:
    generator = np.random.default_rng(sets + ways)
    rows = sets * ways + 3
    unit, model = (
        LineTags(CacheConfig(sets=sets, ways=ways), rows, synchronous=synchronous),
        [Set(ways) for _ in range(sets)],
    )
    hits = 0

    async def testbench(context: Any) -> None:
        nonlocal hits
        line = 0
        for _ in range(CYCLES):
            own = model[line % sets]
            drops, invalidates = generator.random() < 0.05, generator.random() < 0.01
            context.set(unit.line, line)
            way, entry = int(generator.integers(ways)), int(generator.integers(sets))
            context.set(unit.invalidate_entry, {"valid": drops, "entry": {"set": entry, "way": way}})
            context.set(unit.invalidate, invalidates)
            misses = False
            if not drops:
                hit = line in own.lines
                assert context.get(unit.hit) == hit
                if hit:
                    assert context.get(unit.row) == own.rows[own.lines.index(line)]
                position, owned = context.get(unit.entry), context.get(unit.owned)
                assert (position.set, position.way) == (line % sets, own.victim)
                assert owned.valid == (own.rows[own.victim] is not None)
                assert not owned.valid or owned.row == own.rows[own.victim]
                hits, misses = hits + hit, not hit and not invalidates and generator.random() < 0.7
            row = int(generator.integers(rows))
            context.set(unit.put, {"valid": misses, "row": row})
            # The line may stay in a cycle in which nothing is put.
            advances, after = misses or generator.random() < 0.7, _line(generator)
            if synchronous:
                context.set(unit.next_line, after)
                context.set(unit.advances, advances)
            await context.tick()
            if misses:
                own.put(line, row)
            if drops:
                model[entry].lines[way] = None
            if invalidates:
                for each in model:
                    each.lines = [None] * ways
            line = after if advances else line

    simulate(unit, testbench)
    assert hits > 0
