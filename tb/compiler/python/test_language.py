"""Everything that kernels in Python can say means on cores what it means in plain Python."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.sim.compiler.python import translate_definition, translate_source
from ctm.sim.compiler.source import Source
from ctm.tb.compiler.python.modules import HEAD, module

SIZE = 8
PRELUDE = """
QUARTER, HALF = 0.25, 1 / 2
COUNT: int = 2 ** 3 - 5
WEIGHTS = [0.5, -1.5, 2.0]
PAIRS = ((1, 2), (3, 4))
SLOPE = -math.pi


def both(x: float, y=2.0):
    if x > y:
        return y, x
    return x, y


def last(x):
    for k in range(9):
        if k * 2 > x:
            return k
    return -1


def clipped(x: float, low=1):
    if x < low:
        return low
    if x > 4:
        return True
    return x


def never(x: float):
    discard()
    return x


def dropped(x: float):
    if x > 3:
        discard()
    return x * 2


def inner(v: vec2, image: Image, table: list[float]):
    return dot(v, texel(image, v).xy) + table[1]
"""
ANYWHERE = {
    "operators": "return i + j * 2 - 3, (x - y) * 4.0, -i, +x",
    "division of whole numbers": "return i / 4, (i - 4) // 3, (i - 4) % 3, (i - 4) % -3",
    "division of floats": "return (x - 4) // 1.5, (x - 4) % 1.5, (x - 4) % -2, 7.5 // (y + 1)",
    "powers": "return x ** 2, i ** 3, (x + y) ** 1, 2 ** 5",
    "chained comparisons": "return 1 < i < 5, 0 <= j - 1 == i, (1 < i) < j, 2 > x >= 1 > y - 3",
    "truth": "return i and j, i or 7, x and y, not i",
    "conditions": "return (i > 2 or x < 1) and not (j == 3), bool(i), i if j else x, 1 if i > 1 and j else 0",
    "several items": "w = [1.0] * 2\nw[0], (w[1], a) = x, (y, i)\nreturn w[0], w[1], a, len(w)",
    "assignments": "a = b = i\na += 2\nb *= 3\na, b = b, a\nreturn a, b, (a, b)[0] + (i, j)[-1], a // b if b else 0",
    "tuples": "p = (i, x)\nq = p[1], p[0]\n(c, d), e = q, j\np = (j, y)\nreturn c, d, e, p[0] + p[1]",
    "tables": "t = ((i, x), (j, y), (7, 0.5))\na, b = t[i % 3]\nreturn a, b, t[-1 - j % 3][0], PAIRS[i % 2][j % 2]",
    "annotated": "a: float = i\na /= 2\nb: int = j\nreturn a, b, 1.0, 2.0",
    "if": "if i < 2:\n    a = 1\nelif j < 2:\n    a = 2\nelse:\n    a = 3\nreturn a, 1, 2, 3",
    "while": "n = i\ns = 0\nwhile n > 0 and s < 9:\n    s += n\n    n -= 1\nreturn n, s, 0, 0",
    "for over items": "s = 0\nfor a, b in PAIRS:\n    s += a * b * i\nfor k in (i, j, 3):\n    i = 5\n    if k == 2:\n"
    "        continue\n    s += k\nfor c in ivec3(i, j, 2):\n    if c == 1:\n        break\n    s += c\nreturn s, k",
    "for over lists": "w = [x, y]\ns = 0.0\nfor k, c in enumerate(w, 1):\n    w[1] = 5.0\n    s += k * c\n"
    "for a, (b, c) in zip(WEIGHTS, PAIRS):\n    s = s * a + c - b\nfor c in [x, 2.0, y]:\n"
    "    s = s / 2 + c\nreturn s, k",
    "for in reverse": "s = i\nfor k, a in enumerate(reversed(PAIRS)):\n    s = s * 3 + k * a[1]\n"
    "for c in reversed((x, y, 2.0)):\n    s = s // 2 + int(c)\nreturn s, i",
    "starts of enumerations": "k = i\nw = [j, 2]\ns = 0\nfor k, t in enumerate((1, 2, i), k):\n    s = s * 3 + k + t\n"
    "for n, t in enumerate((i, j), start=w[0]):\n    w[0] += 5\n    s += n * t\nreturn s, k, n, w[0]",
    "targets in a list": "w = [7, i, j]\ns = 0\nfor w[0], a in zip((1, 2, i), w, strict=True):\n    s = s * 3 + a\n"
    "for w[1], w[2] in zip(w, reversed(w)):\n    s += w[1] * w[2]\nreturn s, w[0], w[1], w[2]",
    "for over numbers": "s = 0\nfor k, n in enumerate(range(5, 1, -2)):\n    s += k * n + i\nfor k in "
    "reversed(range(3)):\n    s = s * 2 + k\nfor k, (a, b) in zip(range(2, 9), [[1, i], [j, 2]]):\n    s += k * a - b\n"
    "return s, k",
    "what a loop leaves": "for k in range(3):\n    if k > i:\n        a = j\n        continue\n    a = k\n"
    "    if k == j:\n        break\nfor n in (i, j):\n    b = n\n    if n == 3:\n        b = 9\n        break\n"
    "return a, b, k, n",
    "lengths": "return len(PAIRS), len(PAIRS[0]) * i, len((i, j, x)), len(pixel) + len(WEIGHTS)",
    "names of arguments": "a, b = both(y=x, x=y)\nreturn a, b, both(x, y=j)[0], clipped(low=i, x=y)",
    "calls that end": "q = x\nif i == 3:\n    z = never(q)\nif i == 5:\n    return never(x)\nreturn q + 1.0",
    "wider results": "return clipped(x), clipped(y, low=j), clipped(i), clipped(x, 2)",
    "endless": "n = 0\nwhile True:\n    n += 1\n    if n * n > i:\n        r = n\n        break\nreturn r, n, 0, 0",
    "for": "s = 0\nfor k in range(i):\n    k += 1\n    s += k\nfor k in range(5, j, -2):\n    s += 10 * k\nreturn s, 0",
    "continue": "s = 0\nfor k in range(6):\n    if k == i:\n        continue\n    if k > j:\n        break\n"
                "    s += k\nreturn s",
    "early return": "for k in range(6):\n    if k * 2 >= i:\n        return k, 1, 2, 3\nreturn 9, 8, 7, 6",
    "functions": "a, b = both(x, y)\nc, d = both(float(i))\nreturn a - b, c, d, last(i)",
    "results of functions": "return both(x)[0] + both(y)[1], last(x), last(j + 1), max(last(i), 2)",
    "discarded in a function": "return dropped(x), i, j, 1.0",
    "discarded": "if i == j:\n    discard()\nreturn i, j, x, y",
    "numbers of the file": "return QUARTER + HALF, COUNT * i, WEIGHTS[1] * x, PAIRS[1][0] + len(WEIGHTS)",
    "numbers that are known": "return SLOPE, math.sqrt(2.25), 1 / 3, 7 // -2 + 2 ** 3 % -5",
    "functions of numbers": "return abs(i - 4), min(i, j, 3), max(x, y, 1.0), min(x, 2)",
    "conversions": "return int(x - 4), float(i) / 2, int(-1.5), bool(x)",
    "floors": "return math.floor(x - 3.5), math.ceil(y - 2), math.trunc(x - 4), floor(x - 3.5) + ceil(y) + trunc(-x)",
    "fractions": "return fract(x), mod(x - 3, 2.0), clamp(x, 1.0, 2.5), clamp(i - 2, 0, 3)",
    "shading": "return step(2.0, x), sign(x - 2), mix(x, y, 0.25), smoothstep(0.0, 4.0, x)",
    "vectors": "v = vec4(pixel, x, 1)\nw = v.wzyx * 2 - v\nreturn v, w, v.yx + pixel / 2, -vec3(w.xy, y)",
    "components": "v = vec3(1, x, y)\na, b, c = v\nreturn v[1], a + b + c, v.r + v.zy.y, v[-1]",
    "vectors of whole numbers": "v = ivec2(i, j) * 3 + 1\nreturn v, vec2(v) / 2, ivec3(v, 7).zxy, ivec2(pixel)",
    "geometry": "v = vec2(3, 4) * (i + 1)\nreturn dot(v, pixel + 1.0), cross(vec3(v, 1), vec3(1, v)), vec2(2), abs(-v)",
    "fetches": "return texel(image, pixel), texel(image, i + 1, j), texel(image, x, y).zw, texel(image, pixel + 0.5).x",
    "constants": "return scale * x, n + i, offset.yx + pixel, items[1] + items[3 - 1]",
    "other parameters": "scale = scale + 1\nn += i\nreturn scale, n, inner(pixel, image, items), flag",
    "unrolled": "s = 0.0\nfor k in unroll(range(3)):\n    s += WEIGHTS[k] * items[k]\nreturn s, 0, 0, 0",
    "unrolled lists": "w = [0.0] * 4\nfor k in unroll(range(4)):\n    w[k] = x * k\nw[1] += w[2]\n"
                      "return w[1], w[-1], len(w)",
    "math": "return math.fabs(x - 3), math.floor(math.pi * 2), int(True) + True, abs(-x)",
    "names of C": "double = x\nauto = i\nint_ = 3\nkernel = double + auto\nreturn kernel, double, auto + int_",
    "docstring": "'What it does.'\npass\nreturn x, y, i, j",
}  # fmt: skip
OF_BITS = {
    "bits": "return i & 5, j | 6, i ^ j, ~i",
    "shifts": "return i << 3, (i - 4) >> 1, 1 << j, 200 >> i",
    "truth as a number": "return (i > 2) & (j > 2), True ^ (i == 3), (i > 1) + 1, -(j > 1)",
    "unsigned": "u = uint(i) - 3\nreturn u, u // 7, u % uint(1000), u >> 3",
    "unsigned bits": "u = uint(i) * 0x9E3779B9\nreturn u ^ (u >> 15), u & 0xFFFF0000, ~u, u << 3",
    "counting": "u = uint(i * 37)\nreturn bit_count(u), leading_zeros(u), trailing_zeros(u), multiply_high(u, u << 9)",
    "rotations": "u = uint(i) + 0xABCDEF01\nreturn rotate_left(u, 5), rotate_right(u, j), u > 7, u == 0xABCDEF01",
    "reinterpreted": "return as_int(x), as_uint(y), as_float(as_int(x) + 1), as_uint(vec2(x, y))",
    "lists": "w = [1, 2, 3, 4]\nw[i % 4] += j\nfor k in range(3):\n    w[k] = w[k + 1] * 2\nreturn w[j % 4], w[3]",
    "computed constants": "return items[i % 3], 0, 0, 0",
    "rounding": "return round(x), round(x - 3.25), rint(y + 0.5), rint(vec2(x, 2.5))",
    "vectors of bits": "v = uvec4(1, 2, 3, i) ^ 0xFF\nreturn v, v.wz >> 1, ivec2(i, j) & 3, ~ivec2(i, j)",
    "images of whole numbers": "e = texel(codes, i, j)\nreturn e, e.x + 1, texel(codes, pixel).y, e.zw",
}  # fmt: skip
PARAMETERS = (
    "pixel: vec2, image: Image, scale: float, n: int, offset: vec2, items: list[float], flag: bool, codes: Image[int]"
)


def arguments() -> list[Any]:
    """For these parameters."""
    generator = np.random.default_rng(2)
    image = (generator.integers(-16, 16, (SIZE, SIZE, 4)) / 4).astype(np.float32)
    codes = generator.integers(-(1 << 30), 1 << 30, (SIZE, SIZE, 2)).astype(np.int32)
    return [image, 1.5, 3, (0.5, -2), [0.25, 3.0, -1.5], True, codes]


def check(folder: Path, body: str, isa: str, *, tolerance: float = 0.0) -> None:
    """Compare the results of a kernel's body with those of Python."""
    lines = ["i, j = int(pixel.x), int(pixel.y)", "x, y = i / 2, j / 4", *body.split("\n")]
    text = "".join(f"    {line}\n" for line in lines)
    kernels = module(folder, f"{HEAD}{PRELUDE}\n\n@ctm.kernel\ndef k({PARAMETERS}):\n{text}")
    kernel = kernels.k
    # A file that is only read means the same as one that is executed.
    read = translate_source(Source.read(folder / "kernels.py"), "k")
    assert read.source.text == translate_definition(kernel.definition).source.text
    found, expected = kernel[SIZE, SIZE](*arguments(), isa=isa), kernel[SIZE, SIZE].in_python(*arguments())
    if not isinstance(found, tuple):
        found, expected = (found,), (expected,)
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), number
        assert np.allclose(one, other, rtol=tolerance, atol=tolerance), number


