"""AreaAddresses: which words of outputs 0 and 3 the pixels' elements are, and which of them exist."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.r700.fetch.finders.areas import ELEMENT_ADDRESS, AreaAddresses
from ctm.rtl.r700.shapes import AREA_WORD_BITS
from ctm.tb.lib.streams import simulate
from ctm.tb.r700.fetch.looking import mask
from ctm.tb.r700.fetch.models import Area, AreaAccess

ACCESSES, CHANNELS = 120, 4
UNBOUNDED, ROW_WORDS = 4095, 8
"""ARRAY_SIZE without a bound; rows begin at multiples of 32 bytes."""
LAST_WORD = (1 << 32) - 1


class Bench:
    """Accesses of wavefronts that lie anywhere in a domain."""

    def __init__(self, seed: int, wavefront: int) -> None:
        self.size = wavefront
        self.unit: Any = AreaAddresses(wavefront)
        self.draw = np.random.default_rng(seed)
        self.found = dict.fromkeys(range(2), 0)
        """Words that exist, without and with the scratch."""

    def area(self) -> Area:
        """A small one, a large one, the largest, or none."""
        draw = self.draw
        if draw.random() < 0.15:
            return Area(width=4096, height=4096, stride=4096 // ROW_WORDS)
        width = int(draw.choice([0, 1, 5, 64, int(draw.integers(1, 4097)), 4096], p=[0.1, 0.1, 0.2, 0.2, 0.3, 0.1]))
        height = int(draw.choice([1, 2, 7, int(draw.integers(1, 4097)), 4096]))
        return Area(width=width, height=height, stride=-(-width // ROW_WORDS) if width else int(draw.integers(512)))

    def access(self) -> AreaAccess:
        """Any."""
        draw = self.draw
        return AreaAccess(
            scratch=bool(draw.random() < 0.5),
            indexed=bool(draw.random() < 0.7),
            base=int(draw.choice([0, 1, 5, int(draw.integers(1 << 13)), (1 << 13) - 1])),
            size=int(draw.choice([0, 1, 10, int(draw.integers(1 << 12)), UNBOUNDED])),
            dwords=int(draw.choice([1, 2, 4])),
            burst=int(draw.choice([0, 0, 1, 15])),
        )

    def index(self, access: AreaAccess, area: Area, pixels: int) -> int:
        """Near the first and the last element, and where sums and products would wrap."""
        draw = self.draw
        dwords = pixels * CHANNELS if access.scratch else access.dwords
        ends = [0, area.words // dwords, access.bound(area) // dwords, (1 << AREA_WORD_BITS) // dwords]
        ends += [1 << 24, 1 << 32, (1 << 32) // pixels]
        near = int(draw.choice(ends)) + int(draw.integers(-2, 3)) - access.base - access.burst
        plain = int(draw.integers(0, max(1, area.words // dwords + 1)))
        any_word = int(draw.integers(1 << 32))
        return max(0, int(draw.choice([near, plain, plain, any_word]))) & LAST_WORD

    async def run(self, context: Any) -> None:
        """Access after access."""
        draw = self.draw
        for _ in range(ACCESSES):
            access, areas = self.access(), [self.area() for _ in range(2)]
            sizes = [1, 3, int(draw.integers(1, 65)), int(draw.integers(1, 4097)), 4096]
            domain = int(draw.choice(sizes)), int(draw.choice(sizes))
            first = int(draw.integers(domain[0] * domain[1]))
            area = areas[access.scratch]
            indices = [self.index(access, area, domain[0] * domain[1]) for _ in range(self.size)]
            covered = draw.random(self.size) < 0.7
            unit = self.unit
            context.set(unit.program.domain.width, domain[0])
            context.set(unit.program.domain.height, domain[1])
            for target, each in zip((unit.program.areas[number] for number in range(2)), areas, strict=True):
                context.set(target.limits.width, each.width)
                context.set(target.limits.height, each.height)
                context.set(target.stride, each.stride)
            fields = {"scratch": access.scratch, "indexed": access.indexed, "base": access.base, "size": access.size}
            context.set(unit.access, {**fields, "element": access.dwords - 1})
            context.set(unit.burst, access.burst)
            context.set(unit.first, first)
            context.set(unit.covered, mask(covered))
            for pixel, (dword, inside) in enumerate(await self._addresses(context, indices)):
                number = first + (pixel & 1) + 2 * (pixel >> 2) + (domain[0] if pixel & 2 else 0)
                wanted = access.first(indices[pixel], domain, number)
                exists = not access.scratch or covered[pixel]
                words = [bool(exists and wanted + component < access.bound(area)) for component in range(CHANNELS)]
                what = f"{access}, pixel {pixel} of index {indices[pixel]}, {area}, {domain}, {number}"
                assert [bool(inside >> component & 1) for component in range(CHANNELS)] == words, what
                assert dword == wanted or not any(words), what
                self.found[access.scratch] += sum(words)

    async def _addresses(self, context: Any, indices: list[int]) -> list[tuple[int, int]]:
        """What all pixels get, in so many cycles."""
        unit, found = self.unit, {}
        context.set(unit.walk.start, 1)
        for cycle in range(self.size + 3):
            wanted = context.get(unit.walk.wanted)
            if cycle < self.size:
                assert wanted == cycle
            context.set(unit.index, indices[wanted])
            assert context.get(unit.walk.done) == (cycle == self.size + 2), "it takes another time"
            if context.get(unit.walk.valid):
                bits = context.get(Value.cast(unit.walk.element)) & ((1 << ELEMENT_ADDRESS.size) - 1)
                found[context.get(unit.walk.pixel)] = bits % (1 << AREA_WORD_BITS), bits >> AREA_WORD_BITS
            await context.tick()
        context.set(unit.walk.start, 0)
        assert sorted(found) == list(range(self.size))
        return [found[pixel] for pixel in range(self.size)]


def check(seed: int, wavefront: int) -> None:
    """Accesses of wavefronts of so many pixels."""
    bench = Bench(seed, wavefront)
    simulate(bench.unit, bench.run)
    assert min(bench.found.values()) > 4 * wavefront


def compare() -> None:
    """What the ordinary suite compares."""
    check(1, 16)
    check(2, 4)


def test_elements_are_where_the_manual_says() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3, 33))
def test_many_more_accesses(seed: int) -> None:
    check(seed, (4, 8, 16)[seed % 3])
