"""A function that drops the pixel ends the kernel, wherever it is called, and operands are computed in their order."""

from pathlib import Path

import pytest

from ctm.tb.compiler.python.agreement import agree, cases

PRELUDE = """
def checked(x):
    if x > 2:
        discard()
    return x + 1


def deep(x):
    return checked(x) * 2


def pair(x):
    if x > 2:
        discard()
    return x, x + 1


def endless(x):
    while True:
        x += 1
        if x == -1:
            return x


def never(x):
    if x > 5:
        discard()
    discard()
"""
KERNELS = {
    "in a loop": "k = 0\nwhile k < i:\n    k = checked(k)\nreturn k",
    "through levels": "s = 0\nfor k in range(checked(n) + 5):\n    s += deep(k - i)\nreturn s, pair(n)[1]",
    "in a condition": "k = 0\nwhile k < i and pair(k)[0] < 9:\n    k = checked(k)\nwhile pair(k - 1)[1] < n:\n"
    "    k += 1\nreturn k",
    "in order": "return i > 5 or pair(i)[0] > 100, pair(i)[1] if i < 3 else 5, i if i > 5 and checked(i) else 7",
    "in a chain": "return 0 < i < pair(n)[0] < checked(i - 2), (checked(i) if i < 3 else deep(n - 1))",
    "before what has no end": "return checked(n) + endless(n if n < 0 else 0) if n > 2 else i",
    "in assignments": "a, (b, c) = i, pair(n)\na += checked(n)\nw = [deep(n), a]\nw[1] += checked(n - 1)\n"
    "return a, b + c, w[0], w[1]",
    "without results": "if i > 5:\n    never(i)\nelif i == 2:\n    never(n)\nelse:\n    return i",
}  # fmt: skip


@pytest.mark.parametrize(("where", "isa"), cases(KERNELS, 5))
def test_the_kernel_ends_where_the_pixel_is_dropped(where: str, isa: str, tmp_path: Path) -> None:

    agree(tmp_path, KERNELS[where], isa, prelude=PRELUDE)