@pytest.mark.parametrize("isa", ["r700", "r5xx"])
@pytest.mark.parametrize("what", ANYWHERE)
def test_it_means_what_it_means_in_python(what: str, isa: str, tmp_path: Path) -> None:
    check(tmp_path, ANYWHERE[what], isa)


@pytest.mark.parametrize("what", OF_BITS)
def test_bits_mean_what_they_mean_in_python(what: str, tmp_path: Path) -> None:
    check(tmp_path, OF_BITS[what], "r700")


@pytest.mark.parametrize("isa", ["r700", "r5xx"])
@pytest.mark.parametrize(
    "text",
    [
        "sqrt(x), math.sqrt(y + 1), inversesqrt(x + 1), x ** 0.5",
        "sin(x), math.cos(y), exp2(x), math.exp(-x)",
        "log2(x + 1), math.log(y + 1), exp(vec2(x, y)), log(x + 2)",
        "length(pixel), distance(pixel, vec2(1, 1)), normalize(pixel + 1.0), math.pow(x + 1, 1.5)",
        "1 / (x + 1), x / (y + 3), pixel / (pixel + 3.0), 1 / math.log2(x + 3)",
    ],
)
def test_functions_that_are_not_exact_are_near(text: str, isa: str, tmp_path: Path) -> None:
    check(tmp_path, f"return {text}", isa, tolerance=1e-5)
