"""Whatever cannot be compiled ends in messages with file, line and a sentence, and leaves no files."""

import re
from pathlib import Path

import pytest

from ctm.sim.compiler import KernelError, compile_kernel
from ctm.sim.compiler.source import Source
from ctm.tb.cli.invocation import ctm, error_line

HEAD = "#include <ctm/kernel.h>\n"


def complaint(text: str, name: str | None = None, isa: str = "r700") -> str:
    """What is said of a source called k.c, whose line 1 is the header's."""
    with pytest.raises(KernelError) as caught:
        compile_kernel(Source(HEAD + text, "k.c"), name=name, isa=isa)
    for line in str(caught.value).splitlines():
        assert re.match(r"k\.c:\d+(:\d+)?: \S", line), line
        assert "select" not in line and "LLVM ERROR" not in line
    return str(caught.value)


def kernel(*lines: str) -> str:
    """A kernel whose first statement is in line 3."""
    return "\n".join(["kernel void k(vec2 pixel) {", *lines, "}", ""])


BODIES = {
    "float x = pixel.x + 0.1; output(0, x);": "k.c:3:19: double: cores compute floats only",
    "output(0, (float)(_Float16)pixel.x);": "_Float16: cores compute floats only",
    "output(0, __builtin_fmaf(pixel.x, pixel.y, 2.0f));": "k.c:3:11: fma(): an R700 core rounds the product too",
    "output(0, __builtin_fmodf(pixel.x, pixel.y));": "k.c:3:11: the remainder of floats",
    "output(0, __builtin_elementwise_tan(pixel.x));": "tan(): of such functions there are sin, cos",
    "output(0, texel((int)pixel.x, pixel));": "k.c:3:11: the number of an input is computed",
    "output(0, texel(16, pixel));": "the number of an input is 16, not 0..15",
    "output((int)pixel.x & 3, 1.0f);": "k.c:3:1: the number of an output is computed",
    "output(4, 1.0f);": "the number of an output is 4, not 0..3",
    "output(0, constant(256));": "the number of a constant is 256, not 0..255",
    "output(0, recursive(pixel.x));": "k.c:3:11: recursive calls itself: cores have no stack for data",
    "output(0, apart(pixel.x));": "k.c:3:11: a call of apart that is not inlined: leave noinline away",
    "output(0, any_number(2, (int)pixel.x));": "k.c:3:11: a function with any number of arguments",
    "output(0, computed_size(pixel.x));": "k.c:3:11: an array whose size is computed",
    "output(0, texts[(int)pixel.x & 1][0]);": "the table texts has pointers, and is read with a computed index",
    "output(0, missing(pixel.x));": "k.c:3:11: the function missing has no body",
    "float (*volatile f)(float) = recursive; output(0, f(1));": "k.c:3:18: the address of recursive: which function is",
    "output(0, ((float (*)(float))(long)pixel.x)(1));": "a call of what a pointer points to",
    "float a[(int)pixel.x]; a[0] = 1; output(0, a[(int)pixel.y]);": "an array whose size is computed",
    "float a[600]; for (int i = 0; i < 600; i++) a[i] = i; output(0, a[(int)pixel.y]);": "fails at arrays of 600",
    "static const float t[97] = {1}; output(0, t[(int)pixel.x]);": "k.c:3:43: the table t is read with",
    "static _Thread_local int n; n = (int)pixel.x; output(0, ivec4(n));": "k.c:3: a variable of a thread outlives the",
    "static int count; count++; output(0, ivec4(count));": "the variable count outlives the kernel",
    "output(0, *(float *)64);": "an address as a number",
    'int r; __asm__("MOV" : "=r"(r)); output(0, ivec4(r));': "inline assembly",
    "if (pixel.x == 3) __builtin_trap(); output(0, 1.0f);": "a trap",
    "output(0, ivec4((int)((unsigned long long)pixel.x * 7 / ((int)pixel.y + 3))));": "64-bit",
    "output(0, ivec4((int)((long long)(pixel.x * 1e8f) >> 3)));": "64-bit",
    "float s = 0; int i = 0; if (pixel.x > 0) goto middle; top: s += pixel.x; middle: i++; s += pixel.y; "
    "if (i < pixel.y) goto top; output(0, s);": "a loop that a goto enters in the middle",
    "void *p = &&a; if (pixel.x > 1) p = &&b; goto *p; a: output(0, 1.0f); b: output(1, 1.0f);": "computed label",
    "output(0, 1.0f); write(1, 2.0f);": "k.c:2: write() and output(0, ...): writes go to output 0",
    'printf("%f", pixel.x);': "k.c:3:1: call to undeclared function 'printf'",
    "output(0, sqrtf(pixel.x));": "undeclared",
    "float4 color = {}; output(0, color);": "docs/kernels.md has the types that there are",
    "while (1) output(0, 1.0f);": "k.c:2: it never ends",
    "float x = 0; while (x < 1) x *= 1.0f; output(0, x);": "k.c:2: it never ends",
    "float x = pixel.x; if (x > 2) for (;;) x = x * 0.5f + 1; output(0, x);": "a loop that never ends: LLVM",
    "output(0, 1.0f": "k.c:4:1: expected ')'",
    "output(0, pixel +);": "k.c:3:18: expected expression",
    "output(0, texel(0, pixel).q9);": "k.c:3:",
}
PRELUDE = (
    "static const float table[4] = {1, 2, 4, 7}; float missing(float); "
    "static float recursive(float x) { return x < 1 ? 1 : x * recursive(x - 1); } "
    'static const char *const texts[2] = {"a", "bc"}; '
    "static float any_number(int n, ...) { __builtin_va_list a; __builtin_va_start(a, n); float s = 0; "
    "for (int i = 0; i < n; i++) s += __builtin_va_arg(a, int); __builtin_va_end(a); return s; } "
    "static float computed_size(float x) { float v[(int)x]; for (int i = 0; i < x; i++) v[i] = i; return v[0]; } "
    "__attribute__((noinline)) static float apart(float x) { for (int i = 0; i < x; i++) x *= 2; return x; } "
)


