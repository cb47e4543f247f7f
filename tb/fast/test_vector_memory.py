"""Elements of memory: addresses, fetches and stores of every format and tiling are those of the golden model."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.vector.address import element_address
from ctm.sim.engines.fast.vector.elements import gather, gather_words, scatter, stored_words
from ctm.sim.engines.fast.vector.lanes import Value
from ctm.sim.engines.fast.vector.selection import canonical
from ctm.sim.golden.mc import address, elements
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.memory import Memory
from ctm.tb.fast.hosts import every_host
from ctm.tb.fast.vector_kernel import apply
from ctm.tb.lib.operands import mixed_words
from ctm.tb.lib.words import Words, check, floats
from ctm.tb.system.memories import first_difference

TILINGS = (Tiling.LINEAR, Tiling.TILED)
BUFFERS = {
    number: Buffer(base=0x0100_0000 * (number + 1), pitch=pitch, height=height, tiling=tiling, format=data_format)
    for number, (data_format, tiling, (pitch, height)) in enumerate(product(DataFormat, TILINGS, ((92, 70), (8188, 0))))
}
"""A small one and the largest one of every form; 92 is no multiple of a tile's width."""
AT_THE_END = {
    number: Buffer(base=0xFFFF_F800, pitch=512, height=64, tiling=tiling, format=data_format)
    for number, (data_format, tiling) in enumerate(product(DataFormat, TILINGS))
}
"""The other end of memory follows."""
COUNT = 6_000
_COUNT = 480


def pairs_inside(buffer: Buffer, count: int, seed: int) -> tuple[Words, Words]:
    """Pairs that a buffer has, its corners among them."""
    generator = np.random.default_rng(seed)
    limits = buffer.width_limit, buffer.height_limit
    x, y = (generator.integers(0, limit, count).astype(np.uint32) for limit in limits)
    x[:4], y[:4] = np.array([[0, limits[0] - 1] * 2, [0, 0, limits[1] - 1, limits[1] - 1]])
    return x, y


def translate(kernel: Kernel, coordinates: Sequence[Value]) -> list[Value]:
    """The addresses in all buffers of a kernel, each with two operands."""
    x = [kernel.lanes.words(value) for value in coordinates]
    return [
        element_address(kernel.lanes, form, kernel.buffers[number], *x[2 * number : 2 * number + 2])
        for number, form in kernel.frame.buffers.items()
    ]


@every_host
@pytest.mark.parametrize("buffers", [BUFFERS, AT_THE_END], ids=["somewhere", "at the end of memory"])
def test_addresses(host: Host, buffers: dict[int, Buffer]) -> None:
    coordinates = [pairs_inside(buffer, COUNT, number) for number, buffer in buffers.items()]
    found = apply(host, translate, *(words for pair in coordinates for words in pair), buffers=buffers, memory=Memory())
    for buffer, (x, y), result in zip(buffers.values(), coordinates, found, strict=True):
        expected = address.element_address(buffer, x.astype(np.int64), y.astype(np.int64))
        check(result, expected.astype(np.uint32), x, y)


def fetch(kernel: Kernel, coordinates: Sequence[Value]) -> list[Value]:
    """All channels of elements of all buffers."""
    return [
        channel
        for form, buffer, at in zip(
            kernel.frame.buffers.values(), kernel.buffers.values(), translate(kernel, coordinates), strict=True
        )
        for channel in gather(kernel.lanes, form, buffer.memory, at)
    ]


