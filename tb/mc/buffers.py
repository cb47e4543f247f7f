"""Random buffers for both sides: the golden model's record and the bits that the hardware keeps."""

from collections.abc import Iterator

import numpy as np

from ctm.rtl.border.buffers import BUFFER
from ctm.rtl.isa.commands import BASE_MASK
from ctm.rtl.isa.formats import FORMAT, PITCH_UNIT, DataFormat, Tiling
from ctm.rtl.isa.word import pack
from ctm.sim.golden.mc.buffer import Buffer

LARGEST_PITCH = 2047


def format_word(data_format: DataFormat, tiling: Tiling, pitch: int) -> int:
    """A format word; `pitch` in elements, a multiple of four."""
    return pack(FORMAT, pitch=pitch // PITCH_UNIT, tiling=tiling.value, format=data_format.value)


def buffer_bits(buffer: Buffer) -> int:
    """What the hardware keeps of `buffer`, from the golden model's properties and the manual's tables."""
    size = buffer.element.element_bytes
    stride = buffer.pitch * size // 32
    if buffer.is_tiled:
        stride = buffer.pitch // {2: 32, 4: 32, 8: 16, 16: 16}[size]
    return pack(
        BUFFER,
        base=buffer.base // 2048,
        pitch=buffer.pitch,
        height=buffer.scale_height,
        format=buffer.format.value,
        tiled=int(buffer.is_tiled),
        gathers=int(buffer.is_2x2),
        stride=stride,
    )


def random_buffers(seed: int, count: int) -> Iterator[tuple[int, int, int]]:
    """Parameter words (base, format, height) of all formats and tilings, with the limits' corners among them."""
    generator = np.random.default_rng(seed)
    pitches = [0, 1, 2, 8, 1023, 1024, 1025, LARGEST_PITCH]
    heights = [0, 1, 2, 16, 4095, 4096, 4097, 8191]
    for index in range(count):
        formats = list(DataFormat)
        pitch = generator.integers(0, LARGEST_PITCH + 1) if index % 2 else generator.choice(pitches)
        height = generator.integers(0, 8192) if index % 3 else generator.choice(heights)
        word = format_word(formats[index % len(formats)], Tiling(index // 5 % 4), int(pitch) * PITCH_UNIT)
        yield int(generator.integers(0, 1 << 32)), word, int(height)


def golden_buffer(words: tuple[int, int, int]) -> Buffer:
    """The golden model's buffer of these words."""
    base, word, height = words
    return Buffer.from_words(base & BASE_MASK, word, height)


def buffer_words(buffers: list[Buffer]) -> np.ndarray:
    """Descriptors as a port of a compiled unit takes them, [n]: `BUFFER` has 64 bits."""
    return np.array([buffer_bits(buffer) for buffer in buffers], np.uint64)
