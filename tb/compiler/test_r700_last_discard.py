"""Kernels for R700 cores that end with a discard: LLVM's back end makes no program that ends with arithmetic."""

from pathlib import Path

import numpy as np
import pytest

from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.source import Source
from ctm.tb.compiler import core
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.host import Launch, Library

SIDE = 12
KERNELS = {
    "alone": "discard();",
    "after a write": "write(p.x + 12 * p.y, as_float(p.x)); discard();",
    "after an output": "output(0, vec4(1, 2, 3, 4)); discard();",
    "after a loop": "float s = 0; for (int n = 0; n < p.x; n++) s += 1.5f; write(p.x + 12 * p.y, s); discard();",
    "in both arms": "if (p.x > 3) { write(p.x + 12 * p.y, 1); discard(); } else { output(1, vec4(p.y)); discard(); }",
    "in one arm": "if (p.x > 3) { output(1, vec4(p.x)); return; } write(p.x + 12 * p.y, texel(0, p).x); discard();",
    "twice": "if (p.y & 1) discard(); write(p.x + 12 * p.y, 3.0f); discard();",
    "after a fetch": "if (texel(0, p).x > 0.5f) write(p.x + 12 * p.y, 1.0f); discard();",
}


@pytest.mark.parametrize("name", KERNELS)
def test_it_does_what_it_does_on_the_host(name: str, tmp_path: Path) -> None:
    numbers = np.random.default_rng(2).random((SIDE, SIDE, 4), np.float32)
    launch = Launch(width=SIDE, height=SIDE, inputs={0: numbers}, dwords=SIDE * SIDE if "write" in KERNELS[name] else 0)
    text = f"#include <ctm/kernel.h>\nkernel void k(ivec2 p) {{ {KERNELS[name]} }}\n"
    expected = Library([text], tmp_path).run("k", launch, core.UNTOUCHED)
    program = compile_kernel(Source(text, "k.c"), isa="r700").executable
    assert differences(core.run(program, launch), expected, bits=(0,)) == 0
