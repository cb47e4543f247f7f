"""Arrays and tables of a kernel, with values, of small elements, and with computed indices, on R700 cores."""

from pathlib import Path

import pytest

from ctm.sim.compiler import KernelError, compile_kernel
from ctm.sim.compiler.source import Source
from ctm.tb.compiler import core
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.host import Launch, Library

HEAD = "#include <ctm/kernel.h>\nstruct both { int n; float x; };\n"
WHERE = Launch(width=16, height=3)
BODIES = (
    "int w[4] = {1, 2, 3, 4}; w[i & 3] += 10; r = w[0] + w[1] * 100 + w[2] * 10000 + w[3] * 1000000;",
    "int w[4] = {0}; w[i & 3] += 10; r = w[0] + w[1] * 100 + w[2] * 10000 + w[3] * 1000000;",
    "float w[4] = {1, 2, 3, 4}; w[i & 3] = 10; r = (int)(w[0] + w[1] * 100 + w[2] * 10000 + w[3] * 1000000);",
    "int w[8] = {1, 2, 3, 4, 5, 6, 7, 8}; w[i & 7] += 10; r = 0; for (int k = 0; k < 8; k++) r = r * 3 + w[k];",
    "int w[5] = {1, 2, 3}, v[3] = {7, 8, 9}; w[i % 5] += v[j % 3]; r = w[0] + w[1] * 20 + w[2] * 400 + "
    "w[3] * 7 + w[4];",
    "int w[2][3] = {{1, 2, 3}, {4, 5, 6}}; w[i & 1][j % 3] = 9; r = w[0][0] + w[0][1] * 10 + w[1][2] * 100;",
    "struct { int a[2]; float b; } s = {{1, 2}, 3}; s.a[i & 1] = 5; r = s.a[0] + s.a[1] * 10 + (int)s.b * 100;",
    "vec4 w[3] = {vec4(1.0f, 2.0f, 3.0f, 4.0f), vec4(5.0f)}; w[i % 3] += vec4(1.0f); r = (int)(w[0].y + "
    "w[1].z * w[2].w);",
    "int w[4] = {1, 2, 3, 4}, v[4]; for (int k = 0; k < 4; k++) v[k] = w[k] * j; v[i & 3]++; r = v[0] + v[3] * 100;",
    "static const int t[6] = {1, 5, 7, 9, 2, 3}; r = 0; for (int k = 0; k < 5; k++) r = r * 3 + t[k + 1] "
    "- t[k]; r += i;",
    "static const int t[6] = {1, 5, 7, 9, 2, 3}; int w[6]; for (int k = 0; k < 6; k++) w[k] = t[k]; r = w[i % 6];",
    "static const float t[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}; r = (int)t[j & 1][i & 3];",
    "static const struct both t[3] = {{1, 2.5f}, {3, 4.5f}, {5, 6.5f}}; struct both s = t[i % 3]; r = "
    "(int)(s.n * s.x);",
    "static const float t[16] = {1.5f, 2, 3}; r = (int)(t[i] * 10);",
    "static const int t[2][12] = {{5, 7, 9}, {0, 1}}; r = t[j & 1][i % 12] * 3 + t[1][j];",
    "static const unsigned char t[4] = {1, 5, 7, 200}; r = t[i & 3];",
    "static const short t[5] = {1, -5, 7, 300, 4}; r = t[i % 5];",
    'r = "hello world"[i & 7];',
    "unsigned char v[4]; v[0] = 1; v[1] = 2; v[2] = 3; v[3] = 4; r = v[i & 3];",
    "short v[4] = {1, 2, 3, 4}; v[i & 3] += 10; r = v[0] + v[1] * 100;",
    "short v[8] = {i, j}; v[i & 7] = j; r = v[j & 7] + v[i % 5] * 3;",
    "char v[8] = {1, 2}; v[i & 7] = 9; v[(i + 1) & 7] = v[i & 7] + 1; r = 0; for (int k = 0; k < 8; k++) "
    "r = r * 3 + v[k];",
    "_Bool v[4] = {i & 1, 1, 0, 3}; r = v[i & 3] + 2 * v[3 - (i & 3)];",
    "signed char v[3] = {-1, -2, -3}; v[i % 3] -= 100; r = v[0] + v[1] * 1000 + v[2];",
    "unsigned char v[2][3] = {{1, 2, 3}, {4, 5, 6}}; v[i & 1][i % 3] = 9; r = v[0][0] + v[0][1] * 10 + v[1][2] * 100;",
    "unsigned char v[6]; for (int k = 0; k < 6; k++) v[k] = (unsigned char)(k * 37 + i); r = v[i % 6] * 3 + v[2];",
    "uint u = (uint)i * 77777u; for (int k = 0; k < 32; k++) u = u & 1 ? (u >> 1) ^ 0xEDB88320u : u >> 1; r = (int)u;",
)


