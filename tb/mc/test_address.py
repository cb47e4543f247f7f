"""Addresses of elements and of their neighbours, compiled, against the golden model."""

import numpy as np
import pytest

from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.mc.address import ElementAddress, ElementOrigin, NeighbourAddresses
from ctm.sim.compiled import CompiledUnit
from ctm.sim.golden.mc.address import element_address
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import NEIGHBOURS, clamp_index
from ctm.tb.mc.buffers import LARGEST_PITCH, buffer_words, format_word, golden_buffer, random_buffers

PAIRS = 200


def bound(seed: int, count: int) -> list[Buffer]:
    """Buffers that have a column, some of them at the end of the address space."""
    words = list(random_buffers(seed, count))
    ends = [(0xFFFF_F800, format_word(each, tiling, 4 * LARGEST_PITCH), 0) for each in DataFormat for tiling in Tiling]
    return [buffer for buffer in map(golden_buffer, words + ends) if buffer.width_limit]


def repeated(buffers: list[Buffer]) -> np.ndarray:
    return np.repeat(buffer_words(buffers), PAIRS)


def test_addresses_are_those_of_the_golden_model():
    generator = np.random.default_rng(3)
    buffers = bound(4, 1500)
    # Every pair has an address, whether it exists or not.
    x, y = generator.integers(0, 4096, (2, len(buffers), PAIRS))
    expected = [element_address(buffer, *pair) for buffer, *pair in zip(buffers, x, y, strict=True)]
    found = CompiledUnit(ElementAddress())(buffer=repeated(buffers), x=x.ravel(), y=y.ravel())["address"]
    np.testing.assert_array_equal(found, np.concatenate(expected))


@pytest.mark.slow
def test_neighbours_are_those_of_the_golden_model():
    generator = np.random.default_rng(5)
    buffers = bound(6, 1500)
    pairs = []
    for buffer in buffers:
        x, y = (generator.integers(0, limit, PAIRS) for limit in (buffer.width_limit, buffer.height_limit))
        x[:20], y[10:30] = buffer.width_limit - 1, buffer.height_limit - 1
        pairs.append((x, y))
    expected = [
        element_address(buffer, clamp_index(x + right, buffer.width_limit), clamp_index(y + above, buffer.height_limit))
        for right, above in NEIGHBOURS
        for buffer, (x, y) in zip(buffers, pairs, strict=True)
    ]
    x, y = (np.concatenate([pair[axis] for pair in pairs]) for axis in (0, 1))
    words = repeated(buffers)
    origin = CompiledUnit(ElementOrigin())(buffer=words, x=x, y=y)["origin"]
    found = CompiledUnit(NeighbourAddresses())(buffer=words, x=x, y=y, origin=origin)["addresses"]
    np.testing.assert_array_equal(found.T, np.concatenate(expected).reshape(CHANNELS, -1))
