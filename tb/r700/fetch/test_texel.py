"""TexelPlace: every coordinate goes to the texel that it lies in, or to the nearest one that there is."""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.r700.fetch.writers.texel import TexelIndex
from ctm.tb.lib.random_values import random_floats
from ctm.tb.r700.fetch.models import texel_index

CASES = 3000
LIMITS = (1, 2, 3, 255, 256, 1000, 4095, 4096)
OFFSETS = range(-16, 16)


def words(draw: np.random.Generator, count: int, limit: int, *, integer: bool) -> np.ndarray:
    """Anything, and coordinates beside whole and half texels, the first and the last ones above all."""
    anything = random_floats(draw, (count,))
    near = draw.choice([0, 1, 2, limit - 1, limit, limit + 8, 4096, 8191, 8192, 16384], count)
    halves = near + draw.integers(-20, 21, count) / 2
    if integer:
        return np.where(draw.random(count) < 0.3, anything, halves.astype(np.int64).astype(np.uint32))
    floats = halves.astype(np.float32).view(np.uint32) + draw.integers(-1, 2, count).astype(np.uint32)
    return np.where(draw.random(count) < 0.3, anything, floats)


def check(cases: Iterable[tuple[int, int, int, bool]]) -> None:
    """Coordinates, each a word with an offset and a limit; it may be an integer."""
    unit: Any = TexelIndex()

    async def run(context: Any) -> None:
        for word, offset, limit, integer in cases:
            context.set(unit.word, word)
            context.set(unit.offset, offset)
            context.set(unit.limit, limit)
            context.set(unit.integer, integer)
            expected = texel_index(word, offset, limit, integer=integer)
            found = context.get(unit.index)
            assert found == expected, f"{word:08x} + {offset} / 2 below {limit}, {integer=}: {found}"

    simulator = Simulator(unit)
    simulator.add_testbench(run)
    simulator.run()


def drawn(seed: int, count: int) -> Iterator[tuple[int, int, int, bool]]:
    """Random coordinates, floats and integers."""
    draw = np.random.default_rng(seed)
    for limit, integer in product(LIMITS, (False, True)):
        for word in words(draw, count // len(LIMITS) // 2, limit, integer=integer):
            yield int(word), int(draw.choice(OFFSETS)), limit, integer


def ends_of_exponents() -> Iterator[tuple[int, int, int, bool]]:
    """The first and the last float of each exponent from that of 2^-3 to that of 2^13, of both signs."""
    for sign, exponent, fraction, offset in product((0, 1), range(124, 141), (0, 1, 0x7FFFFF), OFFSETS[::3]):
        yield sign << 31 | exponent << 23 | fraction, offset, LIMITS[-1], False


def compare() -> None:
    """What the ordinary suite compares."""
    check(drawn(1, CASES))
    check(ends_of_exponents())


def test_coordinates_are_in_their_texels() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_more_coordinates(seed: int) -> None:
    check(drawn(seed, 100_000))
