"""Integers on R5xx cores, which hold them as floats, are what the same C gives on the host, where floats are exact."""

from pathlib import Path

import numpy as np
import pytest

from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.ir.module import Module
from ctm.sim.compiler.r5xx.integers.bits import runs
from ctm.sim.compiler.r5xx.integers.ranges import Range, Ranges
from ctm.sim.compiler.source import Source
from ctm.tb.compiler import core, device_core
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.host import Launch, Library

HEAD = "#include <ctm/kernel.h>\n"
CONDITIONS = (
    "a < 0 || a >= 5", "!(2 < a && a <= 10)", "a != 3 && a != 4", "a == 3 || a == 4 || a == 6", "a < -2 || a > 3",
    "a < b", "a <= b", "a == b", "a != b", "!(a >= b)", "(a > b) - (a < b)", "-(a > b)", "(a > b) - 1", "~(a > b)",
    "a > b ? -1 : 0", "a > b ? 8 : 2", "(a > 0) & (b > 0)", "(a > 0) | (b > 0)", "(a > 0) ^ (b > 0)",
    "(a > 0) != (b > 0)", "(uint)a < 5u", "(uint)a >= 5u", "(uint)a < (uint)b", "(uint)a > (uint)b",
    "(uint)a < 4294967290u", "(uint)a > 4294967290u", "(uint)(a - 3) < 4u", "a > 2147483646", "a == -2147483647 - 1",
    "min(a, b)", "max(a, b)", "clamp(a, -3, 7)", "(int)max((uint)a, (uint)b)", "(int)min((uint)a, 7u)", "abs(a)", "!a",
    "!!a", "(_Bool)a + (_Bool)b", "!a ? b : a", "a == 0 ? 5 : a == 1 ? 6 : a == 2 ? 7 : 8", "(a > b) * 2 + (a == b)",
    "a && b", "a || b",
)  # fmt: skip
BITS = (
    "a & 1", "a & 7", "a & -2", "a & -8", "a & 4", "a & 0x36", "a & ~0x36", "a | 1", "a | 6", "a | -4", "a ^ 1",
    "a ^ 5", "a ^ -1", "~a", "a ^ -8", "a >> 1", "a >> 4", "a >> 30", "(int)((uint)a >> 28)", "(int)((uint)a >> 12)",
    "a << (b > 0)", "(a & 15) << n", "1 << n", "a >> n", "(int)((uint)(a & 0xff) >> n)", "(signed char)a",
    "(unsigned char)a", "(short)a", "(unsigned short)(a >> 3)", "(int)(a * 0.25f)", "a & (b > 0)", "(int)(uint)a",
)  # fmt: skip
ARITHMETIC = (
    "a + b", "a - b", "a * 3 - b * 2", "(a & 1023) * (b & 1023)", "-a", "a + 1 + 2 - 3 + 5", "3 - a - 5", "a / 3",
    "a % 3", "a / -7", "a % -7", "a / 4", "a % 4", "a / -8", "a % 8", "a / (b ? b : 1)", "a % (b ? b : 1)",
    "(int)((uint)n / 3u)", "(int)((uint)n % 4u)", "a / (1 + n)", "(a << 2) / 3",
    "(int)((uint)(a & 0xffff) / ((uint)n + 1u))",
)  # fmt: skip
STATEMENTS = (
    "int s = 0; for (int k = 0; k < 9; k++) s += k & 1 ? a : b; r = s >> 3;",
    "int s = a; switch (a & 7) { case 0: s = 1; break; case 1: case 2: s = b; break; case 5: s -= 3; } r = s;",
    "int s = 0; switch (a) { case -1: s = 1; break; case 0: s = 2; break; case 1: s = 3; break; case 2: s = 9; }"
    " r = s;",
    "int s = 0; for (uint k = 0; k < (uint)n; k++) s += (int)k; r = s;",
    "int s = 0, x = n; while (x > 1) { x = x & 1 ? 3 * x + 1 : x / 2; s++; } r = s;",
    "_Bool p = a > 0, q = b > 0; if (p != q) p = !p; r = p;",
    "int w[4] = {1, 2, 3, 4}; w[2] += a; r = w[0] + w[1] + w[2] * 2 - w[3];",
    "struct { int x; _Bool y; } s = {a, b > 0}, t = s; t.x++; r = s.x + t.y;",
    "ivec2 v = ivec2(a, b) & 7; v = v.yx - (v < 3); r = v.x + 8 * v.y;",
    "ivec3 v = ivec3(a, b, n); r = (v > 0).x + 2 * (v >= v.yzx).y;",
    "signed char c = (signed char)a; c++; r = c;",
    "unsigned char c = 0; for (int i = 0; i < 300; i++) c++; r = c;",
    "int k = 0; unsigned char c = 0; do k++; while (++c); r = k;",
    "typedef short s2 __attribute__((ext_vector_type(2))); s2 m = (s2){(short)a, 1}; m *= (s2)30000; r = m.x;",
    "struct { int f : 5; } s; s.f = a; r = s.f;",
    "struct { int f : 1; int g : 20; } s; s.f = a; s.g = b; r = s.f + s.g;",
    "_Bool q = a > 0; q--; r = q;",
    "r = (short)(a + 16773000);",
    "r = (unsigned char)((uint)(a - 3) >> 8);",
    "r = ((a * 50) << 24) >> 24;",
    "r = (a << 31) >> 31;",
    "r = (int)((uint)(a << 27) >> 27);",
    "r = (int)(((uint)a - 3u) % 8u);",
    "r = (int)((uint)a % 7u);",
    "r = (int)((uint)a / 65536u);",
    "r = (int)((uint)a / 1000u);",
    "r = (int)((uint)a % -8u);",
    "r = (int)((uint)a / -8u);",
    "r = (int)((uint)a % 0xfffffff9u);",
    "r = (int)((uint)a / 0xffff0000u);",
    "r = (int)((uint)a / 0x80000000u);",
    "r = (int)((uint)a / 0xffffffffu);",
    "r = (int)((uint)((a & 4095) - (b & 4095)) % 8192u);",
    "r = __builtin_constant_p(a) ? 1 : 2;",
    "r = (int)((uint)(a - 129) >> (n > 5 ? 0 : 20));",
    "signed char c = 1; unsigned char d = (unsigned char)a; c += d > 100 ? 3 : -2; r = c + d;",
)
_LARGE = (0, 1, -1, 2, 3, 5, -7, 8, 100, -256, 4095, 65535, -65536, 8388607, -8388608, 16777215, -16777215)
_SMALL = (0, 1, -1, 2, -2, 3, 4, 5, 6, 7, -8, 100, -255, 1000, 4095, -4096)


