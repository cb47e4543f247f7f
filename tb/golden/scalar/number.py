"""float32 words as plain integers: taking them apart, and rounding exact numbers into them.

Denormals are zeros of their sign wherever a word is read as a number. An exact finite number is a signed integer and
the power of two that it is a multiple of. Source: CTM Guide p. 41.
"""

from fractions import Fraction

SIGN = 0x8000_0000
INFINITY = 0x7F80_0000
NAN = 0x7FFF_FFFF
ZERO = 0x0000_0000
ONE = 0x3F80_0000
HALF = 0x3F00_0000
SMALLEST_NORMAL = 0x0080_0000
LARGEST = 0x7F7F_FFFF

FRACTION_BITS = 23
SIGNIFICAND_BITS = 24
BIAS = 127
LARGEST_EXPONENT = 127
SMALLEST_EXPONENT = -126


def sign(word: int) -> int:
    """The sign bit itself: 0 or SIGN."""
    return word & SIGN


def magnitude(word: int) -> int:
    """The word without its sign."""
    return word & ~SIGN


def is_nan(word: int) -> bool:
    """Whether the word is a NaN, of any sign and payload."""
    return magnitude(word) > INFINITY


def is_infinite(word: int) -> bool:
    """Whether the word is an infinity."""
    return magnitude(word) == INFINITY


def is_zero(word: int) -> bool:
    """Whether the word counts as zero: zeros and denormals."""
    return magnitude(word) < SMALLEST_NORMAL


def flush(word: int) -> int:
    """The word, or a zero of its sign for a denormal."""
    return sign(word) if is_zero(word) else word


def split(word: int) -> tuple[int, int]:
    """(significand, exponent) of a finite word; its value is significand * 2^exponent, the significand signed."""
    if is_zero(word):
        return 0, 0
    significand = word & (1 << FRACTION_BITS) - 1 | 1 << FRACTION_BITS
    exponent = (magnitude(word) >> FRACTION_BITS) - BIAS - FRACTION_BITS
    return (-significand if sign(word) else significand), exponent


def value(word: int) -> Fraction:
    """The number that a finite word stands for."""
    significand, exponent = split(word)
    return significand * Fraction(2) ** exponent


def join(negative: bool, significand: int, exponent: int) -> int:
    """The word of significand * 2^exponent, whose significand has exactly 24 bits; infinity or zero out of range."""
    leading = exponent + FRACTION_BITS
    if leading > LARGEST_EXPONENT:
        word = INFINITY
    elif leading < SMALLEST_EXPONENT:
        word = ZERO
    else:
        word = (leading + BIAS) << FRACTION_BITS | significand & (1 << FRACTION_BITS) - 1
    return word | SIGN if negative else word


def shift_right_nearest(value: int, count: int) -> int:
    """A value >= 0 divided by 2^count, rounded to nearest even; a negative count multiplies."""
    if count <= 0:
        return value << -count
    quotient, remainder = value >> count, value & (1 << count) - 1
    half = 1 << (count - 1)
    return quotient + (remainder > half or (remainder == half and quotient & 1))


def round_nearest(significand: int, exponent: int) -> int:
    """The word nearest to significand * 2^exponent, ties to even; +0 for 0.

    Rounded to 24 bits as if the exponent had no bounds; then too large is an infinity, too small a zero of the sign.
    """
    if significand == 0:
        return ZERO
    excess = abs(significand).bit_length() - SIGNIFICAND_BITS
    rounded = shift_right_nearest(abs(significand), excess)
    if rounded >> SIGNIFICAND_BITS:
        rounded, excess = rounded >> 1, excess + 1
    return join(significand < 0, rounded, exponent + excess)


def round_down(significand: int, exponent: int) -> int:
    """The word next to significand * 2^exponent >= 0 towards zero."""
    if significand == 0:
        return ZERO
    excess = significand.bit_length() - SIGNIFICAND_BITS
    truncated = significand >> excess if excess > 0 else significand << -excess
    return join(False, truncated, exponent + excess)


def align(value: tuple[int, int], exponent: int) -> int:
    """The significand of `value` at `exponent`, which is not above its own."""
    significand, own = value
    return significand << (own - exponent) if significand else 0


def add_exact(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    """The exact sum."""
    exponent = min(left[1], right[1])
    return align(left, exponent) + align(right, exponent), exponent


def order(word: int) -> int:
    """An integer that orders numbers as their values are; infinities included, NaNs not."""
    flushed = flush(word)
    return -magnitude(flushed) if sign(flushed) else magnitude(flushed)