@pytest.mark.parametrize("body", BODIES)
def test_what_no_core_can_do_is_told_with_its_location(body: str) -> None:
    found = complaint(PRELUDE + kernel(body))
    assert BODIES[body] in found
    messages = [line.partition(": ")[2] for line in found.splitlines()]
    assert len(set(messages)) == len(messages)


R5XX_BODIES = {
    "float a[8]; for (int i = 0; i < 8; i++) a[i] = i; output(0, a[(int)pixel.x]);": "an array with a computed index",
    "float a[8]; a[(int)pixel.y] = 3; a[1] = pixel.x; output(0, a[2]);": "k.c:3:13: an array with a computed index",
    "output(0, table[(int)pixel.x & 3]);": "k.c:3:11: the table table is read with a computed index",
    "const float *t = table; float x = 0; for (int k = 0; k < 3; k++) x += *t++; output(0, x);": "a pointer that a",
    "volatile float x = pixel.x; output(0, x);": "k.c:3:16: a variable that is volatile",
    "output(0, constant((int)pixel.x));": "the number of a constant is computed",
    "output(0, (float)((int)pixel.x * 16777217));": "k.c:3:32: the whole number 16777217: R5xx cores hold whole",
    "output(0, (float)bit_count((uint)pixel.x));": "k.c:3:18: bit_count(): R5xx cores hold whole numbers as floats",
    "output(0, rotate_left((uint)pixel.x, 3) + 0.0f);": "rotate_left(): R5xx cores hold whole numbers as floats",
    "output(0, (float)((long long)pixel.x * 3));": "integers of 64 bits",
    "output(0, __builtin_elementwise_tan(pixel.x));": "tan(): R5xx cores have no such function",
    "output(0, __builtin_fmaf(pixel.x, pixel.y, 2.0f));": "k.c:3:11: fma(): write a * b + c",
    "float x = pixel.x + 0.1; output(0, x);": "k.c:3:19: double: cores compute floats only",
    "output(0, 1.0f); write(1, 2.0f);": "k.c:3:18: write(): only kernels for R700 cores",
    "void *p = &&a; if (pixel.x > 1) p = &&b; goto *p; a: output(0, 1.0f); b: output(1, 1.0f);": "computed label",
    "output(0, recursive(pixel.x));": "k.c:3:11: recursive calls itself",
    "float (*f)(float) = pixel.x > 3 ? missing : apart; output(0, f(1));": "a call of what a pointer points to",
    "output(0, any_number(2, (int)pixel.x));": "a function with any number of arguments",
    "int v[9]; int *p = v + (int)pixel.x; output(0, (float)(v + 8 - p));": "an address as a number",
    "output(0, (float)(int)((uint)pixel.x * 16909060u & 255u));": "the whole number 16909060: R5xx cores hold whole",
    "output(0, (float)((int)pixel.x * 16777218 + (int)pixel.y));": "the whole number 16777218: R5xx cores hold whole",
}


