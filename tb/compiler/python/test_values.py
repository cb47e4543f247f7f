"""Assignments, whole numbers of both kinds, powers and NaN are on cores what they are in Python."""

from pathlib import Path

import pytest

from ctm.sim.compiler import KernelError
from ctm.tb.compiler.python.agreement import agree, cases, kernel

PRELUDE = """
WEIGHTS = (1.0, 4.0, 6.0, 4.0, 1.5)


def swapped(a, b):
    return b, a


def between(low: float, x: float, high: float = 1.0):
    return low < x < high
"""
ASSIGNMENTS = {
    "a tuple of its own items": "t = (i, j)\nfor k in range(3):\n    if k < i:\n        t = (t[0] + t[1], t[0])\n"
    "    else:\n        t = (t[1], t[0] + 1)\nt = swapped(t[0], t[1])\ns = t\nt = (t[1], 5)\n"
    "return t[0], t[1], s[0], s[1]",
    "nested tuples": "t = ((i, 1), (x, 2))\nt = ((t[0][1], t[0][0]), (t[1][0] + 1, t[0][0]))\n(a, b), c = t\n"
    "a, (b, d) = b, (a, c[0])\nreturn a, b, c[1], d",
    "vectors and lists": "v = vec2(x, y)\nv = vec2(v.y, v.x)\nw = [i, j, 5]\nw[0], w[1] = w[1], w[0]\n"
    "w = [w[1], w[2], w[0]]\na = b = t = (i, w[1])\nt = (t[1], a[0])\n"
    "return v, w[0] + 10 * w[1] + 100 * w[2], t[0], b[1]",
    "targets in their order": "w = [0] * 3\nk = 0\nk, w[k] = 1, i\na = b = i\na += 1\nw[k] += w[k + 1] - 2\n"
    "return w[0], w[1], a, b",
}  # fmt: skip
NUMBERS = {
    "int beside uint": "return min(n, h), max(n, h, 2), float(n if i > 3 else h), int(n if i < 3 else h)",
    "int or uint": "return (n if i > 3 else h) < 3, -1 == (h if i else n), (n if i < 6 else h) * 0.5, 5 if i else u",
    "comparisons": "return n < h, n == u, u >= n, n < 3000000000",
    "the smallest int": "best = -2147483648\nif n > best:\n    best = n\n"
    "return best, max(n, -2147483648), n - 1 > -2147483648",
    "truth": "b = i > 3\nc = j > 0\nreturn b + c + True, -b, b * 3 + ~True, b / 2 - (b ** 2)",
    "whole numbers": "a, b = divmod(n, 3)\nc, d = divmod(x, -0.75)\nreturn a * 10 + b, c, d, n // -3 * 100 + n % -3",
    "loops": "k = 99\nfor k in range(i):\n    l = k\n    k += 5\ns = 0\nfor l in range(10, n, -3):\n    s += l\n"
    "while True:\n"
    "    m = s * 2\n    if s < 50:\n        break\n    s -= 7\nreturn k, s, m",
    "equal or not": "return h <= n, u != n, -1 < u, n > u",
    "chains": "return 1 < i < 5 > j, n < i != j, (1 if i > 1 else 2 if j else 3), between(x, y) or i > 2 > j",
    "tables and indices": "s = 0.0\nfor k in range(5):\n    s += WEIGHTS[k] * (i + k)\nv = vec4(1, 2, 3, 4)\n"
    "return s, WEIGHTS[n], WEIGHTS[n // 2], v[n % 4] + v[-1 - i % 2]",
    "below zero without sign": "return u - h, ~u, uint(i - 5), uvec2(u - 20, 3)",
    "products with zero": "return float(i - i) * n, (0.0 * j == n), 0 * x + n * 0.0",
    "rounding": "return round(x), round(3 * x - 2), round(0.5 * n), math.floor(x) + int(-2.7)",
}  # fmt: skip
POWERS = {
    "of whole numbers": "return n ** 0 + i ** 1, n ** 5, u ** 3, (i > 3) ** 2 + 3 ** 2",
    "of floats": "return x ** 0, x ** 3, x ** 4, x ** 2.0 + n ** 3.0",
    "high ones": "return (x / 2) ** 17, (y + 0.5) ** 40.0, n ** 13, x ** 16",
    "negative ones": "return (x + 10) ** -1, (n + 10) ** -2, (i + 1) ** -3.0, (x + 5) ** -2.0",
    "of fractions": "return (i + 1) ** 0.5, (i + 1) ** -0.5, (i + 1) ** 2.5, (x + 3) ** -0.7",
    "by functions": "return math.pow(x, 2), math.pow(x - 9, 3), pow(n, 2), math.pow(2, x)",
    "that are computed": "return (x + 3) ** y, (-f) ** float(n), (f * 0) ** float(i), f ** (0.0 * i)",
    "of vectors": "v = vec2(x, y + 1) ** 2\nreturn v, ivec2(i, n) ** 3, vec2(i + 1, j + 1) ** -1, v ** 0",
}
NOT_A_NUMBER = {
    "comparisons": "nan = inf - inf\nreturn nan == nan, nan != nan, 1 < nan < 3, not nan < 1",
    "truth": "nan = inf - inf\nreturn bool(nan), nan and 1.0, nan or 2.0, 1 if nan else 2",
    "extremes": "nan = inf - inf\nreturn max(nan, 1.0, 2.0), min(1.0, nan, 0.5), max(1.0, 2.0, nan), clamp(nan, "
    "0.0, 1.0)",
    "functions": "nan = inf - inf\nreturn sign(nan), step(0.0, nan), smoothstep(0.0, 1.0, nan), mix(nan, 1.0, 0.5)",
    "infinity": "return floor(inf), ceil(-inf), trunc(inf) - 1, inf == inf",
    "out of domains": "return sqrt(-f), log(f * 0), exp(f * 200), inversesqrt(f * 0)",
    "divisions": "return x // inf, x % inf, inf // 2.0, inf % 2.0",
    "powers": "nan = inf - inf\nreturn nan ** 0, 1.0 ** nan, inf ** 0.0, nan ** f",
}
BITS = {
    "long shifts": "s = 8 * i\nreturn n >> s, u >> s, 1 << i, -5 >> 40",
    "shifts of all bits": "return u << 33, u << 31, u >> 32, (n & 1) << 30",
    "unsigned": "return u - 1, u * 3 - 7, ~u, (u + 70000) ** 2",
    "conversions": "return uint(x - 5), uint(-1.5), uvec2(vec2(x, -x)), u | n",
    "vectors of shifts": "return uvec2(u, u + 1) << uvec2(u * 8, 1), ivec2(n, -i) >> (i * 8), uvec2(u, "
    "u * 99999) >> (u * 9)",
}


