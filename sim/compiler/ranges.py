"""Coordinates of fetches as expressions of the pixel, and the elements that they are over a rectangle of pixels."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Protocol

Range = tuple[float, float]
"""The least and the greatest value."""
_ALL: Range = (0.0, 2.0**24)
"""Coordinates of the largest domain."""
_EXACT, _LARGEST = 2.0**24, 2.0**31 - 1
"""Whole numbers up to the first are exact in floats, up to the second in integers; those beyond are not followed."""
_ERROR = 2.0**-20
"""Of one operation that rounds, relative to its result: some times what floats and the machine's operations have."""
_MOST = 256
"""Operations of an expression that is followed."""


class Coordinate(Protocol):
    """A value at each pixel; `is_whole` says that it is computed of whole numbers, `size` of how much."""

    @property
    def is_whole(self) -> bool: ...  # noqa: D102

    @property
    def size(self) -> int: ...  # noqa: D102

    def over(self, i: Range, j: Range) -> Range:
        """What it is over pixels with i and j in ranges, without rounding."""

    def peak(self, i: Range, j: Range) -> float:
        """The largest of it and of what it is computed of, without signs."""

    def error(self, i: Range, j: Range) -> float:
        """How far what the machine computes may be from what it is."""


@dataclass(frozen=True)
class Pixel:
    """i (0) or j (1)."""

    which: int
    is_whole: bool = True
    size: int = 1

    def over(self, i: Range, j: Range) -> Range:
        """The pixel's own range."""
        return (i, j)[self.which]

    def peak(self, i: Range, j: Range) -> float:
        """Its last one."""
        return self.over(i, j)[1]

    def error(self, i: Range, j: Range) -> float:
        """None: pixels are exact."""
        return 0.0


@dataclass(frozen=True)
class _Number:
    value: float
    size: int = 1

    @property
    def is_whole(self) -> bool:
        return self.value.is_integer()

    def over(self, i: Range, j: Range) -> Range:
        return self.value, self.value

    def peak(self, i: Range, j: Range) -> float:
        return abs(self.value)

    def error(self, i: Range, j: Range) -> float:
        return 0.0


@dataclass(frozen=True)
class _Computed:
    name: str
    operands: tuple[Coordinate, ...]
    is_whole: bool
    size: int

    def over(self, i: Range, j: Range) -> Range:
        return OPERATIONS[self.name](*(operand.over(i, j) for operand in self.operands))

    def peak(self, i: Range, j: Range) -> float:
        low, high = self.over(i, j)
        return max(-low, high, *(operand.peak(i, j) for operand in self.operands))

    def error(self, i: Range, j: Range) -> float:
        if self.is_whole and self.peak(i, j) <= _EXACT:
            return 0.0
        errors = [operand.error(i, j) for operand in self.operands]
        given = sum(errors)
        if self.name in ("times", "shifted"):
            # What one factor has too much counts as often as the other one is large.
            sizes = [_size(operand.over(i, j)) for operand in self.operands]
            if self.name == "shifted":
                sizes[1], errors[1] = 2.0 ** min(sizes[1], 31), 0.0
            given = sizes[0] * errors[1] + sizes[1] * errors[0] + errors[0] * errors[1]
        elif self.name == "rounded":
            given = math.ceil(given)
        return given + (_size(self.over(i, j)) + given) * _ERROR


def number(value: float) -> Coordinate | None:
    """A number; None if it is too large to be followed, or none."""
    return _Number(value) if abs(value) <= _LARGEST else None


def operation(name: str, *operands: Coordinate | None, is_signed: bool = True) -> Coordinate | None:
    """What an operation of `OPERATIONS` makes of operands; None where one is not known, or the result is too large.

    One on numbers without a sign is only followed where no operand is negative.
    """
    known = [operand for operand in operands if operand is not None]
    size = 1 + sum(operand.size for operand in known)
    if len(known) < len(operands) or size > _MOST:
        return None
    ranges = [operand.over(_ALL, _ALL) for operand in known]
    low, high = OPERATIONS[name](*ranges)
    if not is_signed and min(least for least, _ in ranges) < 0:
        return None
    if not -_LARGEST <= low <= high <= _LARGEST:
        return None
    return _Computed(name, tuple(known), all(operand.is_whole for operand in known), size)


def elements(coordinate: Coordinate, i: Range, j: Range) -> tuple[int, int]:
    """The first and the last element that a coordinate can be, rounded down, over pixels with i and j in ranges."""
    low, high = coordinate.over(i, j)
    peak = coordinate.peak(i, j)
    # One that is not whole may be rounded up or down when it is looked up.
    error = 0.0 if coordinate.is_whole and peak <= _EXACT else 1 + coordinate.error(i, j)
    return math.floor(low - error), math.ceil(high + error)


def _size(values: Range) -> float:
    return max(-values[0], values[1])


def _times(a: Range, b: Range) -> Range:
    products = [one * other for one, other in product(a, b)]
    return min(products), max(products)


OPERATIONS: dict[str, Callable[..., Range]] = {
    "plus": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "minus": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "times": _times,
    "shifted": lambda a, b: _times(a, (2.0 ** min(b[0], 31), 2.0 ** min(b[1], 31))),
    "least": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "greatest": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "either": lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
    "rounded": lambda a: (math.floor(a[0]), math.ceil(a[1])),
}
"""The range of a result by those of operands."""