@pytest.mark.parametrize("body", R5XX_BODIES)
def test_what_device_cores_cannot_do_is_told_once(body: str) -> None:
    found = complaint(PRELUDE + kernel(body), isa="r5xx")
    assert R5XX_BODIES[body] in found
    assert len(found.splitlines()) == 1


def test_a_switch_that_has_all_cases_is_no_loop_that_never_ends() -> None:
    cases = "case 0: a[3] = 2; break; case 1: a[(int)pixel.x] = 3; case 2: a[7] = 1; case 3: a[1] = a[2];"
    fill = "float a[600]; for (int i = 0; i < 600; i++) a[i] = i;"
    found = complaint(kernel(fill, f"switch ((int)pixel.x & 3) {{ {cases} }}", "output(0, a[(int)pixel.y]);"))
    assert "fails at arrays of 600" in found


def test_functions_that_want_not_to_be_inlined_are_inlined_for_device_cores() -> None:
    source = Source(HEAD + PRELUDE + kernel("output(0, apart(pixel.x));"), "k.c")
    assert compile_kernel(source, isa="r5xx").executable.kind == "r5xx"


def test_every_error_of_a_source_is_told_at_once() -> None:
    found = complaint(kernel("undefined += 1;", "another = 2;")).splitlines()
    assert [line.split(":")[1] for line in found] == ["3", "4"]
    found = complaint(kernel("output(9, 1.0f);", "output(1, texel(77, pixel));")).splitlines()
    assert [line.split(":")[1] for line in found] == ["3", "4"]


@pytest.mark.slow
def test_a_kernel_that_needs_too_many_registers_is_told() -> None:
    fill = '_Pragma("unroll") for (int i = 0; i < 140; i++) p[i] = texel(0, pixel.x + i, pixel.y + i * 3);'
    use = '_Pragma("unroll") for (int i = 0; i < 140; i++) s = s * 0.5f + p[139 - i] * p[(i * 7) % 140];'
    found = complaint(kernel("vec4 p[140], s = 0;", fill, use, "output(0, s);"))
    assert "registers" in found


def test_a_kernel_that_does_nothing_is_told() -> None:
    found = complaint(kernel("float x = pixel.x;"), isa="r5xx")
    assert found == "k.c:2: it does nothing: it has no output() and no write()"


def test_a_function_named_kernel_is_told_how_kernels_begin() -> None:
    assert "a kernel is written `kernel void name(vec2 pixel)`" in complaint("void kernel(vec2 pixel) {}\n")


