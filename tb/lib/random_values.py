"""Random float32 bit patterns: corners, plain numbers and any words."""

import numpy as np

CORNERS = np.array(
    [0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x3F800000, 0xBF800000, 0x3F000000, 0x3F000001, 0x7F7FFFFF,
     0x7F800000, 0xFF800000, 0x7FC00000, 0xFF812345, 0x40490FDB, 0x34000000, 0xC2F60000],
    np.uint32,
)  # fmt: skip


def random_floats(generator: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
    """An array of uint32: each word is, with equal chance, a corner, a normally distributed number, or any word."""
    kind = generator.integers(3, size=shape)
    plain = generator.normal(0, 3, shape).astype(np.float32).view(np.uint32)
    anything = generator.integers(1 << 32, size=shape, dtype=np.uint32)
    return np.choose(kind, [generator.choice(CORNERS, shape), plain, anything])
