"""Functions and variables that LLVM resolves: tail recursion, pointers that are constant, variables without stores."""

from pathlib import Path

import numpy as np
import pytest

from ctm.tb.compiler.device_core import check_beside_host
from ctm.tb.compiler.host import Launch

HEAD = """#include <ctm/kernel.h>
int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }
static int sum(int n, int total) { return n == 0 ? total : sum(n - 1, total + n); }
static int factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }
static float twice(float x) { return x * 2; }
static float next(float x) { return x + 1; }
static float (*const functions[2])(float) = {twice, next};
static float composed(float (*f)(float), float (*g)(float), float x) { return g(f(x)); }
float weights[3] = {1, 0.5f, 4};
static int rounds = 5;
"""
BODIES = {
    "tail recursion": "output(0, (float)gcd((int)p.x + 12, 2 * (int)p.y + 2));",
    "a sum": "output(0, vec4(sum(6, 0), sum((int)p.x, 3), 0, 0));",
    "a product": "output(0, (float)factorial((int)p.x));",
    "functions as arguments": "output(0, vec4(composed(twice, next, p.x), composed(next, twice, p.y), 0, 0));",
    "a table of functions": "float x = p.x;\n#pragma unroll\nfor (int k = 0; k < 4; k++) x = functions[k & 1](x); "
    "output(0, x);",
    "variables without stores": "float x = p.x; for (int k = 0; k < rounds; k++) x += weights[1]; "
    "output(0, x * weights[2]);",
}


@pytest.mark.parametrize("isa", ["r5xx", "r700"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_kernel_gives_what_the_host_gives(body: str, isa: str, tmp_path: Path) -> None:
    text = f"{HEAD}kernel void k(vec2 p) {{ {body} }}\n"
    given = Launch(width=6, height=5, inputs={0: np.zeros((5, 6, 4), np.float32)})
    check_beside_host(text, isa, given, tmp_path)
