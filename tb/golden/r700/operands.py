"""Words to try operations on: every combination of corners, and random ones."""

import numpy as np

from ctm.tb.lib.words import CORNERS, Words, bits, near_words, pairs, random_words, triples

INTEGERS = np.array(
    [
        2, 3, 5, 31, 32, 33, 63, 255, 256, 257, 0x10000, 0x00FFFFFF, 0x01000001, 0x01000003, 0x7FFFFFFD, 0x7FFFFFFE,
        0x80000002, 0xFFFFFF00, 0xFFFFFEFF, 0xFFFFFF7F, 0xFFFFFF80, 0xFFFFFFFD, 0xFFFFFFFE,
    ],
    np.uint32,
)  # fmt: skip
"""Near 0, shift counts, limits of indices, of what a float holds, and of the range."""

NUMBERS = bits(np.array([1.5, 2.5, 255.5, 256, -256.5, -257, 2**31, -(2**31), 2**32, 1e9, -1e9], np.float32))

EVERY = np.unique(np.concatenate([CORNERS, INTEGERS, NUMBERS]))

FEW = np.array(
    [
        0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x80FFFFFF, 0x33800000, 0x3F000000, 0x3F800000,
        0xBF800000, 0x3F800001, 0xBF800800, 0x40000000, 0x5F800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
        0x7FFFFFFF, 0x7F800001, 0xFFC12345, 0xFFFFFFFF,
    ],
    np.uint32,
)  # fmt: skip
"""Corners of which all triples are tried."""


def around(words: Words) -> Words:
    """Words and their neighbours."""
    return np.concatenate([words, words + np.uint32(1), words - np.uint32(1)])


def singles() -> tuple[Words]:
    """All corners, all halves and quarters near 0 and the limits of indices, powers of two, and random words."""
    fractions = np.arange(-6, 6.25, 0.25)
    near = np.concatenate([fractions, fractions + 255, fractions - 255, np.exp2(np.arange(-126, 128))])
    powers = np.uint32(1) << np.arange(32, dtype=np.uint32)
    words = [EVERY, around(bits(near.astype(np.float32))), around(powers), around(~powers)]
    return (np.concatenate([*words, random_words(5000, 1), near_words(5000, 2, 70)]),)


def couples() -> tuple[Words, ...]:
    """All pairs of corners, shifts, and random pairs, some of whose products or differences are near 2^-126."""
    small = near_words(4000, 3, 20), near_words(4000, 4, 20)
    samples = [
        pairs(EVERY),
        (random_words(4000, 5), np.arange(4000, dtype=np.uint32) % 40),
        (random_words(4000, 6), random_words(4000, 7)),
        (near_words(4000, 8), near_words(4000, 9)),
        tuple(words - np.uint32(63 << 23) for words in small),
    ]
    return tuple(np.concatenate(column) for column in zip(*samples, strict=True))


def threes() -> tuple[Words, ...]:
    """All triples of a few corners, and random ones: any, near each other, and sums that all but cancel."""
    a, b = near_words(5000, 10), near_words(5000, 11)
    minus = -(a.view(np.float32) * b.view(np.float32))
    step = np.random.default_rng(12).integers(-2, 3, 5000)
    samples = [
        triples(FEW),
        tuple(random_words(4000, seed) for seed in (13, 14, 15)),
        tuple(near_words(4000, seed, 10) for seed in (16, 17, 18)),
        (a, b, (bits(minus) + step).astype(np.uint32)),
    ]
    return tuple(np.concatenate(column) for column in zip(*samples, strict=True))


def none() -> tuple[Words, ...]:
    """The operands of an operation that has none."""
    return ()


OPERANDS = tuple(make() for make in (none, singles, couples, threes))
"""By the number of operands."""


def slots(count: int, seed: int) -> list[Words]:
    """Operands of eight slots: near each other, with corners among them."""
    generator = np.random.default_rng(seed)
    words = [near_words(count, seed + number, 12) for number in range(8)]
    for operand in words:
        where = generator.random(count) < 0.3
        operand[where] = generator.choice(EVERY, int(where.sum()))
    return words
