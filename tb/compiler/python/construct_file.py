"""The file in which kernels by construct stand, with the functions that they call, and the images that they look up."""

from collections.abc import Iterable
from typing import Any

import numpy as np

WIDTH, HEIGHT = 8, 4
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -0.5, 3.4028235e38, -3.4028235e38, 1.1754944e-38)
TINY = (-1e-10, 1e-10, -1e-20, -1e-37, 3.0, -2.5)
DIVISORS = (0.1, -0.1, 0.3, 1e-3, 1 / 3, 7.7, -2.5, 360.0, 1.0, -3.0)
_PRELUDE = """import math
import ctm
from ctm.language import *

TENTH = 0.10000000149011612
PRIMES = (2, 3, 5, 7, 11)
WEIGHTS = (0.5, -1.5, 2.0, 0.25)
PAIRS = ((1, 2.5), (-3, 0.125), (7, -4.0), (12, 1.0))


def tame(x):
    return floor(x * 8) / 8 if -32 < x < 32 else 1.5


def whole(n):
    return n % 1013 - 500


def kept(n, limit=300):
    if n > limit:
        discard()
    return n - limit


def deep(n):
    for k in range(3):
        if kept(n - k, 350) > 3:
            return 0
    return kept(n) * 2 + 1


def known(x):
    if not x == x:
        discard()
        return 0.5
    return x


def pair(n):
    if n > 280:
        discard()
    return n, n + 1


def turned(n, x):
    return x, n


def blend(x, y=0.5, scale: float = 2):
    return (x - y) * scale


def between(low: float, x: float, high: float = 10):
    return low < x < high


def climbing(n):
    low = kept(n)
    x = float(n - 300)
    while x > 0.5:
        x += 1.0
    return low + int(x)


def searched(n, x):
    for i in range(3):
        for j in range(i, 4):
            if i * j > n:
                return n - i, x
            if j == n % 4:
                break
        x += 0.5
    return n, -x


def auto(min, output, t0=2):
    pixel = min - output
    v_x = argument1 = pixel * t0
    return v_x + pixel - argument1 // 2


def v_argument0(kernel, constant):
    union = kernel
    if union < constant:
        union, kernel = constant, union
    return union, kernel


def ctm_min(argument1, argument0):
    r0, dropped = v_argument0(argument0, argument1)
    return r0 - 2 * dropped
"""


def file(kernels: Iterable[str], *, is_whole: bool) -> str:
    """The text of a file; what keeps whole numbers small is a mask where a remainder takes long and nothing wraps."""
    prelude = _PRELUDE if is_whole else _PRELUDE.replace("n % 1013", "(n & 1023)")
    return prelude + "".join(kernels)


def images() -> list[np.ndarray[Any, Any]]:
    """What these kernels look up: floats and integers; special values; dividends and divisors."""
    generator = np.random.default_rng(5)
    shape = HEIGHT, WIDTH
    numbers = generator.integers(-40, 40, (2, *shape)) / 8, generator.integers(-300, 300, (2, *shape))
    dividends = np.where(generator.random(shape) < 0.4, generator.choice(TINY, shape), generator.normal(0, 3000, shape))
    special, fine = generator.choice(SPECIAL, (4, *shape)), (dividends, generator.choice(DIVISORS, shape))
    return [np.stack(list(each), axis=-1).astype(np.float32) for each in (np.concatenate(numbers), special, fine)]