def test_which_kernel_is_meant_must_be_clear() -> None:
    two = "kernel void a(vec2 p) { output(0, 1.0f); }\nkernel void b(ivec2 p) { output(0, 2.0f); }\n"
    assert complaint(two) == "k.c:1: it has several kernels, so one must be named: a, b"
    assert complaint(two, "c") == "k.c:1: it has no kernel 'c'; there is: a, b"
    assert complaint("int x;\n").startswith("k.c:1: it has no kernel: write `kernel void name(vec2 pixel)")
    for wrong in ("kernel void k(float x) {}", "kernel int k(vec2 p) { return 1; }", "kernel void k(void) {}"):
        assert "a kernel is written `kernel void k(vec2 pixel)`" in complaint(wrong + "\n")
    assert compile_kernel(Source(HEAD + two, "k.c"), name="b").name == "b"


def test_headers_of_a_library_are_not_there_and_those_of_the_language_are() -> None:
    with pytest.raises(KernelError, match=r"k.c:1:10: 'math.h' file not found; beside its own headers"):
        compile_kernel(Source("#include <math.h>\n", "k.c"))
    text = "#include <stdint.h>\n#include <stddef.h>\n" + HEAD + kernel("uint32_t x = 3; output(0, (float)x);")
    assert compile_kernel(Source(text, "k.c")).warnings == ()


def test_warnings_are_told_and_the_kernel_is_compiled() -> None:
    compiled = compile_kernel(Source(HEAD + kernel("if (pixel.x = 1) output(0, 1.0f);"), "k.c"))
    assert "k.c:3:13: using the result of an assignment" in str(compiled.warnings[0])


def test_a_crash_of_clang_is_told_with_its_location() -> None:
    found = complaint("int x;\n#pragma clang __debug crash\n")
    assert "Clang fails here" in found


def test_a_kernels_own_headers_are_looked_for_beside_it(tmp_path: Path) -> None:
    (tmp_path / "twice.h").write_text("static float twice(float x) { return x + + x +; }\n")
    (tmp_path / "k.c").write_text(HEAD + '#include "twice.h"\n' + kernel("output(0, twice(pixel.x));"))
    with pytest.raises(KernelError, match=rf"{tmp_path}/twice.h:1:\d+: expected expression"):
        compile_kernel(tmp_path / "k.c")
    (tmp_path / "twice.h").write_text("static float twice(float x) { return x + x; }\n")
    assert compile_kernel(tmp_path / "k.c").executable.kind == "r700"


def test_the_command_line_replaces_its_output_only_if_it_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "k.c").write_text(HEAD + kernel("output(0, 1.0f);"))
    assert ctm("cc", "k.c", "-o", "k.elf").exit_code == 0
    made = (tmp_path / "k.elf").read_bytes()
    for text in ("output(0, pixel.x + 0.1);", "output(0, ;", "x"):
        (tmp_path / "k.c").write_text(HEAD + kernel(text))
        result = ctm("cc", "k.c", "-o", "k.elf")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("error: k.c:3:")
    (tmp_path / "k.c").write_text(HEAD + "#pragma clang __debug crash\n")
    assert ctm("cc", "k.c", "-o", "k.elf").exit_code == 2
    assert (tmp_path / "k.elf").read_bytes() == made
    assert {path.name for path in tmp_path.rglob("*")} == {"k.c", "k.elf", "temporary"}


def test_files_that_are_no_source_are_told(tmp_path: Path) -> None:
    binary, target = tmp_path / "k.c", tmp_path / "k.elf"
    for contents, message in ((b"\n\xff\xfe", "k.c:2: it is not UTF-8 text"), (b"\n\n\0", "k.c:3: it has a zero byte")):
        binary.write_bytes(contents)
        assert message in error_line("cc", binary, "-o", target)
    assert "would replace its source" in error_line("cc", binary, "-o", binary)
    assert "No such file" in error_line("cc", tmp_path / "none.c", "-o", target)
    assert "Is a directory" in error_line("cc", tmp_path, "-o", target)
    binary.write_text(HEAD + kernel("output(0, 1.0f);"))
    assert "not for 'r600'" in error_line("cc", binary, "-o", target, "--isa", "r600")
    assert not target.exists()
