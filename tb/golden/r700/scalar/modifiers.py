"""Output modifier and clamp of a result."""

from ctm.tb.golden import scalar
from ctm.tb.golden.scalar.number import NAN, ZERO, flush, is_infinite, is_nan, is_zero, round_nearest, split

_EXPONENTS = (0, 1, 2, -1)
"""For OMOD 0 to 3."""


def scale(word: int, omod: int) -> int:
    """The word's number times 1, 2, 4 or 1/2 for `omod` 0 to 3, a result of arithmetic."""
    if is_nan(word):
        return NAN
    if is_infinite(word) or is_zero(word):
        return flush(word)
    significand, exponent = split(word)
    return round_nearest(significand, exponent + _EXPONENTS[omod])


def modify(word: int, omod: int, clamp: bool, dx10_clamp: bool) -> int:
    """OMOD, then CLAMP to [0, 1]; where there is neither, the word as it is."""
    if omod:
        word = scale(word, omod)
    if not clamp:
        return word
    if is_nan(word):
        return ZERO if dx10_clamp else word
    return scalar.clamp(flush(word))
