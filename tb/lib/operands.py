"""Random operands for arithmetic units."""

import numpy as np

from ctm.tb.lib.words import CORNERS, Words, bits, floats, near_words, random_words


def mixed_words(count: int, seed: int) -> Words:
    """Words of all exponents, words near 1, and corners."""
    generator = np.random.default_rng(seed)
    kind = generator.integers(0, 8, count)
    corners = generator.choice(CORNERS, count)
    return np.where(kind == 0, corners, np.where(kind < 4, random_words(count, seed), near_words(count, seed)))


def interacting(count: int, seed: int) -> tuple[Words, Words, Words]:
    """(a, b, c): independent ones, addends that overlap the product, and addends that nearly cancel it."""
    generator = np.random.default_rng(seed)
    a, b, c = (mixed_words(count, seed + index) for index in (1, 2, 3))
    with np.errstate(all="ignore"):
        product = floats(a) * floats(b)
    step = generator.integers(-3, 4, count)
    cancelling = (bits(-product).astype(np.int64) + step).astype(np.uint32)
    # The product's exponent, moved; wrapping exponents give other corners.
    exponent = (bits(product) >> np.uint32(23)).astype(np.int64) + generator.integers(-30, 31, count)
    overlapping = c & np.uint32(0x807FFFFF) | (exponent & 0xFF).astype(np.uint32) << np.uint32(23)
    kind = generator.integers(0, 4, count)
    return a, b, np.where(kind == 0, cancelling, np.where(kind <= 2, overlapping, c))


def tile_over(batch: dict[str, Words], name: str, values: int) -> dict[str, Words]:
    """Every row with every value of one more port."""
    rows = len(next(iter(batch.values())))
    tiled = {key: np.tile(array, values) for key, array in batch.items()}
    return {**tiled, name: np.repeat(np.arange(values, dtype=np.uint32), rows)}
