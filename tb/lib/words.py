"""Operands for tests of the arithmetic, and the comparison that names the first wrong one."""

import struct
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

POSITIVE_CORNERS = (
    0x00000000,  # zero
    0x00000001,  # smallest and largest denormal
    0x00400000,
    0x007FFFFF,
    0x00800000,  # smallest normal and its neighbour
    0x00800001,
    0x01000000,  # twice the smallest normal, from below and above
    0x00FFFFFF,
    0x0C800000,  # 2^-102
    0x33800000,  # 2^-24, half the spacing below 2: a tie when added to 1
    0x33800001,
    0x34000000,  # 2^-23, the spacing above 1
    0x3EFFFFFF,  # around 0.5
    0x3F000000,
    0x3F000001,
    0x3F7FFFFF,  # around 1
    0x3F800000,
    0x3F800001,
    0x3FFFFFFF,  # around 2
    0x40000000,
    0x4B7FFFFF,  # around 2^24, from where every float is even
    0x4B800000,
    0x5F7FFFFF,  # its square is just below 2^128
    0x5F800000,  # 2^64
    0x7EFFFFFF,  # around 2^127
    0x7F000000,
    0x7F7FFFFF,  # largest
    0x7F800000,  # infinity
    0x7F800001,  # NaNs
    0x7FC00000,
    0x7FFFFFFF,
)
CORNERS = np.array([sign | word for word in POSITIVE_CORNERS for sign in (0, 0x80000000)], np.uint32)


def random_words(count: int, seed: int) -> Words:
    """Words whose exponents, signs and fractions are uniform, with runs of zeros and ones among the fractions."""
    generator = np.random.default_rng(seed)
    words = generator.integers(0, 1 << 32, count, np.uint32)
    # A third each: any fraction, few leading bits, few trailing zeros.
    shift = generator.integers(0, 23, count).astype(np.uint32)
    kind = generator.integers(0, 3, count)
    low = (np.uint32(1) << shift) - np.uint32(1)
    return np.where(kind == 0, words, np.where(kind == 1, words & ~low, words | low)).astype(np.uint32)


def near_words(count: int, seed: int, spread: int = 30) -> Words:
    """Random words with exponents within `spread` / 2 of 1, so that sums of them interact."""
    generator = np.random.default_rng(seed + 1)
    exponent = generator.integers(127 - spread // 2, 128 + spread // 2, count).astype(np.uint32)
    return random_words(count, seed) & np.uint32(0x807FFFFF) | exponent << np.uint32(23)


def pairs(words: Words) -> tuple[Words, Words]:
    """Every ordered pair."""
    return np.repeat(words, words.size), np.tile(words, words.size)


def triples(words: Words) -> tuple[Words, Words, Words]:
    """Every ordered triple."""
    first, others = pairs(words)
    return np.repeat(words, words.size**2), np.tile(first, words.size), np.tile(others, words.size)


def floats(words: Words | Sequence[int]) -> npt.NDArray[np.float32]:
    """The float32 carrier of these bits."""
    return np.asarray(words, np.uint32).view(np.float32)


def bits(values: npt.NDArray[np.float32]) -> Words:
    """The bits of a float32 array."""
    return values.view(np.uint32)


def show(word: int) -> str:
    """A word in hex and as the float that it is."""
    return f"0x{word:08x} ({struct.unpack('<f', struct.pack('<I', word))[0]!r})"


def check(actual: npt.NDArray[np.generic], expected: npt.NDArray[np.generic], *operands: Words) -> None:
    """Fail at the first index where two arrays of words differ, showing the operands there."""
    assert actual.shape == expected.shape
    wrong = np.flatnonzero(actual != expected)
    if wrong.size:
        at = int(wrong[0])
        shown = ", ".join(show(int(operand[at])) for operand in operands)
        raise AssertionError(
            f"{wrong.size} of {actual.size} differ, first at {at}: {shown} gives {show(int(actual[at]))}, "
            f"expected {show(int(expected[at]))}"
        )


def one_by_one(function: Callable[..., int], *operands: Words) -> Words:
    """Results of a function of single words, as an array."""
    return np.array([function(*values) for values in zip(*(x.tolist() for x in operands), strict=True)], np.uint32)