def launch(numbers: tuple[int, ...]) -> Launch:
    """All pairs of numbers as a and b, with n from 0 to 10."""
    size = len(numbers)
    one, other = np.meshgrid(numbers, numbers)
    count = np.arange(size * size).reshape(size, size) % 11
    return Launch(width=size, height=size, inputs={0: np.stack([one, other, count, count], -1).astype(np.float32)})


def source(statements: list[str]) -> str:
    """A kernel that gives what up to 16 statements store in r."""
    start = "vec4 t = texel(0, pixel); int a = (int)t.x, b = (int)t.y, n = (int)t.z; float o[16] = {0};"
    stores = [f"{{ int r; {each} o[{index}] = (float)r; }}" for index, each in enumerate(statements)]
    ends = [f"output({k}, vec4(o[{4 * k}], o[{4 * k + 1}], o[{4 * k + 2}], o[{4 * k + 3}]));" for k in range(4)]
    return "\n".join([HEAD + "kernel void k(vec2 pixel) {", start, *stores, *ends, "}", ""])


def wrong(statements: list[str], numbers: tuple[int, ...], folder: Path) -> int:
    """How many results differ from the host's."""
    text, where = source(statements), launch(numbers)
    folder.mkdir()
    expected = Library([text], folder).run("k", where, core.UNTOUCHED)
    return differences(device_core.run(compile_kernel(Source(text, "k.c"), isa="r5xx").executable, where), expected)


