"""Multiply-add, dot products and fraction, one set of operands at a time."""

from collections.abc import Sequence

from ctm.tb.golden.scalar.number import (
    INFINITY,
    NAN,
    ONE,
    SIGN,
    ZERO,
    add_exact,
    is_infinite,
    is_nan,
    is_zero,
    round_down,
    round_nearest,
    sign,
    split,
)

_MINUS_ONE = 0xBF80_0000
_MINUS_TWO = 0xC000_0000
_ALIGNED_BITS = 24


def special_product(a: int, b: int, zero_times_anything: bool) -> int | None:
    """A zero, infinity or NaN that a * b is by its operands alone; None if the product is finite and not zero."""
    negative = sign(a) ^ sign(b)
    if zero_times_anything and (is_zero(a) or is_zero(b)):
        return negative
    if is_nan(a) or is_nan(b):
        return NAN
    if is_infinite(a) or is_infinite(b):
        return NAN if is_zero(a) or is_zero(b) else INFINITY | negative
    return negative if is_zero(a) or is_zero(b) else None


def special_sum(terms: Sequence[int]) -> int | None:
    """What a sum with these special terms is whatever the finite others are; None if they do not decide it."""
    infinities = {term for term in terms if is_infinite(term)}
    if any(is_nan(term) for term in terms) or len(infinities) == 2:
        return NAN
    return infinities.pop() if infinities else None


def sum_of_zeros(zeros: Sequence[int]) -> int:
    """-0 if all are -0, else +0."""
    return SIGN if all(sign(zero) for zero in zeros) else ZERO


def multiply_exact(a: int, b: int) -> tuple[int, int]:
    """The exact product of two finite words."""
    (left, left_exponent), (right, right_exponent) = split(a), split(b)
    return left * right, left_exponent + right_exponent


def multiply_add(a: int, b: int, c: int, zero_times_anything: bool) -> int:
    """MAD: a * b + c, rounded once."""
    product = special_product(a, b, zero_times_anything)
    special = special_sum([c] if product is None else [product, c])
    if special is not None:
        return special
    if product is not None and is_zero(c):
        return sum_of_zeros([product, c])
    return round_nearest(*add_exact(multiply_exact(a, b) if product is None else (0, 0), split(c)))


def multiply(a: int, b: int, zero_times_anything: bool) -> int:
    """Product a * b, rounded once; a zero keeps the product's sign."""
    product = special_product(a, b, zero_times_anything)
    return round_nearest(*multiply_exact(a, b)) if product is None else product


def multiply_then_add(a: int, b: int, c: int, zero_times_anything: bool) -> int:
    """A rounded product and a rounded sum, not fused."""
    return add(multiply(a, b, zero_times_anything), c)


def add(a: int, b: int) -> int:
    """Sum a + b, which is a multiply-add."""
    return multiply_add(ONE, a, b, False)


def presubtract(operation: int, source0: int, source1: int) -> int:
    """BIAS, SUB, ADD, INV for 0 to 3; each is one multiply-add."""
    if operation == 0:
        return multiply_add(_MINUS_TWO, source0, ONE, False)
    if operation == 1:
        return multiply_add(ONE, source1, source0 ^ SIGN, False)
    if operation == 2:
        return multiply_add(ONE, source1, source0, False)
    return multiply_add(_MINUS_ONE, source0, ONE, False)


def dot(a: Sequence[int], b: Sequence[int], addend: int | None, zero_times_anything: bool) -> int:
    """DP3, DP4 and, with an addend, D2A: terms aligned to the largest, truncated, summed, rounded once."""
    specials: list[int] = []
    finite: list[tuple[int, int]] = []
    for x, y in zip(a, b, strict=True):
        product = special_product(x, y, zero_times_anything)
        if product is None:
            finite.append(multiply_exact(x, y))
        else:
            specials.append(product)
    if addend is not None:
        if is_zero(addend) or is_infinite(addend) or is_nan(addend):
            specials.append(addend)
        else:
            finite.append(split(addend))
    special = special_sum(specials)
    if special is not None:
        return special
    return sum_aligned(finite) if finite else sum_of_zeros(specials)


def sum_aligned(terms: Sequence[tuple[int, int]]) -> int:
    """Sum of non-zero terms, each truncated towards zero to a multiple of 2^(E - 24), E the largest's exponent."""
    unit = max(leading_exponent(term) for term in terms) - _ALIGNED_BITS
    total = 0
    for significand, exponent in terms:
        shift = exponent - unit
        aligned = abs(significand) << shift if shift >= 0 else abs(significand) >> -shift
        total += -aligned if significand < 0 else aligned
    return round_nearest(total, unit)


def leading_exponent(term: tuple[int, int]) -> int:
    """The e of a non-zero term normalised to [1, 2) * 2^e."""
    significand, exponent = term
    return abs(significand).bit_length() - 1 + exponent


def fraction(a: int) -> int:
    """FRC: a - floor(a), rounded towards zero."""
    if is_nan(a) or is_infinite(a):
        return NAN
    significand, exponent = split(a)
    if exponent >= 0:
        return ZERO
    # Python's % is that of the floor: never negative.
    return round_down(significand % (1 << -exponent), exponent)
