"""What LLVM's back end for R700 cores gets wrong, and repairs mend: kernels do what they do on the host."""

from pathlib import Path

import numpy as np
import pytest

from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.source import Source
from ctm.tb.compiler import core
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.host import Launch, Library

SIDE = 64
NUMBERS = np.array([0, 1, -1, 2, 127, 128, -128, 255, 65535, -32768, 5, 260], np.int32)
NARROW_VALUES = {
    "a bool that a case falls into": """
        _Bool v = a;
        signed char n = a;
        switch (c) {
        case 5: if (v != d) n = 0;
        case 3: b = v; if (a < 0) v *= n; break;
        default: x = a;
        }
        r = ivec4(v, b, n, as_int(x));""",
    "a bool that the default leaves": """
        _Bool v = a & 1;
        int m = b;
        switch (c) {
        case 5: v = v && a < 4; break;
        case 3: x = a;
        default: m = a + b;
        }
        r = ivec4(v, m, as_int(x), 0);""",
    "a condition of either of two cases": """
        _Bool v = a > 0;
        switch (c) {
        case 5: v = d & 1; break;
        case 3: v = a & 1;
        case 1: v = v && b < 0; break;
        default: if (a == b) v = 0;
        }
        r = ivec4(v, v ? a : b, a + v, 0);""",
    "a byte of a loop": """
        signed char n = -1;
        for (int i = 0; i < (c & 7); i++) { if (a == i) break; n = b < i ? 127 : n + d; }
        r = ivec4(n, n < 0, n >> 1, (unsigned)n);""",
    "a short of a constant or not": """
        unsigned short m = a < 0 ? 65535 : d;
        if (c == 3) m = 32768; else if (c == 5) m -= b;
        r = ivec4(m, m > 32767, (short)m, m * 3);""",
}
"""Values narrower than a register that come from several blocks; their result is r."""
LAST_DISCARDS = {
    "alone": "discard();",
    "after a write": "write(p.x + 12 * p.y, as_float(p.x)); discard();",
    "after an output": "output(0, vec4(1, 2, 3, 4)); discard();",
    "after a loop": "float s = 0; for (int n = 0; n < p.x; n++) s += 1.5f; write(p.x + 12 * p.y, s); discard();",
    "in both arms": "if (p.x > 3) { write(p.x + 12 * p.y, 1); discard(); } else { output(1, vec4(p.y)); discard(); }",
    "in one arm": "if (p.x > 3) { output(1, vec4(p.x)); return; } write(p.x + 12 * p.y, texel(0, p).x); discard();",
    "twice": "if (p.y & 1) discard(); write(p.x + 12 * p.y, 3.0f); discard();",
    "after a fetch": "if (texel(0, p).x > 0.5f) write(p.x + 12 * p.y, 1.0f); discard();",
}
"""Bodies that end with a discard: LLVM makes no program that ends with arithmetic."""


def agrees(body: str, launch: Launch, folder: Path) -> bool:
    """Whether a kernel with this body leaves the same bits on the golden model and on the host."""
    text = f"#include <ctm/kernel.h>\nkernel void k(ivec2 p) {{ {body} }}\n"
    expected = Library([text], folder).run("k", launch, core.UNTOUCHED)
    program = compile_kernel(Source(text, "k.c"), isa="r700").executable
    return differences(core.run(program, launch), expected, bits=(0,)) == 0


@pytest.mark.parametrize("name", NARROW_VALUES)
def test_narrow_values_are_what_they_are_on_the_host(name: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    numbers = draw.choice(NUMBERS, (SIDE, SIDE, 4))
    numbers[..., 2] = draw.integers(0, 7, (SIDE, SIDE))
    body = f"""
        ivec4 t = as_int(texel(0, p)), r;
        int a = t.x, b = t.y, c = t.z, d = t.w;
        float x = 0.5f;
        {NARROW_VALUES[name]}
        output(0, r);
    """
    assert agrees(body, Launch(width=SIDE, height=SIDE, inputs={0: numbers.view(np.float32)}), tmp_path)


@pytest.mark.parametrize("name", LAST_DISCARDS)
def test_a_kernel_may_end_with_a_discard(name: str, tmp_path: Path) -> None:
    side, body = 12, LAST_DISCARDS[name]
    numbers = np.random.default_rng(2).random((side, side, 4), np.float32)
    dwords = side * side if "write" in body else 0
    assert agrees(body, Launch(width=side, height=side, inputs={0: numbers}, dwords=dwords), tmp_path)
