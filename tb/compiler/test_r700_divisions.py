"""Quotients of integers on R700 cores, narrow ones among them: the least of a width by -1 needs a bit more."""

from pathlib import Path

import numpy as np
import pytest

from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.source import Source
from ctm.tb.compiler import core
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.host import Launch, Library

HEAD = "#include <ctm/kernel.h>\nstruct fields { unsigned a : 5; int b : 7; };\n"
_LEAST = np.array([-(1 << bits) for bits in (0, 1, 6, 7, 15, 22, 23, 30)])
NUMBERS = np.unique([*_LEAST, *-_LEAST, *_LEAST + 1, *-_LEAST - 1, 0x7FFFFFFF, 129, 1000]).astype(np.int32)
QUOTIENTS = (
    "(signed char)a / n((signed char)b)",
    "(short)a / n((short)b)",
    "(short)a / n((signed char)b)",
    "(a >> 8) / n(b >> 8)",
    "(a >> 9) / n(b >> 9)",
    "(a >> 20) / n(b >> 20)",
    "(signed char)a / ((b >> 31) | 1)",
    "-128 / n((signed char)b)",
    "((struct fields){1, b}).b / ((a >> 31) | 1)",
    "(unsigned short)a / n((signed char)b)",
    "(short)a / -1",
    "(signed char)a / 7",
    "(signed char)a % n((signed char)b)",
    "(a >> 9) % n(b >> 9)",
)


@pytest.mark.parametrize("quotient", QUOTIENTS)
def test_a_quotient_is_what_it_is_on_the_host(quotient: str, tmp_path: Path) -> None:
    pairs = np.stack(2 * np.meshgrid(NUMBERS, NUMBERS), axis=-1)
    launch = Launch(width=NUMBERS.size, height=NUMBERS.size, inputs={0: pairs.view(np.float32)})
    text = f"""{HEAD}static int n(int x) {{ return x ? x : 1; }}
        kernel void k(ivec2 p) {{
            int a = as_int(texel(0, p).x), b = as_int(texel(0, p).y);
            output(0, ivec4({quotient}));
        }}
    """
    expected = Library([text], tmp_path).run("k", launch, core.UNTOUCHED)
    program = compile_kernel(Source(text, "k.c"), isa="r700").executable
    assert differences(core.run(program, launch), expected, bits=(0,)) == 0
