"""Structs by value and tables of vectors: LLVM writes them in several forms, and all give what the host gives."""

from pathlib import Path

import numpy as np
import pytest

from ctm.tb.compiler.device_core import check_beside_host
from ctm.tb.compiler.host import Launch

HEAD = """#include <ctm/kernel.h>
struct matrix { float m[17]; };
static float ends(struct matrix a, struct matrix b) { return a.m[0] * 2 + a.m[16] - b.m[3]; }
static struct matrix filled(float x) {
    struct matrix a;
#pragma unroll
    for (int k = 0; k < 17; k++) a.m[k] = x + k;
    return a;
}
static float first(vec2 p, int) { return p.x; }
"""
STRUCTS = {
    "too large for registers": "output(0, ends(filled(p.x), filled(p.y)));",
    "a parameter without a name": "output(0, first(p, 2));",
}
TABLES = {
    "equal components": "static const vec4 t[3] = {{1, 1, 1, 1}, {1, 2, 3, 4}, {0, 0, 0, 0}}; "
    "output(0, t[((int)p.x + (int)p.y) % 3]);",
    "offsets": "static const vec2 t[4] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}; "
    "output(0, vec4(t[(int)p.x & 3], t[(int)p.y & 3]));",
    "three components": "static const vec3 t[3] = {{1, 2, 3}, {4, 5, 6}, {7, 7, 7}}; "
    "vec3 a = t[((int)p.x + (int)p.y) % 3]; output(0, vec4(a.x, a.y, a.z, t[(int)p.y % 3].z));",
    "structs with three components": "static const struct { vec3 c; float r; } "
    "t[3] = {{{1, 2, 3}, 9}, {{4, 4, 4}, 8}}; vec3 a = t[(int)p.x % 3].c; "
    "output(0, vec4(a.x, a.y, a.z, t[((int)p.x + (int)p.y) % 3].r));",
    "variables without stores": "static int t[4] = {1, 2, 3, 7}; static vec3 v[2] = {{1, 2, 3}, {4, 5, 6}}; "
    "int *a = t; output(0, vec4(v[(int)p.y & 1].z, (float)t[(int)p.x & 3], (float)a[((int)p.x + (int)p.y) % 3], 0));",
    "whole numbers": "static const ivec4 t[2] = {{7, 7, 7, 7}, {1, 2, 3, 4}}; "
    "output(0, (float)t[(int)p.x & 1].z + (float)t[(int)p.y & 1].x);",
}


@pytest.mark.parametrize(
    ("body", "isa"),
    [
        *((body, isa) for body in STRUCTS.values() for isa in ("r5xx", "r700")),
        *((body, "r700") for body in TABLES.values()),
    ],
    ids=[*(f"{name}-{isa}" for name in STRUCTS for isa in ("r5xx", "r700")), *TABLES],
)
def test_a_kernel_gives_what_the_host_gives(body: str, isa: str, tmp_path: Path) -> None:
    text = f"{HEAD}kernel void k(vec2 p) {{ {body} }}\n"
    given = Launch(width=6, height=5, inputs={0: np.zeros((5, 6, 4), np.float32)})
    check_beside_host(text, isa, given, tmp_path)
