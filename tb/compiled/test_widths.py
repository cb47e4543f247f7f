"""Every operator means the same when its operands are written out, for all widths and signs; no linter complains."""

import ctypes
import operator
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from ctm.sim.compiled.rewriting.widths import Operand, with_equal_widths
from ctm.sim.compiled.tools import toolchain
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.compiled.verilog import from_rtlil
from ctm.tb.compiled.lint import complaints

INPUT_BITS = 96
WIDTHS = (1, 5, 33, 70)
OPERAND_SETS = 40
_WRAPPER = """
#include "models.h"
#include <cstring>
extern "C" __attribute__((visibility("default"))) void evaluate(const void* left, const void* right, void* results) {
    VerilatedContext context;
    Voperators model{&context};
    std::memcpy(&model.left, left, sizeof model.left);
    std::memcpy(&model.right, right, sizeof model.right);
    model.eval();
    std::memcpy(results, &model.results, sizeof model.results);
}
"""


@dataclass(frozen=True)
class Side:
    """An operand: low bits of an input, or a constant."""

    width: int
    is_signed: bool
    constant: int | None = None

    def text(self, wire: str) -> str:
        if self.constant is not None:
            return f"{self.width}'{self.constant:0{self.width}b}"
        if self.width == 1:
            return f"{wire} [0]"
        # Another form of the same bits.
        return f"{wire} [{self.width - 1}:0]" if self.width % 2 else f"{{ {wire} [{self.width - 1}:1] {wire} [0] }}"

    def value(self, given: int) -> int:
        given = (given if self.constant is None else self.constant) & (1 << self.width) - 1
        return given - (given >> self.width - 1 << self.width) if self.is_signed else given


@dataclass(frozen=True)
class Cell:
    """An operator's cell."""

    kind: str
    left: Side
    right: Side | None
    width: int

    def text(self, number: int, start: int) -> str:
        sides = {"A": (self.left, "\\left")} | ({"B": (self.right, "\\right")} if self.right else {})
        lines = [f"  wire width {self.width} $y{number}", f"  cell ${self.kind} $c{number}"]
        for port, (side, wire) in sides.items():
            lines.append(f"    parameter \\{port}_SIGNED {int(side.is_signed)}")
            lines.append(f"    parameter \\{port}_WIDTH {side.width}")
            lines.append(f"    connect \\{port} {side.text(wire)}")
        lines += [f"    parameter \\Y_WIDTH {self.width}", f"    connect \\Y $y{number}", "  end"]
        return "\n".join([*lines, f"  connect \\results [{start + self.width - 1}:{start}] $y{number}", ""])

    def value(self, left: int, right: int) -> int:
        """What Yosys's manual says."""
        if self.right is None:
            value = self.left.value(left)
            return {"not": ~value, "neg": -value}[self.kind] & (1 << self.width) - 1
        if self.kind in SHIFTS:
            return self._shifted(left, self.right.value(right))
        is_signed = self.left.is_signed and self.right.is_signed
        sides = ((self.left, left), (self.right, right))
        numbers = (Side(side.width, is_signed, side.constant).value(given) for side, given in sides)
        return int(BINARY[self.kind](*numbers)) & (1 << self.width) - 1

    def _shifted(self, left: int, amount: int) -> int:
        value = self.left.value(left)
        if self.kind == "shl":
            return value << amount & (1 << self.width) - 1
        if self.kind != "sshr":
            value &= (1 << max(self.width, self.left.width)) - 1
        return value >> amount & (1 << self.width) - 1


BINARY: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "and": operator.and_, "or": operator.or_,
    "xor": operator.xor, "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge, "divfloor": operator.floordiv, "modfloor": operator.mod,
}  # fmt: skip
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
DIVISIONS = ("divfloor", "modfloor")
SHIFTS = ("shl", "shr", "sshr", "shift")
SIGNS = (False, True)


