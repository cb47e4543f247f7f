"""Operations on all four vector slots: their results in slots x, y, z, w."""

from collections.abc import Callable, Sequence

from ctm.tb.golden import scalar
from ctm.tb.golden.r700.scalar.comparison import holds
from ctm.tb.golden.r700.scalar.selection import maximum
from ctm.tb.golden.scalar.number import ONE, SIGN, ZERO, magnitude

Slots = tuple[int, int, int, int]

_MINUS_ONE = SIGN | ONE
_TWO = 0x4000_0000


def dot4(first: Sequence[int], second: Sequence[int]) -> Slots:
    """DOT4: the dot product of four terms, in which zero times anything is zero."""
    return (scalar.dot(first, second, None, True),) * 4


def dot4_ieee(first: Sequence[int], second: Sequence[int]) -> Slots:
    """DOT4_IEEE."""
    return (scalar.dot(first, second, None, False),) * 4


def maximum_of_four(first: Sequence[int]) -> Slots:
    """MAX4."""
    x, y, z, w = first
    return (maximum(maximum(x, y), maximum(z, w)),) * 4


def cube(first: Sequence[int], second: Sequence[int]) -> Slots:
    """CUBE of the direction (x, y, z), of which `first` is zzxy: t, s, twice the largest component, the face."""
    z, _, x, y = first
    if not_smaller(z, x) and not_smaller(z, y):
        return times(_MINUS_ONE, y), times(direction(z), x), times(_TWO, z), face(4, z)
    if not_smaller(y, x):
        return times(direction(y), z), times(ONE, x), times(_TWO, y), face(2, y)
    return times(_MINUS_ONE, y), times(direction(x) ^ SIGN, z), times(_TWO, x), face(0, x)


def not_smaller(a: int, b: int) -> bool:
    """|a| >= |b|."""
    return holds("GE", magnitude(a), magnitude(b))


def direction(word: int) -> int:
    """-1.0 for a negative number, else 1.0."""
    return _MINUS_ONE if holds("LT", word, ZERO) else ONE


def times(factor: int, word: int) -> int:
    """The rounded product."""
    return scalar.multiply(factor, word, False)


def face(positive: int, major: int) -> int:
    """The number of the face that the largest component points to, as a float: an even one, or the odd one after it."""
    return scalar.from_integer(positive + holds("LT", major, ZERO))


REDUCTIONS: dict[str, Callable[..., Slots]] = {
    "DOT4": dot4,
    "DOT4_IEEE": dot4_ieee,
    "MAX4": maximum_of_four,
    "CUBE": cube,
}
