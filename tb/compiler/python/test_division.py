"""Quotients and remainders are those of Python's rule in float32 and in whole numbers, for any operands."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.tb.compiler.python.agreement import ISAS, device
from ctm.tb.compiler.python.modules import HEAD, module

SIDE = 128
LARGEST = 2.0**31
"""Below such quotients the remainder is exact."""
SMALLEST = 2.0**-126
TEXT = f"""{HEAD}
@ctm.kernel
def floats(pixel: ivec2, a: Image, b: Image):
    x, y = texel(a, pixel).x, texel(b, pixel).x
    return x // y, x % y


@ctm.kernel
def scales(pixel: ivec2, a: Image):
    x = texel(a, pixel).x
    return x // 1.0, x % 1, x // 8, x % 64.0


@ctm.kernel
def ints(pixel: ivec2, a: Image[int], b: Image[int]):
    x, y = texel(a, pixel).x, texel(b, pixel).x
    return x // y, x % y, x // -7, x % -7


@ctm.kernel
def uints(pixel: ivec2, a: Image[uint], b: Image[uint]):
    x, y = texel(a, pixel).x, texel(b, pixel).x
    return x // y, x % y, x // 10, x % 10


@ctm.kernel
def small(pixel: ivec2, a: Image, b: Image):
    x, y = int(texel(a, pixel).x), int(texel(b, pixel).x)
    return x // y, x % y, x // -7, x % 360
"""
Pairs = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def uniform(random: np.random.Generator, low: int, high: int) -> np.ndarray[Any, Any]:
    """Floats uniform in exponent, with both signs."""
    count = SIDE * SIDE
    words = np.ldexp(random.uniform(1, 2, count), random.integers(low, high, count)) * random.choice([-1, 1], count)
    return np.asarray(words, np.float32)


def pairs(kind: str) -> Pairs:
    """Dividends and divisors of a kind."""
    random = np.random.default_rng(5)
    count = SIDE * SIDE
    if kind == "uniform":
        return uniform(random, -126, 128), uniform(random, -126, 128)
    divisors = uniform(random, -80, 90)
    if kind == "quotients":
        return np.asarray(divisors * uniform(random, -3, 31).astype(float), np.float32), divisors
    if kind == "multiples":
        exact = np.asarray(divisors * random.integers(-(1 << 22), 1 << 22, count), np.float32)
        return np.nextafter(exact, random.choice(np.array([-np.inf, 0, np.inf], np.float32), count)), divisors
    if kind == "halves":
        # Divisors near 2, where what remains of a step is longest.
        divisors = np.asarray(2 - 2.0**-22 * random.integers(1, 4000, count), np.float32)
        wholes = random.integers(0, 2000, count) + 0.5 + random.normal(0, 1e-6, count)
        return np.asarray(wholes * divisors * random.choice([1, 2048], count), np.float32), divisors
    usual = random.choice(np.array([0.1, 0.25, 1, 3, 7.5, -2, -0.1, 360, 1e-3], np.float32), count)
    return np.asarray(random.choice([random.normal(0, 100, count), random.normal(0, 1e-9, count)]), np.float32), usual


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("kind", ["uniform", "quotients", "multiples", "halves", "usual"])
def test_floats_are_divided_as_numpy_does(kind: str, isa: str, tmp_path: Path) -> None:
    a, b = (each.reshape(SIDE, SIDE) for each in pairs(kind))
    quotient, remainder = module(tmp_path, TEXT).floats[SIDE, SIDE](a, b, device=device(isa, "fast"))
    with np.errstate(all="ignore"):
        exact, truncated, expected = a.astype(float) / b, np.fmod(a, b), np.mod(a, b)
        # A remainder that is denormal is zero on a core.
        are_normal = [(each == 0) | (np.abs(each) >= SMALLEST) for each in (truncated, expected)]
        is_measured = (np.abs(exact) < LARGEST) & are_normal[0] & are_normal[1]
        whole = np.rint((a.astype(float) - truncated) / b) - ((truncated != 0) & ((truncated < 0) != (b < 0)))
    wrong = is_measured & (remainder != expected)
    assert not wrong.any(), [float(each[wrong][0]).hex() for each in (a, b, remainder, expected)]
    is_exact = is_measured & (np.abs(whole) <= 1 << 24)
    assert np.array_equal(quotient[is_exact], whole[is_exact])
    assert np.allclose(quotient[is_measured], whole[is_measured], rtol=2.0**-22)
    assert np.all((remainder * np.sign(b) >= 0) & (np.abs(remainder) <= np.abs(b)))


@pytest.mark.parametrize("engine", ["golden", "fast"])
@pytest.mark.parametrize("isa", ISAS)
def test_infinite_and_tiny_operands_are_those_of_numpy(isa: str, engine: str, tmp_path: Path) -> None:
    a = np.array([[-1e-10, -1e-20, 5, -5, 5, -5, np.inf, np.nan, 1, 0, 1e9, -1e9, 3e38, 1e-37]], np.float32)
    b = np.array([[1, 1, np.inf, np.inf, -np.inf, -np.inf, 2, 1, np.nan, 3, 360, 360, 1.6e38, -3e38]], np.float32)
    found = module(tmp_path, TEXT).floats[a.shape[1], 1](a, b, device=device(isa, engine))
    with np.errstate(all="ignore"):
        expected = np.floor_divide(a, b), np.mod(a, b)
    assert all(np.array_equal(one, other, equal_nan=True) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("isa", ISAS)
def test_what_wrapped_below_zero_is_divided_as_python_does(isa: str, tmp_path: Path) -> None:
    text = f"""{HEAD}
