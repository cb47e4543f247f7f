"""Kernels on R5xx cores give what the same C gives on the host with fused multiply-adds."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.sim.assembler import disassemble
from ctm.sim.compiler import KernelError, compile_kernel
from ctm.sim.compiler.source import Source
from ctm.sim.elf import ElfError, read, write
from ctm.sim.elf.constants import OwnConstants
from ctm.sim.elf.r5xx.executable import Executable
from ctm.tb.compiler import core, device_core
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.host import Launch, Library, Results
from ctm.tb.compiler.outcomes import R5XX_REASONS, outcomes
from ctm.tb.compiler.random_kernels import PRELUDE, RandomFloatKernel
from ctm.tb.compiler.study import CASES, FOLDER

HEAD = "#include <ctm/kernel.h>\n"
FLOATS = (
    "saxpy",
    "mandelbrot",
    "blackscholes",
    "nbody",
    "matmul",
    "prefix",
    "sort4",
    "functions",
    "sobel_unrolled",
    "exits",
)
OF_BITS = ("hash", "gcd", "collatz", "bits", "divisions", "rotations", "local", "scatter", "sobel")
_BATCH = 50


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Library:
    texts = [(FOLDER / f"{name}.c").read_text() for name in FLOATS]
    return Library(texts, tmp_path_factory.mktemp("host"), is_fused=True)


def test_every_kernel_is_tried() -> None:
    assert {*FLOATS, *OF_BITS} == set(CASES)


@pytest.mark.parametrize("name", FLOATS)
def test_a_kernel_is_what_it_is_on_the_host(name: str, host: Library) -> None:
    case = CASES[name]
    where = case.launch()
    compiled = compile_kernel(FOLDER / f"{name}.c", isa="r5xx")
    assert compiled.executable.kind == "r5xx"
    expected = host.run(name, where, core.UNTOUCHED)
    for group in (4, 16):
        found = device_core.run(compiled.executable, where, group=group)
        assert differences(found, expected, tolerance=case.tolerance) == 0


@pytest.mark.parametrize("name", OF_BITS)
def test_what_has_bits_or_addresses_is_an_error(name: str) -> None:
    with pytest.raises(KernelError, match=rf"{name}\.c:\d+:\d+: ") as caught:
        compile_kernel(FOLDER / f"{name}.c", isa="r5xx")
    assert "R5xx cores" in str(caught.value) or "write()" in str(caught.value)


def complaint(*lines: str) -> str:
    """What is said of a kernel whose first statement is in line 3."""
    text = "\n".join([HEAD + "kernel void k(vec2 pixel) {", *lines, "}", ""])
    with pytest.raises(KernelError, match=r"^k\.c:\d+") as caught:
        compile_kernel(Source(text, "k.c"), isa="r5xx")
    return str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("output(0, pixel.x + 0.1);", "double"),
        ("output(0, (float)((int)pixel.x ^ (int)pixel.y));", "k.c:3:32: '^' of two whole numbers neither of which is"),
        ("output(0, (float)((int)pixel.x & 0x7fffffff));", "k.c:3:32: a mask of 31 bits of a number that may be neg"),
        ("output(0, as_float((int)pixel.x));", "the bits of a float"),
        ("output(0, constant((int)pixel.x));", "the number of a constant is computed"),
        ("output(0, __builtin_elementwise_tan(pixel.x));", "tan(): R5xx cores have no such function"),
        ("write(3, pixel.x);", "write(): only kernels for R700 cores"),
        ("float a[4]; for (int i = 0; i < 4; i++) a[i] = i; output(0, a[(int)pixel.x]);", "cannot choose a register"),
        ("output(0, __builtin_fmaf(pixel.x, pixel.y, 1));", "fma(): write a * b + c"),
        ("float s = 0; _Pragma(\"unroll\") for (int i = 0; i < 600; i++) s = s * pixel.x + i; output(0, s);", "512"),
    ],
)  # fmt: skip
def test_refusals(body: str, message: str) -> None:
    assert message in complaint(body)


def test_loops_that_are_too_deep_are_errors() -> None:
    loops = "while (s < pixel.x + {0}) {{ s += 1;"
    found = complaint("float s = 0;", *(loops.format(depth) for depth in range(3)), "} } }", "output(0, s);")
    assert "loops deeper than 4; one whose number of rounds is not known beforehand counts twice" in found


def test_a_loop_without_a_known_end_has_more_rounds_than_the_machines(tmp_path: Path) -> None:
    text = HEAD + "kernel void k(vec2 pixel) { float n = 0; while (n < pixel.x * 100) n += 1; output(0, n); }\n"
    program = compile_kernel(Source(text, "k.c"), isa="r5xx").executable
    where = CASES["saxpy"].launch()
    expected = Library([text], tmp_path, is_fused=True).run("k", where, core.UNTOUCHED)
    assert expected.outputs[0].view("f4").max() == 1500
    assert differences(device_core.run(program, where), expected) == 0


def test_dot_products_of_whole_numbers_are_exact(tmp_path: Path) -> None:
    """Of variables, numbers, constants and a fetch's channels, of which some are in several of them."""
    text = (
        HEAD
        + """kernel void k(vec2 pixel) {
        vec4 a = floor(texel(0, pixel)), b = vec4(pixel, 2, -pixel.x);
        output(0, vec4(dot(a, b), dot(a.xyz, b.zyx), dot(a.wz, pixel), dot(b, b)));
        output(1, vec4(dot(b.xy, vec2(3, 5)), dot(-b, vec4(1, 0, 2, 1)), dot(abs(b.xw), b.yy), dot(b.x * b.xy, b.xz)));
    }
"""
    )
    where = CASES["saxpy"].launch()
    program = compile_kernel(Source(text, "k.c"), isa="r5xx").executable
    expected = Library([text], tmp_path, is_fused=True).run("k", where, core.UNTOUCHED)
    assert differences(device_core.run(program, where), expected) == 0
    assert {"DP3", "DP4"} <= set(re.findall(r"\w+(?=\()", disassemble(program)))


