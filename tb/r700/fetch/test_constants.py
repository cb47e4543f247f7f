"""ConstantFetch: every executing pixel finds its element of the float constants, whatever has been loaded of them."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.config import ArrayConfig
from ctm.rtl.r700.fetch.finders.constants import ConstantFetch
from ctm.rtl.r700.fetch.selection import PixelSelection
from ctm.rtl.r700.partition import Partition
from ctm.tb.lib.streams import STALLS, simulate
from ctm.tb.r700.fetch.looking import looking, mask
from ctm.tb.r700.fetch.models import element

CHANNELS, ROWS, LINE_ROWS = 4, 256, 4
FETCHES, LOADING, LONGEST = 12, 6, 2000
ONE, WORDS = 0x3F800000, CHANNELS * ROWS


class Bench:
    """Fetches of a wavefront; lines are loaded when they are missed, some with error responses."""

    def __init__(self, seed: int, wavefront: int, stall: float) -> None:
        self.size, self.stall = wavefront, stall
        self.unit: Any = ConstantFetch(wavefront)
        self.selection: Any = PixelSelection(Partition.of(ArrayConfig(instruction_set="r700", wavefront=wavefront)))
        self.draw = np.random.default_rng(seed)
        self.bank = self.draw.integers(0, 1 << 32, WORDS).astype(np.uint32)
        self.loaded, self.error = np.zeros(ROWS // LINE_ROWS, bool), np.zeros(ROWS // LINE_ROWS, bool)
        self.asked: set[int] = set()
        self.loading, self.row, self.errors = 0, 0, 0

    async def run(self, context: Any) -> None:
        """Fetch after fetch; now and then all lines are invalidated."""
        for number in range(FETCHES):
            if number % 4 == 0:
                self.loaded[:] = False
            self.error[:] = self.draw.random(len(self.error)) < (0.3 if number % 3 == 2 else 0)
            await self._fetch(context)

    def indices(self, channels: int, offset: int) -> np.ndarray:
        """Inside, beside both ends, and such that a product by 16 wraps."""
        draw, size = self.draw, self.size
        near = (WORDS - channels - offset) // CHANNELS + draw.integers(-1, 3, size)
        anything = draw.integers(0, 1 << 32, size)
        wraps = (1 << 32) - (1 << int(draw.integers(26, 32))) + draw.integers(0, 8, size)
        kinds = draw.choice(4, size, p=[0.6, 0.2, 0.1, 0.1])
        found = np.choose(kinds, [draw.integers(0, ROWS, size), near, anything, wraps])
        return np.where(found < 0, 0, found).astype(np.uint32)

    async def _fetch(self, context: Any) -> None:
        draw, unit = self.draw, self.unit
        channels, select = int(draw.integers(1, 5)), int(draw.integers(CHANNELS))
        offset = int(draw.choice([0, 1, 2, 3, 4, int(draw.integers(1 << 10)), int(draw.integers(1 << 14))]))
        is_float = bool(draw.integers(2))
        source = draw.integers(0, 1 << 32, (CHANNELS, self.size)).astype(np.uint32)
        source[select] = self.indices(channels, offset)
        executing = draw.random(self.size) < draw.choice([0.3, 1])
        expected, lines = {}, {}
        for pixel in np.flatnonzero(executing):
            first = CHANNELS * int(source[select][pixel]) + offset
            expected[int(pixel)] = element(self.bank, first, channels, ONE if is_float else 1)
            exists = first + channels <= WORDS
            ends = first // 16, (first + channels - 1) // 16
            lines[int(pixel)] = set(range(ends[0], ends[1] + 1)) if exists else set()
        fields = {"coordinates": [select, 7, 7, 7], "offset": offset, "channels": channels, "one_is_float": is_float}
        context.set(unit.fetch, fields)
        context.set(unit.executing, mask(executing))
        context.set(Value.cast(self.selection.source), int.from_bytes(source.tobytes(), "little"))
        found, is_error = await self._pixels(context)
        wanted = set().union(*lines.values())
        assert self.asked <= wanted, "a line was asked for that no pixel wants"
        stops = next((pixel for pixel in lines if any(self.error[line] for line in lines[pixel])), self.size)
        assert is_error == (stops < self.size)
        for number, words in expected.items():
            if number < stops:
                assert found.get(number) == words, (
                    f"pixel {number}, {offset=}, {channels=}, {source[select, number]:#x}"
                )
        assert set(found) == {pixel for pixel in expected if pixel < stops}
        self.errors += is_error

    async def _pixels(self, context: Any) -> tuple[dict[int, list[int]], bool]:
        """The elements of pixels, up to the last one or the first error response."""
        unit, found, is_done, is_error = self.unit, {}, False, False
        self.asked = set()
        context.set(unit.walk.start, 1)
        for _ in range(LONGEST):
            self._show(context)
            if context.get(unit.walk.valid):
                bits = context.get(Value.cast(unit.walk.element))
                found[context.get(unit.walk.pixel)] = [bits >> 32 * channel & 0xFFFFFFFF for channel in range(CHANNELS)]
            if context.get(unit.port.miss.valid) and not self.loading:
                misses = [line for line in unit.port.miss.lines if context.get(line.needed)]
                assert misses, "it waits for nothing"
                self.asked |= {context.get(line.line) for line in misses}
                self.loading = LOADING
            is_done, is_error = bool(context.get(unit.walk.done)), bool(context.get(unit.is_error))
            await context.tick()
            if is_done:
                break
        assert is_done, "it takes too long"
        context.set(unit.walk.start, 0)
        return found, is_error

    def _show(self, context: Any) -> None:
        """What others give in a cycle: words of the row that was read, lines, a free port."""
        draw, unit = self.draw, self.unit
        if self.loading:
            self.loading -= 1
            if not self.loading:
                self.loaded[sorted(self.asked)] = True
        free = bool(draw.random() >= self.stall)
        words = self.bank[CHANNELS * self.row : CHANNELS * self.row + CHANNELS]
        context.set(unit.port.words, [int(word) for word in words])
        context.set(unit.port.loaded, mask(self.loaded))
        context.set(unit.port.error, mask(self.error & self.loaded))
        context.set(unit.port.free, free)
        # A row that another unit reads comes when this unit has no grant.
        self.row = context.get(unit.port.row) if free else int(draw.integers(ROWS))


def check(seed: int, wavefront: int, stall: float) -> None:
    """Fetches of wavefronts of so many pixels, with other units that read constants in so many cycles."""
    bench = Bench(seed, wavefront, stall)
    simulate(looking(bench.unit, bench.selection), bench.run)
    assert bench.errors


def compare() -> None:
    """What the ordinary suite compares."""
    for seed, stall in enumerate(STALLS):
        check(seed, 16, stall)


def test_pixels_find_their_constants() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3, 43))
def test_many_more_fetches(seed: int) -> None:
    check(seed, (4, 8, 16)[seed % 3], STALLS[seed % len(STALLS)])