@ctm.kernel
def wrapped(pixel: ivec2):
    c = uint(pixel.x) - uint(pixel.y) * 1000
    return int(c % 8), int(c % 1000), int(c % 4294967289), int(c // 2147483648)
"""
    found = module(tmp_path, text).wrapped[64, 64](device=device(isa, "golden"))
    y, x = np.mgrid[:64, :64]
    c = (x - y * 1000) % (1 << 32)
    expected = c % 8, c % 1000, (c % 4294967289).astype(np.uint32).view(np.int32), c // 2147483648
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("isa", ISAS)
def test_powers_of_two_divide_as_numpy_does(isa: str, tmp_path: Path) -> None:
    a = uniform(np.random.default_rng(8), -126, 128)
    a[:5] = -1e-10, -2e-38, np.inf, -np.inf, np.nan
    a[5:5000] = np.random.default_rng(9).normal(0, 100, 4995)
    a = a.reshape(SIDE, SIDE)
    found = module(tmp_path, TEXT).scales[SIDE, SIDE](a, device=device(isa, "fast"))
    with np.errstate(all="ignore"):
        one, eight, many = np.float32(1), np.float32(8), np.float32(64)
        expected = np.floor_divide(a, one), np.mod(a, one), np.floor_divide(a, eight), np.mod(a, many)
    assert all(np.array_equal(one, other, equal_nan=True) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize(("name", "kind"), [("ints", np.int32), ("uints", np.uint32)])
def test_whole_numbers_are_divided_by_any_other(name: str, kind: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    limits = np.iinfo(kind)
    edges = np.array([limits.min, limits.min + 1, limits.max, limits.max - 1, 1 << 30, 1, 2, 3, 7], kind)
    edges = np.unique(np.concatenate([edges, np.array([-1, -2, -7]).astype(kind)]))
    a = np.append(np.repeat(edges, len(edges)), random.integers(limits.min, limits.max, 512 - len(edges) ** 2, kind))
    b = np.append(np.tile(edges, len(edges)), np.array(random.integers(1, 1 << 30, 512 - len(edges) ** 2) >> 9, kind))
    dividends, divisors = a.reshape(2, 256), np.where(b == 0, 1, b).astype(kind).reshape(2, 256)
    found = getattr(module(tmp_path, TEXT), name)[256, 2](dividends, divisors, device=device("r700", "fast"))
    wide, other = dividends.astype(np.int64), divisors.astype(np.int64)
    constant = -7 if kind is np.int32 else 10
    expected = wide // other, wide % other, wide // constant, wide % constant
    for one, wanted in zip(found, expected, strict=True):
        assert np.array_equal(one, wanted.astype(kind))


def test_whole_numbers_that_are_floats_are_divided_exactly(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    a = random.integers(-(1 << 24), (1 << 24) + 1, (SIDE, SIDE))
    b = random.integers(1, 1 << 24, (SIDE, SIDE)) >> random.integers(0, 24, (SIDE, SIDE))
    b = np.where(b == 0, 1, b) * random.choice([-1, 1], b.shape)
    given = a.astype(np.float32), b.astype(np.float32)
    found = module(tmp_path, TEXT).small[SIDE, SIDE](*given, device=device("r5xx", "fast"))
    for one, wanted in zip(found, (a // b, a % b, a // -7, a % 360), strict=True):
        assert np.array_equal(one, wanted)
