"""Values narrower than a register that come from several blocks of a kernel, on R700 cores."""

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
KERNELS = {
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


@pytest.mark.parametrize("name", KERNELS)
def test_it_is_what_it_is_on_the_host(name: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    numbers = draw.choice(NUMBERS, (SIDE, SIDE, 4))
    numbers[..., 2] = draw.integers(0, 7, (SIDE, SIDE))
    launch = Launch(width=SIDE, height=SIDE, inputs={0: numbers.view(np.float32)})
    text = f"""#include <ctm/kernel.h>
        kernel void k(ivec2 p) {{
            ivec4 t = as_int(texel(0, p)), r;
            int a = t.x, b = t.y, c = t.z, d = t.w;
            float x = 0.5f;
            {KERNELS[name]}
            output(0, r);
        }}
    """
    expected = Library([text], tmp_path).run("k", launch, core.UNTOUCHED)
    program = compile_kernel(Source(text, "k.c"), isa="r700").executable
    assert differences(core.run(program, launch), expected, bits=(0,)) == 0