def test_a_product_of_known_numbers_and_its_sum_are_rounded_once() -> None:
    text = HEAD + "kernel void k(vec2 pixel) { float x = -0.687f; output(0, x * x + (pixel.x + 0.5f)); }\n"
    where = CASES["saxpy"].launch()
    found = device_core.run(compile_kernel(Source(text, "k.c"), isa="r5xx").executable, where).outputs[0, 0, :, 0]
    x, others = np.float64(np.float32(-0.687)), np.arange(where.width) + 0.5
    once = (x * x + others).astype(np.float32)
    assert np.array_equal(found.view(np.float32), once)
    assert not np.array_equal(once, np.float32(x * x) + others.astype(np.float32))


def test_numbers_of_a_kernel_are_in_its_executable() -> None:
    text = HEAD + "kernel void k(vec2 pixel) { output(0, pixel.x * 0.1f + constant(255).y); }\n"
    program = compile_kernel(Source(text, "k.c"), isa="r5xx").executable
    own = program.own_constants
    assert (list(own.floats), own.floats[254][0]) == ([254], 0x3DCCCCCD)
    contents = write(program)
    again = read(contents)
    assert again.own_constants == own
    assert isinstance(again, Executable) and isinstance(program, Executable)
    assert again.lines == program.lines and program.lines is not None
    assert {line.line for line in program.lines.units if line} == {2}
    assert re.search(r"MAD\(r0\.r, .*; 0 +k\.c:2\n", disassemble(program))
    at = contents.index(b"CTM\0", contents.index(b"CTM\0") + 1) + 4
    for word in (7, 0xFFFFFFFF):
        damaged = contents[:at] + word.to_bytes(4, "little") + contents[at + 4 :]
        with pytest.raises(ElfError, match="table of constants"):
            read(damaged)
    assert OwnConstants({3: (1, 2, 3, 4)}, {0: 255}).words == (1, 3, 1, 2, 3, 4, 0, 255)


def run(seeds: range, folder: Path) -> Counter[str]:
    """Compare random kernels; how often each thing happened."""
    texts = {f"k{seed}": RandomFloatKernel(seed).text(f"k{seed}") for seed in seeds}
    host = Library([PRELUDE + "".join(texts.values())], folder, is_fused=True)

    def wrong(program: Any, where: Launch, expected: Results) -> int:
        return differences(device_core.run(program, where), expected)

    return outcomes(texts, host, isa="r5xx", reasons=R5XX_REASONS, wrong=wrong)


@pytest.mark.slow
def test_random_kernels(tmp_path: Path) -> None:
    found = run(range(6), tmp_path)
    assert found["right"] >= 5, found


def test_what_was_wrong_once(tmp_path: Path) -> None:
    """A negative number in a comparison without sign."""
    assert run(range(1084, 1085), tmp_path)["right"] == 1


@pytest.mark.long
@pytest.mark.parametrize("first", range(20_000, 21_000, _BATCH))
def test_many_random_kernels(tmp_path: Path, first: int) -> None:
    found = run(range(first, first + _BATCH), tmp_path)
    assert found["right"] >= 0.7 * _BATCH, found
