"""Functions of kernels, as plain Python: of numbers, and of each component of vectors."""

import math
import struct
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ctm.language.vectors import VECTORS, Vector, uint, vec3

_BITS = 32
_Item = TypeVar("_Item")


def _each(function: Callable[[float], Any]) -> Callable[[Any], Any]:
    def of(x: Any) -> Any:
        return type(x)(*map(function, x)) if isinstance(x, Vector) else float(function(x))

    of.__name__ = of.__qualname__ = function.__name__.strip("_")
    of.__doc__ = f"{of.__name__} of a number, or of each component of a vector."
    return of


def _whole(function: Callable[[float], int]) -> Callable[[Any], Any]:
    """A function that rounds, which leaves infinities and NaN as they are."""

    def of(x: float) -> float:
        return function(x) if math.isfinite(x) else x

    of.__name__ = function.__name__
    return _each(of)


def _total(function: Callable[[float], float], beyond: float) -> Callable[[Any], Any]:
    """A function that is NaN outside of its domain, where Python has an error, and `beyond` where it is too large."""

    def of(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return beyond
        except ValueError:
            return math.nan

    of.__name__ = function.__name__
    return _each(of)


def _log2(x: float) -> float:
    return math.log2(x) if x > 0 else -math.inf if x == 0 else math.nan


def _exp2(x: float) -> float:
    return math.pow(2, x)


def _inversesqrt(x: float) -> float:
    return 1 / math.sqrt(x) if x > 0 else math.inf if x == 0 else math.nan


floor = _whole(math.floor)
ceil = _whole(math.ceil)
trunc = _whole(math.trunc)
rint = _whole(round)
sqrt = _total(math.sqrt, math.inf)
sin = _total(math.sin, math.nan)
cos = _total(math.cos, math.nan)
exp = _total(math.exp, math.inf)
exp2 = _total(_exp2, math.inf)
log2 = _each(_log2)


@_each
def fract(x: float) -> float:  # noqa: D103 - `_each` describes them
    return x - math.floor(x) if math.isfinite(x) else math.nan


@_each
def log(x: float) -> float:  # noqa: D103
    return _log2(x) * math.log(2)


def inversesqrt(x: float) -> float:
    """1 / sqrt(x)."""
    return _inversesqrt(x)


def sign(x: float) -> float:
    """-1.0, 0.0 or 1.0."""
    return float((x > 0) - (x < 0))


def mod(x: float, y: float) -> float:
    """The remainder x - y * floor(x / y)."""
    return float(x % y)


def step(edge: float, x: float) -> float:
    """0.0 below the edge, 1.0 from there on."""
    return 0.0 if x < edge else 1.0


def clamp(x: Any, low: Any, high: Any) -> Any:
    """The number within [low, high] that is nearest to x, or to each component of a vector."""
    if isinstance(x, Vector):
        kind = type(x)
        return kind(*(clamp(*bounds) for bounds in zip(x, kind(low), kind(high), strict=True)))
    return min(max(x, low), high)


def mix(a: Any, b: Any, t: float) -> Any:
    """The number or vector between a (t = 0) and b (t = 1)."""
    return a + (b - a) * t


def smoothstep(low: float, high: float, x: float) -> float:
    """0.0 below low, 1.0 above high, and a smooth curve between."""
    t = clamp((x - low) / (high - low), 0.0, 1.0)
    return float(t * t * (3 - 2 * t))


def dot(a: Any, b: Any) -> float:
    """The sum of the products of components."""
    return math.fsum(one * two for one, two in zip(a, b, strict=True))


def length(v: Any) -> float:
    """A vector's length."""
    return math.sqrt(dot(v, v))


def distance(a: Any, b: Any) -> float:
    """The length from a to b."""
    return length(a - b)


def normalize(v: Any) -> Any:
    """A vector of the same direction whose length is 1."""
    return v * _inversesqrt(dot(v, v))


def cross(a: Any, b: Any) -> Any:
    """The vector that is perpendicular to both."""
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


def rotate_left(x: int, count: int) -> uint:
    """The 32 bits of x moved upwards, those that leave coming in below."""
    bits, distance = uint(x), count % _BITS
    return uint(int(bits) << distance | int(bits) >> (_BITS - distance))


def rotate_right(x: int, count: int) -> uint:
    """The 32 bits of x moved downwards, those that leave coming in above."""
    return rotate_left(x, -count)


def bit_count(x: int) -> int:
    """How many of the 32 bits are 1."""
    return int(uint(x)).bit_count()


def leading_zeros(x: int) -> int:
    """How many of the 32 bits above the highest 1 are 0."""
    return _BITS - int(uint(x)).bit_length()


def trailing_zeros(x: int) -> int:
    """How many of the 32 bits below the lowest 1 are 0."""
    bits = int(uint(x))
    return (bits & -bits).bit_length() - 1 if bits else _BITS


def multiply_high(a: int, b: int) -> int:
    """The upper 32 bits of the product."""
    high = int(a) * int(b) >> _BITS
    return uint(high) if isinstance(a, uint) else high


def _reinterpreted(x: Any, kind: type, code: str) -> Any:
    if isinstance(x, Vector):
        return VECTORS[kind, x.size](*(_reinterpreted(one, kind, code) for one in x))
    data = struct.pack("<f", x) if isinstance(x, float) else (int(x) % (1 << _BITS)).to_bytes(4, "little")
    return kind(struct.unpack(code, data)[0])


def as_float(x: Any) -> Any:
    """The 32 bits of a whole number, or of each component of a vector, as a float."""
    return _reinterpreted(x, float, "<f")


def as_int(x: Any) -> Any:
    """The 32 bits of a float, or of each component of a vector, as a whole number."""
    return _reinterpreted(x, int, "<i")


def as_uint(x: Any) -> Any:
    """The 32 bits of a float, or of each component of a vector, as a whole number without sign."""
    return _reinterpreted(x, uint, "<I")


def unroll(rounds: Iterable[_Item]) -> Iterable[_Item]:
    """The rounds of a `for` loop that is to be written out, so that its counter is known in each."""
    return rounds
