"""Loops on R5xx cores: as many rounds as on the host, whatever the machine's loops can do, and no needless tests."""

from pathlib import Path

import pytest

from ctm.sim.assembler import disassemble
from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.source import Source
from ctm.tb.compiler import core, device_core
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.host import Library
from ctm.tb.compiler.study import CASES

HEAD = "#include <ctm/kernel.h>\n"
_COUNTED = "for (int n = 0; n < {0}; n++) s = s * 0.5f + pixel.x;"
LOOPS = {
    **{f"counted_{rounds}": _COUNTED.format(rounds) for rounds in (1, 2, 254, 255, 256, 300)},
    "downward": "for (int n = 200; n > -55; n--) s += n;",
    "unequal": "for (int n = 3; n != 258; n++) s += n;",
    "inclusive": "for (int n = 1; n <= 255; n++) s += n * pixel.y;",
    "of_floats": "for (float t = 0; t < 25.5f; t += 0.1f) s += t;",
    "counter_after": "int n = 0; for (; n < 255; n++) { if (s > pixel.x * 20) break; s += 1; } s += 1000 * n;",
    "another_value": "for (int n = 0; n < 100; n++) { s += 1; if (s > pixel.x * 9) { s = -s; break; } }",
    "skipped": "for (int n = 0; n < 255; n++) { if (n > pixel.x) continue; s += n; }",
    "unknown": "for (float t = 0; t < pixel.x * 40; t += 1) s += t;",
    "unknown_inside": "for (float t = 0; t < pixel.x; t += 1) for (float u = t; u < pixel.y * 30; u += 1) s += u;",
    "unknown_with_break": "for (float t = 0; t < pixel.x * 40; t += 1) { if (s > 9000) break; s += t; }",
    "of_nan": "float w = (pixel.x - 4) * 1e38f * 1e38f * 0; for (float t = 0; t < 9 + w; t += 1) s += 1;",
    "chained": "float z = 0; for (int k = 0; k < 6; k++) while (z < k * pixel.x) { z = z * 1.5f + 1; s += 1; }",
    "exchanged": "float a = 1, b = pixel.x; for (int n = 0; n < 9; n++) { float c = a; a = b; b = c + a; s += a; }",
}


def _text(name: str) -> str:
    return f"kernel void {name}(vec2 pixel) {{ float s = 0; {LOOPS[name]} output(0, s); }}\n"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library([HEAD + "".join(map(_text, LOOPS))], tmp_path_factory.mktemp("host"), is_fused=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_what_it_is_on_the_host(name: str, host: Library) -> None:
    where = CASES["saxpy"].launch()
    program = compile_kernel(Source(HEAD + _text(name), "k.c"), isa="r5xx").executable
    assert differences(device_core.run(program, where), host.run(name, where, core.UNTOUCHED)) == 0


@pytest.mark.parametrize("rounds", [2, 255])
def test_a_counter_that_is_known_is_not_tested(rounds: int, tmp_path: Path) -> None:
    program = compile_kernel(Source(HEAD + _text(f"counted_{rounds}"), "k.c"), isa="r5xx").executable
    text = disassemble(program)
    assert text.count(" REP ") == 1 and "BREAK" not in text and "alu_result" not in text
    assert dict(program.own_constants.ints) == {0: rounds}


def test_a_loop_of_unknown_rounds_asks_its_predicate_again() -> None:
    program = compile_kernel(Source(HEAD + _text("unknown"), "k.c"), isa="r5xx").executable
    text = disassemble(program)
    assert (text.count(" REP "), text.count("BREAK IF !p.r")) == (2, 2)