@pytest.mark.parametrize(("what", "isa"), cases(ASSIGNMENTS, 4))
def test_what_is_assigned_was_computed_before(what: str, isa: str, tmp_path: Path) -> None:
    agree(tmp_path, ASSIGNMENTS[what], isa, prelude=PRELUDE)


@pytest.mark.parametrize(("what", "isa"), cases(NUMBERS, 6))
def test_numbers_have_values_of_python(what: str, isa: str, tmp_path: Path) -> None:
    agree(tmp_path, NUMBERS[what], isa, prelude=PRELUDE)


@pytest.mark.parametrize(("what", "isa"), cases(POWERS, 4))
def test_powers_have_values_of_python(what: str, isa: str, tmp_path: Path) -> None:
    agree(tmp_path, POWERS[what], isa, tolerance=2e-6)


@pytest.mark.parametrize(("what", "isa"), cases(NOT_A_NUMBER, 4))
def test_nan_and_infinity_are_those_of_python(what: str, isa: str, tmp_path: Path) -> None:
    agree(tmp_path, NOT_A_NUMBER[what], isa)


@pytest.mark.parametrize("what", BITS)
def test_bits_are_those_of_python(what: str, tmp_path: Path) -> None:
    agree(tmp_path, BITS[what], "r700")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a = n if i > 3 else h\nreturn a", "an int or a uint, by its value: write int(...), uint(...) or float(...)"),
        ("return n if i > 3 else h", "it returns an int or a uint, by its value"),
        ("return n + h", "int + uint: make both uint or both int"),
        ("w = [n, h]\nreturn w[0]", "a list has a known length and items of one type"),
        ("return (-8) ** 0.5", "it is a complex number"),
        ("return 2 ** i", "a whole number to a power that is not a known number: make it float"),
        ("return vec2(x, y) ** x", "a power of vectors that is not a known number: write it for each component"),
        ("return math.pow(vec2(x, y), 2)", "pow() takes two numbers: write ** for vectors"),
        ("return n ^ 0xFFFFFFFF", "int ^ uint: it may have more than 32 bits; write uint(...) around both"),
        ("for k in range(0, 2147483647, 5):\n    n += k\nreturn n", "a range that ends within a step of 2^31"),
        ("return n >> -1", "a negative shift: shift in the other direction"),
    ],
)
def test_what_has_no_value_of_32_bits_is_an_error(body: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(KernelError) as caught:
        kernel(tmp_path, body).program("r700")
    assert message in str(caught.value)