def batches(expressions: tuple[str, ...]) -> list[list[str]]:
    """Statements of expressions, as many as fit into a program."""
    statements = [f"r = {each};" for each in expressions]
    return [statements[first : first + 6] for first in range(0, len(statements), 6)]


@pytest.mark.parametrize("statements", batches(CONDITIONS))
def test_conditions_of_all_exact_numbers(statements: list[str], tmp_path: Path) -> None:
    assert wrong(statements, _LARGE, tmp_path / "large") == 0


@pytest.mark.parametrize("statements", batches(BITS + ARITHMETIC))
def test_arithmetic_where_it_is_exact(statements: list[str], tmp_path: Path) -> None:
    assert wrong(statements, _SMALL, tmp_path / "small") == 0


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements(statement: str, tmp_path: Path) -> None:
    assert wrong([statement], _SMALL, tmp_path / "small") == 0


def test_powers_of_two_beyond_the_exact_numbers(tmp_path: Path) -> None:
    """Products with them are exact, and comparisons."""
    statements = ["r = (a & 3) * 33554432 / 33554432;", "r = a < 1073741824 ? a : b;", "r = a > -2147483647 - 1;"]
    assert wrong(statements, _SMALL, tmp_path / "small") == 0


def test_quotients_of_large_numbers_are_exact(tmp_path: Path) -> None:
    """By divisors that are known and not."""
    random = np.random.default_rng(1)
    pairs = np.exp2(random.uniform(0, 24, (64, 64, 4))).astype(np.int64) * random.choice([-1, 1], (64, 64, 4))
    where = Launch(width=64, height=64, inputs={0: pairs.astype(np.float32)})
    text = source(
        ["r = a / b;", "r = a % b;", "r = a / 3;", "r = a % 4093;", "r = (int)((uint)abs(a) / (uint)abs(b));"]
    )
    expected = Library([text], tmp_path).run("k", where, core.UNTOUCHED)
    program = compile_kernel(Source(text, "k.c"), isa="r5xx").executable
    assert differences(device_core.run(program, where), expected) == 0


@pytest.mark.parametrize(
    ("mask", "expected"),
    [(0, []), (1, [(0, 1)]), (6, [(1, 3)]), (0x36, [(1, 3), (4, 6)]), (-1, [(0, None)]), (-8, [(3, None)]),
     (-7, [(0, 1), (3, None)])],
)  # fmt: skip
def test_runs_of_ones(mask: int, expected: list[tuple[int, int | None]]) -> None:
    assert runs(mask) == expected


def test_limits_of_integers() -> None:
    """Of what loops count, and what is chosen, masked, shifted and added."""
    module = Module.read(
        """define void @k(<2 x i32> %p) {
start:
  %x = extractelement <2 x i32> %p, i32 0
  %double = shl i32 %x, 1
  %low = and i32 %double, 255
  %either = select i1 true, i32 %low, i32 -4
  br label %loop
loop:
  %i = phi i32 [ 0, %start ], [ %next, %loop ]
  %down = phi i32 [ 7, %start ], [ %less, %loop ]
  %next = add nsw i32 %i, 2
  %less = add nsw i32 %down, -1
  br i1 true, label %loop, label %end
end:
  ret void
}"""
    )
    ranges = Ranges(module.functions[0], "%p")
    assert ranges.of("%double") == Range(0, 8190, 1)
    assert ranges.of("%low") == Range(0, 255, 1)
    assert ranges.of("%either") == Range(-4, 255, 1)
    assert ranges.of("%i").is_natural
    assert ranges.of("%i").factor == 1
    assert ranges.of("%down").high == 7
    assert not ranges.of("%down").is_natural
