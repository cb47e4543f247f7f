"""The domain walk: rows and tiles, of all shapes, in hardware and in the golden model."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.config import ArrayConfig
from ctm.rtl.pe.walker import DomainWalker
from ctm.sim.golden.pe.domain import Domain
from ctm.tb.lib.planting import Fault, planted
from ctm.tb.lib.seeds import seeds

Coordinates = tuple[int, int, int]
"""The (i, j) of a wavefront's first pixel, and its mask of covered pixels."""
Given = tuple[int, Coordinates]
"""A core and the coordinates of its wavefront."""
TILES = ((), ArrayConfig(walk="tiles").tiles, (2, 4), (1, 2, 3), (3,))
_LONGEST = 400


def expected(domain: Domain, lanes: int, tiles: Sequence[int], most: int = 1 << 20) -> list[Coordinates]:
    """What the golden model walks."""
    found = []
    for wavefronts in domain.wavefronts(lanes, most, tiles):
        masks = wavefronts.covered().reshape(-1, lanes) @ (1 << np.arange(lanes))
        found += list(zip(wavefronts.i.tolist(), wavefronts.j.tolist(), masks.tolist(), strict=True))
    return found


def by_recursion(columns: int, rows: int, width: int, height: int, tiles: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Columns and rows of wavefronts by the words of the definition; a wavefront is `width` quads wide."""

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


def given(
    walker: DomainWalker, domain: Domain, seed: int, most: int, shares: Sequence[int] = (1,)
) -> tuple[list[Given], list[int]]:
    """The wavefronts that the hardware walks, with a sink that stalls; at most `most`.

    Cores come in an order of their own, in which each has its share; they are the second result.
    """
    found: list[Given] = []
    requests: list[int] = []
    generator = np.random.default_rng(seed)
    tickets = np.repeat(np.arange(len(shares)), shares)

    async def bench(context) -> None:
        context.set(walker.domain, vars(domain))
        context.set(walker.start, 1)
        await context.tick()
        context.set(walker.start, 0)
        core = int(generator.choice(tickets))
        while context.get(walker.busy) and len(found) < most:
            ready = int(generator.random() < 0.8)
            context.set(walker.wavefront.ready, ready)
            context.set(walker.core.valid, 1 if len(shares) == 1 else int(generator.random() < 0.8))
            context.set(walker.core.payload, core)
            if ready and context.get(walker.wavefront.valid):
                wavefront = context.get(walker.wavefront.payload)
                found.append((wavefront.core, (wavefront.i, wavefront.j, wavefront.covered)))
            if context.get(walker.core.valid) and context.get(walker.core.ready):
                requests.append(core)
                core = int(generator.choice(tickets))
            await context.tick()

    simulator = Simulator(walker)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found, requests


def walked(walker: DomainWalker, domain: Domain, seed: int, most: int = 1 << 20) -> list[Coordinates]:
    """What one core is given."""
    return [coordinates for _, coordinates in given(walker, domain, seed, most)[0]]


def tile_of(coordinates: Coordinates, domain: Domain, lanes: int, tile: int) -> tuple[int, int]:
    """Column and row of the smallest tile in which a wavefront is; one of several quads may be wider than that."""
    column, row = coordinates[0] - (domain.i0 & ~1) >> 1, coordinates[1] - (domain.j0 & ~1) >> 1
    return column // max(1 << tile, lanes // 4), row >> tile


def dealt_wrongly(
    walker: DomainWalker, domain: Domain, lanes: int, tiles: Sequence[int], shares: Sequence[int], seed: int
) -> str:
    """The problem of the order in which wavefronts come to cores; empty if there is none."""
    indices = expected(domain, lanes, tiles)
    found, requests = given(walker, domain, seed, len(indices) + 1, shares)
    if [core for core, _ in found] != requests:
        return "a wavefront is not for the core that requested it"
    if sorted(coordinates for _, coordinates in found) != sorted(indices):
        return "not every wavefront is given once"
    remaining: dict[tuple[int, int], list[Coordinates]] = {}
    for coordinates in indices:
        remaining.setdefault(tile_of(coordinates, domain, lanes, tiles[0]), []).append(coordinates)
    # In the order of the walk.
    not_begun, own = list(remaining), dict[int, tuple[int, int]]()
    for core, coordinates in found:
        tile = tile_of(coordinates, domain, lanes, tiles[0])
        if remaining[tile][0] != coordinates:
            return "the wavefronts of a tile are not in order"
        if core in own and remaining[own[core]]:
            if tile != own[core]:
                return "a core does not stay in its tile"
        elif not_begun:
            if tile != not_begun[0]:
                return "a core is not given the next tile"
            own[core] = not_begun.pop(0)
        remaining[tile].pop(0)
    return ""


def draw(seed: int) -> tuple[int, Domain]:
    """A number of lanes, and a domain anywhere that is not too large."""
    generator = np.random.default_rng(seed)
    lanes = int(generator.choice([4, 8, 16]))
    width = int(generator.choice([1, 3, 9, 40, 130]))
    height = int(generator.integers(1, max(2, 4 * _LONGEST // (width + 2 * lanes))))
    i0 = int(generator.choice([0, 1, 7, 4095 - width, int(generator.integers(4095 - width))]))
    j0 = int(generator.choice([0, 5, 4095 - height, int(generator.integers(4095 - height))]))
    return lanes, Domain(i0=i0, j0=j0, i1=i0 + width, j1=j0 + height)


@pytest.mark.parametrize("tiles", TILES)
@pytest.mark.parametrize("seed", seeds(8, 200))
def test_hardware_walks_as_the_golden_model(seed: int, tiles: tuple[int, ...]) -> None:
    lanes, domain = draw(seed)
    indices = expected(domain, lanes, tiles)
    assert walked(DomainWalker(lanes, tiles), domain, seed) == indices
    assert expected(domain, lanes, tiles, most=7) == indices
    columns, rows = domain.shape(lanes)
    left, bottom = domain.i0 & ~1, domain.j0 & ~1
    order = by_recursion(columns, rows, lanes // 4, 1, tiles)
    assert [coordinates[:2] for coordinates in indices] == [(left + lanes // 2 * i, bottom + 2 * j) for i, j in order]


def several(seed: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Tiles, and the share of each of several cores."""
    return [(2, 3, 4), (1, 2), (3,)][seed % 3], [(1, 1), (1, 5, 1), (3, 1, 1, 2), (1,) * 16][seed % 4]


@pytest.mark.parametrize("seed", seeds(12, 200))
def test_each_core_has_tiles_of_its_own(seed: int) -> None:
    (lanes, domain), (tiles, shares) = draw(seed), several(seed)
    assert dealt_wrongly(DomainWalker(lanes, tiles, len(shares)), domain, lanes, tiles, shares, seed) == ""


FAULTS = {
    "a cut tile is taken for a whole one": Fault(
        "rtl.pe.walker", "ends = position[axis][low:] == last[axis][low:]", "ends = Const(0)"
    ),
    "a tile ends a wavefront too early": Fault(
        "rtl.pe.walker", "ends = position[axis][low:] ==", "ends = position[axis][low:] + 1 =="
    ),
    "tiles of a large tile are not walked in rows": Fault(
        "rtl.pe.walker", "enumerate(zip(lows, highs, strict=True))", "reversed(list(enumerate(zip(lows, highs))))"
    ),
    "wavefronts of several quads have as many columns in a tile": Fault("rtl.pe.walker", "tile - quads", "tile"),
    "a column does not go back to the first one": Fault("rtl.pe.walker", "Mux(ends, 0, digit + 1)", "digit + 1"),
    "the first column is not added": Fault("rtl.pe.walker", "payload.i.eq(base_i + ", "payload.i.eq("),
    "the domain's odd first column is covered": Fault(
        "rtl.pe.walker", "columns[0] = ~(at_first[0] & domain.i0[0])", "columns[0] = Const(1)"
    ),
    "the columns after the last one are covered": Fault("rtl.pe.walker", "~(at_last[0] & (end < offset))", "Const(1)"),
    "the row above an even last one is covered": Fault("rtl.pe.walker", "~(at_last[1] & ~domain.j1[0])", "Const(1)"),
}
FAULTS_OF_SEVERAL = {
    "a tile that is given away is given again": Fault("rtl.pe.walker", "with m.If(fresh):", "with m.If(own):"),
    "a core takes a tile before its own is done": Fault("rtl.pe.walker", "fresh = more & ~own", "fresh = more"),
    "a core goes on in another's tile": Fault(
        "rtl.pe.walker", "Mux(own | more, self.core.payload,", "Mux(more, self.core.payload,"
    ),
    "remaining wavefronts of tiles are lost": Fault(
        "rtl.pe.walker", "~more_remaining & ~begun_remaining.any()", "~more_remaining"
    ),
    "a finished tile remains begun": Fault("rtl.pe.walker", "1).eq(~tile_ends)", "1).eq(1)"),
    "the wavefront's core is another one": Fault(
        "rtl.pe.walker", "payload.core.eq(self.core.payload)", "payload.core.eq(self.core.payload + 1)"
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_found(name: str) -> None:
    with planted(FAULTS[name], "ctm.rtl.pe.walker") as walker:
        wrong = False
        for seed in range(12):
            lanes, domain = draw(seed)
            indices = expected(domain, lanes, (2, 4))
            wrong |= walked(walker.DomainWalker(lanes, (2, 4)), domain, seed, len(indices) + 1) != indices
            if wrong:
                break
    assert wrong


@pytest.mark.parametrize("name", FAULTS_OF_SEVERAL)
def test_a_mistake_among_several_cores_is_found(name: str) -> None:
    with planted(FAULTS_OF_SEVERAL[name], "ctm.rtl.pe.walker") as walker:
        wrong = ""
        for seed in range(12):
            (lanes, domain), (tiles, shares) = draw(seed), several(seed)
            unit = walker.DomainWalker(lanes, tiles, len(shares))
            if wrong := dealt_wrongly(unit, domain, lanes, tiles, shares, seed):
                break
    assert wrong


@pytest.mark.parametrize("tiles", TILES)
def test_the_largest_domain(tiles: tuple[int, ...]) -> None:
    domain, seen = Domain(i0=0, j0=0, i1=4095, j1=4095), np.zeros((2048, 2048), bool)
    for wavefronts in domain.wavefronts(4, 1 << 14, tiles):
        seen[wavefronts.j // 2, wavefronts.i // 2] = True
    assert seen.all()


def test_a_walk_is_chosen_by_name() -> None:
    assert ArrayConfig(walk="rows", cores=2).tiles == ArrayConfig().tiles == ()
    assert ArrayConfig(cores=2).tiles == ArrayConfig(walk="tiles").tiles
    assert ArrayConfig(walk="tiles").tiles == (2, 3, 4, 5, 6)
    with pytest.raises(ValueError, match="walk must be one of auto, rows, tiles, not 'spiral'"):
        ArrayConfig(walk="spiral")


@pytest.mark.parametrize(
    ("settings", "smallest"),
    [({"threads": 4}, 1), ({"threads": 8}, 2), ({"lanes": 16}, 3), ({"threads": 64, "lanes": 16}, 4)],
)
def test_a_tile_is_what_a_core_has_resident(settings: dict[str, Any], smallest: int) -> None:
    assert ArrayConfig(walk="tiles", **settings).tiles[0] == smallest
