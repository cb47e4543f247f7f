"""Each instruction of a compiled kernel has a line that a reader would accept: kernels say themselves which."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctm.sim.assembler.languages import statements
from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.source import Source
from ctm.sim.elf import Executable
from ctm.tb.compiler.lined_kernels import PYTHON, C

ISAS = ("r5xx", "r700")
KERNELS = {
    **{f"{re.findall(r'void (.*)[(]', text)[0]}.c": text for text in C},
    **{f"{re.findall(r'kernel.def (.*)[(]', text, re.DOTALL)[0].split('(')[0]}.py": text for text in PYTHON},
}
_FLOW = ("JUMP", "POP", "LOOP_BREAK", "LOOP_CONTINUE", "ELSE", "PUSH", "NOP", "ALU", "TEX", "VTX")
"""CF instructions that are of their clause or of their condition."""


def wanted(text: str, isa: str) -> dict[int, tuple[set[str], set[str]]]:
    """Of each line what it must become, and what it may."""
    found = {}
    for number, line in enumerate(text.split("\n"), start=1):
        said = re.search(r"(?://|#) ([^|]*)\|(.*)", line)
        if said:
            words = said[1 + ISAS.index(isa)].split()
            must = {word for word in words if not word.endswith("?")}
            found[number] = must, must | {word.rstrip("?") for word in words}
    return found


def done(executable: Executable) -> Iterator[tuple[int, set[str]]]:
    """Units and what they do."""
    for unit, text in statements(executable).items():
        if executable.kind == "r5xx":
            yield unit, set(map(_half, text.split("||"))) if "(" in text else {text.split()[0]}
            continue
        for number, slot in enumerate(text.split("; ")):
            named = re.match(r"\s*(?:\d+ +)?(?:[xyzwt]: )?([.A-Za-z0-9_]+)", slot)
            assert named is not None, slot
            name = named[1]
            if not name.startswith((*_FLOW, ".unit")):
                is_test = name.startswith("PRED_SET") or name in ("AND_INT", "SETE_INT")
                yield unit + number, {"LOOP"} if name.startswith("LOOP") else {"TEST", name} if is_test else {name}


def _half(text: str) -> str:
    is_test = re.search(r"(alu_result|\bp)\.\w+\[", text)
    return "TEST" if is_test else re.findall(r"([A-Z0-9_]+)\(", text)[0]


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", KERNELS)
def test_every_instruction_has_the_line_that_it_comes_from(name: str, isa: str) -> None:
    text = KERNELS[name]
    executable = compile_kernel(Source(text, name), isa=isa).executable
    said = wanted(text, isa)
    found: dict[int, set[str]] = {}
    assert executable.lines is not None
    for unit, operations in done(executable):
        line = executable.lines.at(unit)
        assert line is not None and line.file == name, (unit, operations)
        may = said.get(line.line, (set(), set()))[1]
        assert operations & may, f"{operations} on line {line.line}: {text.splitlines()[line.line - 1]}"
        found.setdefault(line.line, set()).update(operations)
    for number, (must, _) in said.items():
        assert must <= found.get(number, set()), f"line {number} has only {found.get(number)}"


@pytest.mark.parametrize("name", [name for name in KERNELS if "for (" in KERNELS[name]])
def test_control_flow_has_the_line_of_a_head_or_of_a_condition(name: str) -> None:
    text = KERNELS[name]
    executable = compile_kernel(Source(text, name), isa="r700").executable
    heads = {number for number, line in enumerate(text.split("\n"), start=1) if re.search(r"\b(for|while|if) \(", line)}
    for unit, statement in statements(executable).items():
        if statement.startswith(("JUMP", "LOOP", "ELSE")):
            line = executable.lines.at(unit) if executable.lines else None
            assert line is not None and line.line in heads, f"{statement}: {line}"


@pytest.mark.parametrize(("pragma", "message"), [("unroll(full)", "not unrolled"), ("vectorize(enable)", "vectorized")])
def test_warnings_of_the_optimiser_have_locations(pragma: str, message: str) -> None:
    text = KERNELS["nested.c"].replace("        for (", f"#pragma clang loop {pragma}\n        for (")
    text = text.replace("i < 8", "i < (int)pixel.x")
    (warning,) = compile_kernel(Source(text, "k.c"), isa="r700").warnings
    assert (warning.location.file, warning.location.line) == ("k.c", 7)
    assert message in warning.message


def test_a_product_that_is_moved_down_finds_its_line_again() -> None:
    path = Path(__file__).parents[1] / "data" / "kernels" / "exits.c"
    executable = compile_kernel(path, isa="r700").executable
    line = path.read_text().split("\n").index("    t *= 2;") + 1
    assert executable.lines is not None
    lines = {unit: executable.lines.at(unit) for unit, _ in done(executable)}
    assert {"ADD"} in [names for unit, names in done(executable) if (lines[unit] or (0, 0))[1] == line]
