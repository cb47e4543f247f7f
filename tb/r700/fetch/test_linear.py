"""LinearPlaces: elements by number are in the row and the column that a division by the pitch says."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.r700.fetch.writers.linear import LinearCoordinates
from ctm.tb.lib.streams import simulate

DIVISIONS, CYCLES = 40, 32
PITCHES = (1, 2, 3, 7, 64, 255, 1000, 4095, 4096)
WORD_BITS = 32


def numbers(draw: np.random.Generator, pitch: int, limits: tuple[int, int], lanes: int) -> list[int]:
    """Any, and those beside the ends of rows and of the input."""
    found = []
    for _ in range(lanes):
        row = int(draw.choice([0, 1, 2, limits[1] - 1, limits[1], int(draw.integers(1 << 32)) // pitch]))
        near = row * pitch + int(draw.choice([0, limits[0], pitch])) + int(draw.integers(-2, 3))
        found.append(int(draw.integers(1 << 32)) if draw.random() < 0.2 else near % (1 << WORD_BITS))
    return found


def check(seed: int, count: int, lanes: int) -> None:
    """Divisions one after the other, with and without idle cycles between them."""
    unit: Any = LinearCoordinates(lanes)
    draw = np.random.default_rng(seed)

    async def run(context: Any) -> None:
        for _ in range(count):
            pitch = int(draw.choice(PITCHES)) if draw.random() < 0.7 else int(draw.integers(1, 4097))
            limits = int(draw.choice([pitch, (pitch + 1) // 2])), int(draw.integers(1, 4097))
            dividends = numbers(draw, pitch, limits, lanes)
            context.set(unit.pitch, pitch)
            context.set(unit.limits, {"width": limits[0], "height": limits[1]})
            context.set(unit.numbers, dividends)
            context.set(unit.start, 1)
            for cycle in range(CYCLES + 1):
                assert context.get(unit.done) == (cycle == CYCLES), "it takes another time"
                if cycle < CYCLES:
                    await context.tick()
            pairs = [_pairs(context, unit, lanes)]
            await context.tick()
            for _ in range(int(draw.integers(3))):
                context.set(unit.start, 0)
                pairs.append(_pairs(context, unit, lanes))
                await context.tick()
            expected = [(min(each % pitch, limits[0] - 1), min(each // pitch, limits[1] - 1)) for each in dividends]
            assert all(found == expected for found in pairs), f"{dividends} by {pitch} in {limits}"

    simulate(unit, run)


def _pairs(context: Any, unit: Any, lanes: int) -> list[tuple[int, int]]:
    axes = [context.get(Value.cast(axis)) for axis in (unit.x, unit.y)]
    return [(axes[0] >> 12 * lane & 0xFFF, axes[1] >> 12 * lane & 0xFFF) for lane in range(lanes)]


def compare() -> None:
    """What the ordinary suite compares."""
    check(1, DIVISIONS, 4)


def test_elements_have_rows_and_columns() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("lanes", [4, 16])
def test_many_more_elements(lanes: int) -> None:
    check(lanes, 4000, lanes)