def cells() -> Iterator[Cell]:
    sides = [Side(width, is_signed) for width, is_signed in product(WIDTHS, SIGNS)]
    constants = [Side(4, is_signed, value) for is_signed, value in product(SIGNS, (0, 1, 2, 4, 7, 12))]
    for kind in ("not", "neg"):
        yield from (Cell(kind, side, None, width) for side, width in product(sides, WIDTHS))
    for kind in BINARY.keys() - {*COMPARISONS, *DIVISIONS}:
        yield from (Cell(kind, *pair, width) for pair in product(sides, [*sides, *constants]) for width in WIDTHS)
    for kind in COMPARISONS:
        yield from (Cell(kind, left, right, 1) for left, right in product(sides, [*sides, *constants]))
        yield from (Cell(kind, left, right, 1) for left, right in product(constants, sides))
    amounts = [side for side in (Side(2, False), Side(5, False), Side(7, False), *constants) if not side.is_signed]
    for kind in SHIFTS:
        yield from (Cell(kind, *pair, width) for pair in product([*sides, *constants], amounts) for width in WIDTHS)
    for kind in DIVISIONS:
        divisors = [side for side in constants if side.constant]
        pairs = [pair for pair in product(sides, divisors) if _is_plain(*pair)]
        yield from (Cell(kind, *pair, width) for pair in pairs for width in WIDTHS)


def _is_plain(left: Side, divisor: Side) -> bool:
    """Whether a division is not one of signed numbers by other than a power of two, which Yosys rewrites."""
    is_signed = left.is_signed and divisor.is_signed
    number = Side(divisor.width, is_signed, divisor.constant).value(0)
    return not is_signed or number in (1, 2, 4)


def numbers(generator: np.random.Generator) -> Iterator[int]:
    """Operands of all lengths, and those in which all bits are the same."""
    yield from (0, (1 << INPUT_BITS) - 1)
    for _ in range(OPERAND_SETS):
        yield int.from_bytes(generator.bytes(INPUT_BITS // 8), "little") >> int(generator.integers(INPUT_BITS))


@pytest.fixture(scope="module")
def every() -> list[Cell]:
    return sorted(cells(), key=repr)


@pytest.fixture(scope="module")
def verilog(every: list[Cell]) -> str:
    cells_text, start = [], 0
    for number, cell in enumerate(every):
        cells_text.append(cell.text(number, start))
        start += cell.width
    ports = (f"  wire width {INPUT_BITS} input 0 \\left", f"  wire width {INPUT_BITS} input 1 \\right",
             f"  wire width {start} output 2 \\results\n")  # fmt: skip
    return from_rtlil("\n".join(["module \\operators", *ports]) + "".join(cells_text) + "end\n")


@pytest.mark.long
def test_results_are_those_of_yosyss_manual(every: list[Cell], verilog: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # One function of megabytes, which runs for a moment: optimised, it takes half a minute to compile.
    monkeypatch.setattr(toolchain, "_LARGE_MODEL", sys.maxsize)
    monkeypatch.setattr(toolchain, "_MODEL_FLAGS", ("-O0",))
    library = ctypes.CDLL(str(build(Model("operators", verilog), _WRAPPER)))
    total = sum(cell.width for cell in every)
    results = (ctypes.c_uint8 * (4 * -(-total // 32)))()
    generator = np.random.default_rng(7)
    for left, right in zip(numbers(generator), numbers(generator), strict=True):
        library.evaluate(left.to_bytes(INPUT_BITS // 8, "little"), right.to_bytes(INPUT_BITS // 8, "little"), results)
        found = int.from_bytes(bytes(results), "little")
        expected = b"".join(f"{cell.value(left, right):0{cell.width}b}"[::-1].encode() for cell in every).decode()
        if found != int(expected[::-1], 2):
            _name_first(every, f"{found:0{total}b}"[::-1], expected, left, right)


def _name_first(every: list[Cell], found: str, expected: str, left: int, right: int) -> None:
    start = 0
    for cell in every:
        own = slice(start, start + cell.width)
        assert found[own] == expected[own], (
            f"{cell}, {left:#x}, {right:#x}: {found[own][::-1]}, not {expected[own][::-1]}"
        )
        start += cell.width


@pytest.mark.slow
def test_no_operator_is_complained_of(verilog: str, tmp_path: Path) -> None:
    # That no number is below zero is the operands' matter.
    assert complaints(verilog, "operators", tmp_path) == {"UNSIGNED"}


def test_an_operand_without_bits_is_zero() -> None:
    assert Operand("{ }", 0, True).extended(3).text == "3'000"


def test_other_cells_stay() -> None:
    text = "  cell $mux $1\n    parameter \\WIDTH 2\n    connect \\Y $2\n  end\n"
    assert with_equal_widths(text) == text