@pytest.mark.parametrize("body", BODIES)
def test_an_array_is_what_it_is_on_the_host(body: str, tmp_path: Path) -> None:
    text = f"{HEAD}kernel void k(ivec2 p) {{ int i = p.x, j = p.y, r; {body} output(0, ivec4(r)); }}\n"
    expected = Library([text], tmp_path).run("k", WHERE, core.UNTOUCHED)
    program = compile_kernel(Source(text, "k.c"), isa="r700").executable
    assert differences(core.run(program, WHERE), expected, bits=(0,)) == 0


def test_small_elements_that_are_seen_as_others_are_errors() -> None:
    body = "char v[8]; for (int k = 0; k < 8; k++) v[k] = (char)(k + p.x); output(0, ivec4(*(int *)(v + (p.x & 4))));"
    text = f"{HEAD}kernel void k(ivec2 p) {{ {body} }}\n"
    with pytest.raises(KernelError, match="an array of char, short or _Bool that is used as other types, too"):
        compile_kernel(Source(text, "k.c"), isa="r700")


SMALL_INSIDE = (
    "struct { short s, t; } q[2] = {{0}}; q[i & 1].s = j; q[1].t = i; r = q[j & 1].s + q[0].t;",
    "struct { int k; signed char c; _Bool b; } q[3]; q[i % 3].c = j; q[1].b = i & 1; r = q[j % 3].c + q[1].b;",
    "union { uint u; unsigned char b[4]; } q[3]; q[0].u = i; q[1].u = j; q[2].u = 5; q[i % 3].b[1] = 9; r = q[j].u;",
    "struct { short s[2]; int k; } q; q.k = 5; q.s[0] = i; q.s[1] = j; q.s[i & 1] = 7; r = q.s[j & 1] + q.k;",
    "int v[4] = {1, 2, 3, j}; short *s = (short *)v; s[1] = 7; s[0] = j; r = v[i & 3];",
    "unsigned short v[4] = {1, 2, 3, j}; r = (int)((uint *)v)[i & 1];",
)


@pytest.mark.parametrize("body", SMALL_INSIDE)
def test_small_elements_beside_others_are_errors(body: str) -> None:
    text = f"{HEAD}kernel void k(ivec2 p) {{ int i = p.x, j = p.y, r; {body} output(0, ivec4(r)); }}\n"
    with pytest.raises(KernelError, match="char, short or _Bool .* other types.*: make them int"):
        compile_kernel(Source(text, "k.c"), isa="r700")


def test_structs_of_whole_registers_are_what_they_are_on_the_host(tmp_path: Path) -> None:
    body = (
        "struct { int a; uint b[2]; } q[2] = {{0}}; q[i & 1].b[j & 1] = i; q[1].a = j; r = q[j & 1].b[0] + q[i & 1].a;"
    )
    text = f"{HEAD}kernel void k(ivec2 p) {{ int i = p.x, j = p.y, r; {body} output(0, ivec4(r)); }}\n"
    expected = Library([text], tmp_path).run("k", WHERE, core.UNTOUCHED)
    assert differences(core.run(compile_kernel(Source(text, "k.c"), isa="r700").executable, WHERE), expected) == 0


def test_an_array_that_llvm_gets_wrong_is_an_error_that_says_what_to_write() -> None:
    begin = f"{HEAD}kernel void k(ivec2 p) {{ int a = as_int(texel(0, p).x), s = 0, v[5] = {{1, 2, 3}};"
    write, end = "v[(uint)a % 5u] += a;", "output(0, ivec4(s, 1, 2, 3)); }\n"
    text = f"{begin} {write} s = v[0] + v[1] * 2 + v[2] * 4 + v[3] * 8 + v[4] * 16; {end}"
    with pytest.raises(KernelError, match=r"reads an array after .*; read its elements in a loop, or avoid the array"):
        compile_kernel(Source(text, "k.c"), isa="r700")
    compile_kernel(Source(f"{begin} {write} for (int k = 4; k >= 0; k--) s = s * 2 + v[k]; {end}", "k.c"), isa="r700")