@every_host
@pytest.mark.parametrize("tiling", TILINGS)
def test_fetches(host: Host, tiling: Tiling) -> None:
    memory = Memory()
    buffers = {
        number: Buffer(base=0x10_0000 * number, pitch=92, height=70, tiling=tiling, format=data_format)
        for number, data_format in enumerate(DataFormat)
    }
    memory.view(np.uint32)[: 0x10_0000 * len(buffers) // 4] = mixed_words(0x10_0000 * len(buffers) // 4, 1)
    coordinates = [pairs_inside(buffer, COUNT, number) for number, buffer in buffers.items()]
    found = iter(
        apply(host, fetch, *(words for pair in coordinates for words in pair), buffers=buffers, memory=memory)
    )  # fmt: skip
    for buffer, (x, y) in zip(buffers.values(), coordinates, strict=True):
        for channel in elements.read(memory, buffer, x.astype(np.int64), y.astype(np.int64)):
            check(next(found), channel.view(np.uint32), x, y)


@every_host
def test_words_of_one_channel(host: Host) -> None:
    """As the conditional unit compares them."""
    memory = Memory()
    memory.view(np.uint32)[: 1 << 16] = mixed_words(1 << 16, 2)
    formats = (DataFormat.UINT16_1, DataFormat.FLOAT32_1)
    buffers = {number: Buffer(pitch=92, height=70, format=each) for number, each in enumerate(formats)}
    x, y = pairs_inside(buffers[0], COUNT, 3)

    def build(kernel: Kernel, coordinates: Sequence[Value]) -> list[Value]:
        addresses = zip(
            kernel.frame.buffers.values(), kernel.buffers.values(), translate(kernel, [*coordinates] * 2), strict=True
        )
        return [gather_words(kernel.lanes, form, buffer.memory, at) for form, buffer, at in addresses]

    for buffer, found in zip(buffers.values(), apply(host, build, x, y, buffers=buffers, memory=memory), strict=True):
        at = address.element_address(buffer, x.astype(np.int64), y.astype(np.int64))
        size = buffer.element.element_bytes
        expected = memory.view(np.uint16 if size == 2 else np.uint32)[at // size]
        check(found, expected.astype(np.uint32), x, y)


def store(kernel: Kernel, operands: Sequence[Value]) -> list[Value]:
    """Store four channels where four masks say so."""
    lanes, form, buffer = kernel.lanes, kernel.frame.buffers[0], kernel.buffers[0]
    x, y, *values_and_masks = operands
    channels = form.element.channels
    values = [canonical(lanes, value) for value in values_and_masks[:channels]]
    masks = [lanes.words(mask) for mask in values_and_masks[4 : 4 + channels]]
    at = element_address(lanes, form, buffer, lanes.words(x), lanes.words(y))
    scatter(lanes, form, buffer.memory, at, [stored_words(lanes, form, value) for value in values], masks)
    return []


def masks_of_channels(generator: np.random.Generator) -> np.ndarray:
    """All, none, some elements, some channels, one channel; and runs that are longer than vectors."""
    few = generator.random(_COUNT) < 0.7
    runs = np.repeat(generator.random(_COUNT // 32) < 0.5, 32)
    one = np.arange(4)[:, None] == generator.integers(4, size=_COUNT)
    kinds = [np.ones((4, _COUNT), bool), np.zeros((4, _COUNT), bool), np.tile(few, (4, 1)), np.tile(runs, (4, 1)), one]
    return np.concatenate([*kinds, generator.random((4, _COUNT)) < 0.7], axis=1)


@every_host
@pytest.mark.parametrize("data_format", DataFormat)
def test_stores(host: Host, data_format: DataFormat) -> None:
    """Elements are met again and again: of a vector's lanes the last one wins."""
    for tiling in TILINGS:
        generator = np.random.default_rng([tiling.value, data_format.value])
        buffer = Buffer(base=0x1_0000, pitch=20, height=9, tiling=tiling, format=data_format)
        memories = Memory(), Memory()
        for memory in memories:
            memory.write(0, np.random.default_rng(4).bytes(0x2_0000))
        chosen = masks_of_channels(generator)
        x, y = pairs_inside(buffer, chosen.shape[1], 5)
        values = np.stack([mixed_words(x.size, channel) for channel in range(4)])
        apply(host, store, x, y, *values, *-chosen.astype(np.uint32), buffers={0: buffer}, memory=memories[0])
        exact = floats(np.where(np.isnan(floats(values)), np.uint32(0x7FFF_FFFF), values))
        addresses = x.astype(np.int64), y.astype(np.int64)
        for at in range(0, x.size, host.width):
            lanes = slice(at, at + host.width)
            i, j = (each[lanes] for each in addresses)
            elements.write(memories[1], buffer, i, j, exact[:, lanes], chosen[:, lanes])
        assert first_difference(*memories, ignored=set()) is None, tiling
