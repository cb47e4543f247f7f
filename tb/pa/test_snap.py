"""Snapping: 256 times a word to the nearest integer, ties to even, for all kinds of words."""

from functools import cache

import numpy as np

from ctm.rtl.border.draws import WINDOW_BITS
from ctm.rtl.pa.snap import Snap
from ctm.sim.compiled import CompiledUnit
from ctm.tb.lib.words import CORNERS, Words, floats, near_words, random_words

LIMIT = 2.0**23


@cache
def compiled() -> CompiledUnit:
    return CompiledUnit(Snap())


def check(words: Words) -> None:
    found = compiled()(word=words)
    with np.errstate(all="ignore"):
        x = floats(words).astype(np.float64)
        expected = np.where(np.isnan(x), -LIMIT, np.clip(np.rint(x * 256), -LIMIT, LIMIT))
    shift = 64 - WINDOW_BITS
    value = found["value"].astype(np.uint64).view(np.int64) << shift >> shift
    assert (value == expected).all(), words[value != expected][:5]
    assert (found["finite"].astype(bool) == np.isfinite(x)).all()


def test_corners_and_random_words() -> None:
    check(CORNERS)
    check(random_words(200_000, 1))
    check(near_words(200_000, 2, spread=60))


def test_ties_and_the_ends() -> None:
    """Halves of 1/256, a bit beside them, and what lies around 2^23 of 1/256."""
    halves = (np.arange(-4000, 4001) / 512).astype(np.float32)
    ends = np.array([2.0**15, 2.0**15 - 2.0**-9, 2.0**14, 2.0**14 - 2.0**-10, 2.0**16, 2.0**-9, 2.0**-10], np.float32)
    for values in (halves, ends, -ends):
        bits = values.view(np.uint32)
        check(np.concatenate([bits, bits + np.uint32(1), bits - np.uint32(1)]))
