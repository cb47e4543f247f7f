"""Comparisons and functions of NaN, infinities, zeros, the largest and smallest numbers are those of the host."""

from pathlib import Path

import numpy as np
import pytest

from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.source import Source
from ctm.tb.compiler import core, device_core
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.host import Launch, Library

HEAD = "#include <ctm/kernel.h>\n"
COMPARISONS = (
    "x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y", "!(x < y)", "!(x <= y)", "!(x > y)", "!(x >= y)",
    "x < y || x > y", "!(x < y || x > y)", "x <= y && x >= y", "x < 1 || x > 1", "!(x < 1 || x > 1)", "x < 1",
    "x <= 1", "x > 1", "x >= 1", "x == 1", "x != 1", "!(x < 1)", "!(x >= 1)", "x < INF", "x <= INF", "x > INF",
    "x >= INF", "x == INF", "x != INF", "x < -INF", "x <= -INF", "x > -INF", "x >= -INF", "x == -INF", "x != -INF",
    "!(x < INF)", "!(x <= INF)", "!(x >= -INF)", "abs(x) < INF", "abs(x) == INF", "abs(x) != INF", "x == x", "x != x",
    "x != x || y != y", "__builtin_isnan(x)", "__builtin_isinf(x)", "__builtin_isfinite(x)", "__builtin_isnormal(x)",
    "__builtin_signbit(x) != 0", "__builtin_isless(x, y)", "__builtin_islessgreater(x, y)",
    "__builtin_isunordered(x, y)", "x ? 1 : 0", "!x", "x && y", "x > y ? x > 0 : y > 0", "(x > y) - (x < y)", "x == 0",
    "x > 0 && x < INF", "0 < x && x <= MAX", "x == MAX",
)  # fmt: skip
FUNCTIONS = (
    "floor(x)", "ceil(x)", "trunc(x)", "rint(x)", "fract(x)", "abs(x)", "sign(x)", "-x", "min(x, y)", "max(x, y)",
    "min(x, 1.0f)", "min(1.0f, x)", "max(x, 1.0f)", "max(1.0f, x)", "clamp(x, 0.0f, 1.0f)", "clamp(x, y, 2.0f)",
    "step(x, y)", "x < y ? x : y", "x > y ? x : y", "x <= y ? y : x", "x >= y ? y : x", "!(x < y) ? x : y",
    "x < y ? y : x", "x == y ? 3.0f : x", "x != y ? x : 3.0f", "__builtin_fminf(x, y)", "__builtin_fmaxf(x, y)",
    "x + y", "x - y", "x * y", "x * 0.0f", "(float)(x > y)", "(float)-(x > y)", "min(vec2(x, y), vec2(y, x)).x",
    "max(vec4(x), vec4(y)).w", "clamp(vec3(x, y, x), vec3(0.0f), vec3(1.0f)).y",
    "dot(vec2(x, y), vec2(0.0f, 1.0f))",
)  # fmt: skip
_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -3.5, 1.5, np.finfo(np.float32).max,
            np.finfo(np.float32).min, np.finfo(np.float32).tiny, -np.finfo(np.float32).tiny, 8388607.5, -8388608.0,
            16777217.0, 1e10, -1e30, 1e-30)  # fmt: skip
_BATCH = 8


def launch() -> Launch:
    """All pairs."""
    one, other = np.meshgrid(np.array(_SPECIAL, np.float32), np.array(_SPECIAL, np.float32))
    return Launch(width=len(_SPECIAL), height=len(_SPECIAL), inputs={0: np.stack([one, other, one, other], -1)})


def batches(expressions: tuple[str, ...]) -> list[tuple[str, ...]]:
    """As many as a program can hold."""
    return [expressions[first : first + _BATCH] for first in range(0, len(expressions), _BATCH)]


@pytest.mark.parametrize("isa", ["r5xx", "r700"])
@pytest.mark.parametrize("expressions", batches(COMPARISONS + FUNCTIONS))
def test_special_values(expressions: tuple[str, ...], isa: str, tmp_path: Path) -> None:
    expressions = tuple(each for each in expressions if isa == "r700" or "signbit" not in each)
    stores = [f"o[{number}] = (float)({each});" for number, each in enumerate(expressions)]
    lines = [
        HEAD + "#define INF __builtin_inff()\n#define MAX 0x1.fffffep127f",
        "kernel void k(vec2 pixel) { vec4 t = texel(0, pixel); float x = t.x, y = t.y, o[8] = {0};",
        *stores,
        "output(0, vec4(o[0], o[1], o[2], o[3])); output(1, vec4(o[4], o[5], o[6], o[7])); }\n",
    ]
    text = "\n".join(lines)
    program = compile_kernel(Source(text, "k.c"), isa=isa).executable
    expected = Library([text], tmp_path).run("k", launch(), core.UNTOUCHED)
    found = (device_core if isa == "r5xx" else core).run(program, launch())
    for number, each in enumerate(expressions):
        target, channel = divmod(number, 4)
        got, want = (r.outputs[target].view(np.float32)[..., channel] for r in (found, expected))
        assert np.array_equal(got, want, equal_nan=True), (each, [
            (x, y, got[j, i], want[j, i])
            for j, y in enumerate(_SPECIAL) for i, x in enumerate(_SPECIAL)
            if not (got[j, i] == want[j, i] or np.isnan(got[j, i]) and np.isnan(want[j, i]))
        ][:3])  # fmt: skip
    assert differences(found, expected) == 0
