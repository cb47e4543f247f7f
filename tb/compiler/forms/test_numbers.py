"""Numbers of inputs and outputs stay the literals of the source, though Clang would merge the calls of branches."""

from pathlib import Path

import numpy as np
import pytest

from ctm.sim.compiler import KernelError, compile_kernel
from ctm.sim.compiler.source import Source
from ctm.tb.compiler.device_core import check_beside_host
from ctm.tb.compiler.host import Launch

WIDTH, HEIGHT, INPUTS = 8, 6, 4
HEAD = "#include <ctm/kernel.h>\nstatic vec4 chosen(int first, vec2 p) { return first ? texel(0, p) : texel(1, p); }\n"
KERNELS = {
    "an operator": "output(0, p.x < p.y ? texel(0, p) : texel(1, p));",
    "branches": "vec4 t; if (p.x < p.y) t = texel(0, p); else t = texel(1, p); output(0, t);",
    "branches of branches": "vec4 t; if (p.x < 3) t = p.y < 2 ? texel(0, p) : texel(1, p); "
    "else t = p.y < 4 ? texel(2, p) : texel(3, p); output(0, t);",
    "several fetches": "vec4 t; if (p.x < p.y) t = texel(0, p) + texel(1, p); else t = texel(2, p) + texel(3, p); "
    "output(0, t);",
    "coordinates that differ": "output(0, p.x < 4 ? texel(0, p * 0.5f) : texel(1, vec2(p.y, p.x)));",
    "textures": "vec2 n = vec2((p.x + 0.5f) / 8, (p.y + 0.5f) / 6); "
    "output(0, p.x < p.y ? texture(0, n) : texture(1, n));",
    "a switch": "vec4 t = vec4(1); switch ((int)p.x & 3) { case 0: t = texel(0, p); break; "
    "case 1: t = texel(1, p); break; case 2: t = texel(2, p); break; default: t = texel(3, p); } output(0, t);",
    "a function": "output(0, chosen(p.x < 3, p)); output(1, chosen(p.y < 2, p) * 2);",
    "a loop": "vec4 s = vec4(0); for (int k = 0; k < 3; k++) s += k < p.x ? texel(0, p) : texel(1, p); output(0, s);",
    "outputs": "if (p.x < p.y) output(0, vec4(p, 1, 2)); else output(1, vec4(p, 3, 4));",
    "an early return": "if (p.x < 2) { output(0, vec4(p, 1, 2)); return; } output(1, vec4(p, 3, 4));",
    "outputs of a switch": "switch ((int)p.y) { case 0: output(0, vec4(1)); break; case 1: output(1, vec4(2)); break; "
    "case 2: output(2, vec4(p, p)); break; default: output(3, vec4(4)); }",
    "both": "if (p.x < p.y) output(0, texel(2, p)); else output(1, texel(3, p));",
}


def launch() -> Launch:
    """Small whole numbers, of which sums are exact."""
    values = np.random.default_rng(3).integers(-50, 50, (INPUTS, HEIGHT, WIDTH, 4)).astype(np.float32)
    return Launch(width=WIDTH, height=HEIGHT, inputs=dict(enumerate(values)))


@pytest.mark.parametrize("isa", ["r5xx", "r700"])
@pytest.mark.parametrize("name", KERNELS)
def test_branches_have_their_own_numbers(name: str, isa: str, tmp_path: Path) -> None:
    text = f"{HEAD}kernel void k(vec2 p) {{ {KERNELS[name]} }}\n"
    check_beside_host(text, isa, launch(), tmp_path)


def test_a_number_that_the_source_computes_is_an_error() -> None:
    for call in ("output(0, texel(p.x < p.y ? 0 : 1, p))", "output((int)p.x & 1, vec4(p, p))"):
        with pytest.raises(KernelError, match=r"k\.c:2.* is computed: instructions have it as a constant"):
            compile_kernel(Source(f"{HEAD.splitlines()[0]}\nkernel void k(vec2 p) {{ {call}; }}\n", "k.c"), isa="r700")
