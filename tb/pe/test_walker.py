"""The domain walk: rows and tiles, of all shapes, in hardware and in the golden model."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.config import WALKS, ArrayConfig
from ctm.rtl.pe.walker import DomainWalker
from ctm.sim.golden.pe.domain import Domain
from ctm.tb.lib.planting import Fault, planted
from ctm.tb.lib.seeds import seeds

Place = tuple[int, int, int]
"""The (i, j) of a group's first processor, and its mask of covered processors."""
TILES = (*WALKS.values(), (1, 2, 3), (3,))
_LONGEST = 400


def expected(domain: Domain, lanes: int, tiles: Sequence[int], most: int = 1 << 20) -> list[Place]:
    """What the golden model walks."""
    found = []
    for groups in domain.groups(lanes, most, tiles):
        masks = groups.covered().reshape(-1, lanes) @ (1 << np.arange(lanes))
        found += list(zip(groups.i.tolist(), groups.j.tolist(), masks.tolist(), strict=True))
    return found


def by_recursion(columns: int, rows: int, width: int, height: int, tiles: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Columns and rows of groups by the words of the definition; a group is `width` quads wide."""

    def inside(left: int, bottom: int, right: int, top: int, sides: Sequence[int]) -> Iterator[tuple[int, int]]:
        if not sides:
            yield from ((column, row) for row in range(bottom, top) for column in range(left, right))
            return
        *smaller, side = sides
        across, up = max(1, (1 << side) // width), 1 << side
        for lower in range(bottom, top, up):
            for first in range(left, right, across):
                yield from inside(first, lower, min(first + across, right), min(lower + up, top), smaller)

    yield from inside(0, 0, columns, rows, tiles)


def walked(walker: DomainWalker, domain: Domain, seed: int, most: int = 1 << 20) -> list[Place]:
    """What the hardware walks, to somebody who is not always ready; `most` groups of it."""
    found: list[Place] = []
    generator = np.random.default_rng(seed)

    async def bench(context) -> None:
        context.set(walker.domain, vars(domain))
        context.set(walker.start, 1)
        await context.tick()
        context.set(walker.start, 0)
        while context.get(walker.busy) and len(found) < most:
            ready = int(generator.random() < 0.8)
            context.set(walker.group.ready, ready)
            if ready and context.get(walker.group.valid):
                group = context.get(walker.group.payload)
                found.append((group.i, group.j, group.covered))
            await context.tick()

    simulator = Simulator(walker)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found


def draw(seed: int) -> tuple[int, Domain]:
    """A number of lanes, and a domain anywhere that is not too large."""
    generator = np.random.default_rng(seed)
    lanes = int(generator.choice([4, 8, 16]))
    width = int(generator.choice([1, 3, 9, 40, 130]))
    height = int(generator.integers(1, max(2, 4 * _LONGEST // (width + 2 * lanes))))
    i0 = int(generator.choice([0, 1, 7, 4095 - width, generator.integers(4095 - width)]))
    j0 = int(generator.choice([0, 5, 4095 - height, generator.integers(4095 - height)]))
    return lanes, Domain(i0=i0, j0=j0, i1=i0 + width, j1=j0 + height)


@pytest.mark.parametrize("tiles", TILES)
@pytest.mark.parametrize("seed", seeds(8, 200))
def test_hardware_walks_as_the_golden_model(seed: int, tiles: tuple[int, ...]) -> None:
    lanes, domain = draw(seed)
    places = expected(domain, lanes, tiles)
    assert walked(DomainWalker(lanes, tiles), domain, seed) == places
    assert expected(domain, lanes, tiles, most=7) == places
    columns, rows = domain.shape(lanes)
    left, bottom = domain.i0 & ~1, domain.j0 & ~1
    order = by_recursion(columns, rows, lanes // 4, 1, tiles)
    assert [place[:2] for place in places] == [(left + lanes // 2 * i, bottom + 2 * j) for i, j in order]


FAULTS = {
    "a cut tile is taken for a whole one": Fault("rtl.pe.walker", "ends = place == last", "ends = Const(0)"),
    "a tile ends a place too early": Fault("rtl.pe.walker", "ends = place == last", "ends = place + 1 == last"),
    "tiles of a large tile are not walked in rows": Fault(
        "rtl.pe.walker", "enumerate(highs)", "reversed(list(enumerate(highs)))"
    ),
    "groups of several quads have as many columns in a tile": Fault("rtl.pe.walker", "tile - quads", "tile"),
    "a column does not go back to the first one": Fault("rtl.pe.walker", "Mux(ends, 0, digit + 1)", "digit + 1"),
    "the first column is forgotten": Fault("rtl.pe.walker", "i.eq(left + ", "i.eq("),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_found(name: str) -> None:
    with planted(FAULTS[name], "ctm.rtl.pe.walker") as walker:
        wrong = False
        for seed in range(12):
            lanes, domain = draw(seed)
            places = expected(domain, lanes, (2, 4))
            wrong |= walked(walker.DomainWalker(lanes, (2, 4)), domain, seed, len(places) + 1) != places
            if wrong:
                break
    assert wrong


@pytest.mark.parametrize("tiles", TILES)
def test_the_largest_domain(tiles: tuple[int, ...]) -> None:
    domain, seen = Domain(i0=0, j0=0, i1=4095, j1=4095), np.zeros((2048, 2048), bool)
    for groups in domain.groups(4, 1 << 14, tiles):
        seen[groups.j // 2, groups.i // 2] = True
    assert seen.all()


def test_a_walk_is_chosen_by_name() -> None:
    assert ArrayConfig().tiles == ()
    assert ArrayConfig(walk="tiles").tiles == (2, 4)
    with pytest.raises(ValueError, match="walk must be one of rows, tiles, not 'spiral'"):
        ArrayConfig(walk="spiral")
