"""What the MOVA operations put into the address register: a signed integer of 9 bits."""

import math
from collections.abc import Callable
from fractions import Fraction

from ctm.tb.golden.r700.scalar.integer import signed
from ctm.tb.golden.scalar.number import is_infinite, is_nan, sign, value

_LEAST, _MOST = -256, 255


def saturated(n: int) -> int:
    """The nearest index to `n`."""
    return min(max(n, _LEAST), _MOST)


def floor_above(word: int, offset: Fraction) -> int:
    """The floor of the word's number plus an offset; 0 for a NaN."""
    if is_nan(word):
        return 0
    if is_infinite(word):
        return _LEAST if sign(word) else _MOST
    return saturated(math.floor(value(word) + offset))


INDICES: dict[str, Callable[[int], int]] = {
    "MOVA": lambda s0: floor_above(s0, Fraction(1, 2)),
    "MOVA_FLOOR": lambda s0: floor_above(s0, Fraction(0)),
    "MOVA_INT": lambda s0: saturated(signed(s0)),
}
