"""Operators in RTLIL whose operands are as wide as Verilog wants them.

Amaranth leaves out of an operand what follows from its sign, and Verilog puts it back by rules of its own, about which
linters warn because they surprise. What is here is written out: zeros, copies of the sign, and only the bits that have
an effect.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

_CELL = re.compile(r"^  cell \$(\w+) (\S+)\n((?:    .*\n)*)  end\n", re.MULTILINE)
_LINE = re.compile(r"^    (?:parameter|connect) \\(\S+) (.*)$", re.MULTILINE)
_CONSTANT = re.compile(r"\d+'([01]+)")
_WIRE = ("\\", "$")
"""What a wire's name begins with."""
_SUMS = ("add", "sub", "mul", "and", "or", "xor")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_SIGNED = ("mul", "lt", "le", "gt", "ge")
"""Whose result depends on the sign even of operands that are wide enough, or costs less if it is known."""


@dataclass(frozen=True)
class Operand:
    """A signal, its width, and whether it is a signed number."""

    text: str
    width: int
    is_signed: bool

    def extended(self, width: int) -> "Operand":
        """The same number, or its lower bits."""
        if self.width == 0:
            return Operand(f"{width}'{'0' * width}", width, self.is_signed)
        if width < self.width:
            return Operand(f"{self.text} [{width - 1}:0]", width, self.is_signed)
        if width == self.width:
            return self
        missing = width - self.width
        high = f"{self.text} [{self.width - 1}] " * missing if self.is_signed else f"{missing}'{'0' * missing} "
        return Operand(f"{{ {high}{self.text} }}", width, self.is_signed)


@dataclass(frozen=True)
class _Operation:
    """An operator's cell."""

    kind: str
    name: str
    left: Operand
    right: Operand | None
    result: str
    width: int

    def written(self, left: Operand, right: Operand | None = None, *, is_signed: bool = False, kind: str = "") -> str:
        """The cell with other operands."""
        sides = {"A": left} if right is None else {"A": left, "B": right}
        lines = [f"  cell ${kind or self.kind} {self.name}"]
        for port, side in sides.items():
            lines.append(f"    parameter \\{port}_SIGNED {int(is_signed and side.is_signed)}")
            lines.append(f"    parameter \\{port}_WIDTH {side.width}")
        lines.append(f"    parameter \\Y_WIDTH {self.width}")
        lines += [f"    connect \\{port} {side.text}" for port, side in sides.items()]
        return "\n".join([*lines, f"    connect \\Y {self.result}", "  end", ""])

    def wider(self, width: int, left: Operand, right: Operand, *, is_signed: bool, kind: str) -> str:
        """The cell with a result of this width, of which the lower bits are used."""
        if width == self.width:
            return self.written(left, right, is_signed=is_signed, kind=kind)
        whole = f"{self.name}$whole"
        cell = replace(self, result=whole, width=width).written(left, right, is_signed=is_signed, kind=kind)
        return f"  wire width {width} {whole}\n{cell}  connect {self.result} {whole} [{self.width - 1}:0]\n"


def with_equal_widths(text: str) -> str:
    """The same design in RTLIL, its operators with operands as wide as the result, or as each other.

    A right shift's first operand, of which only a field is used, is left wider.
    """
    return _CELL.sub(_cell, text)


def _cell(match: re.Match[str]) -> str:
    kind, name, body = match.groups()
    if kind not in _REWRITINGS:
        return match[0]
    values: Mapping[str, str] = dict(_LINE.findall(body))
    left = _operand(values, "A")
    right = _operand(values, "B") if "B" in values else None
    operation = _Operation(kind, name, left, right, values["Y"], int(values["Y_WIDTH"]))
    return _REWRITINGS[kind](operation)


def _operand(values: Mapping[str, str], port: str) -> Operand:
    return Operand(values[port], int(values[f"{port}_WIDTH"]), values[f"{port}_SIGNED"] != "0")


def _with_common_sign(operation: _Operation) -> tuple[Operand, Operand]:
    """Both operands; they are signed numbers only if both are."""
    left, right = operation.left, operation.right
    assert right is not None
    if left.is_signed and right.is_signed:
        return left, right
    return Operand(left.text, left.width, False), Operand(right.text, right.width, False)


def _unary(operation: _Operation) -> str:
    return operation.written(operation.left.extended(operation.width))


def _sum(operation: _Operation) -> str:
    left, right = (side.extended(operation.width) for side in _with_common_sign(operation))
    return operation.written(left, right, is_signed=operation.kind in _SIGNED)


def _comparison(operation: _Operation) -> str:
    sides = _with_common_sign(operation)
    left, right = (side.extended(max(1, *(side.width for side in sides))) for side in sides)
    return operation.written(left, right, is_signed=operation.kind in _SIGNED)


def _left_shift(operation: _Operation) -> str:
    return operation.written(operation.left.extended(operation.width), operation.right)


def _right_shift(operation: _Operation) -> str:
    left, right = operation.left, operation.right
    assert right is not None
    copies_sign = operation.kind == "sshr" and left.is_signed
    if (constant := _CONSTANT.fullmatch(right.text)) is not None:
        return _constant_shift(operation, int(constant[1], 2), copies_sign=copies_sign)
    # The rewriting of selections knows wires only.
    may_be_selection = not copies_sign and all(side.text.startswith(_WIRE) for side in (left, right))
    width = operation.width if may_be_selection else max(left.width, operation.width)
    sides = left.extended(max(left.width, width)), Operand(right.text, right.width, False)
    return operation.wider(width, *sides, is_signed=copies_sign, kind="sshr" if copies_sign else "shr")


def _constant_shift(operation: _Operation, shift: int, *, copies_sign: bool) -> str:
    """The bits that a right shift by a constant leaves."""
    whole = operation.left.extended(max(operation.left.width, operation.width, 1))
    start = min(shift, whole.width - 1 if copies_sign else whole.width)
    text = f"{whole.text} [{whole.width - 1}:{start}]" if start < whole.width else ""
    value = Operand(text, whole.width - start, copies_sign)
    return f"  connect {operation.result} {value.extended(operation.width).text}\n"


def _division(operation: _Operation) -> str:
    left, right = _with_common_sign(operation)
    shift = _power_of_two(right)
    if shift is not None:
        return _power_division(operation, left, shift)
    if left.is_signed:
        width = max(left.width, right.width, operation.width)
        return operation.written(left.extended(width), right.extended(width), is_signed=True)
    return _unsigned_division(operation, left, right)


def _power_of_two(operand: Operand) -> int | None:
    """The exponent of a constant that is one."""
    constant = _CONSTANT.fullmatch(operand.text)
    if constant is None or constant[1].count("1") != 1 or (operand.is_signed and constant[1][0] == "1"):
        return None
    return len(constant[1]) - 1 - constant[1].index("1")


def _power_division(operation: _Operation, left: Operand, shift: int) -> str:
    """Quotient or remainder by a power of two, both rounded down: some of the bits, whatever the sign."""
    if operation.kind == "modfloor":
        low = left.extended(max(shift, 1)) if shift else Operand("", 0, False)
        value = Operand(low.text, low.width, False).extended(operation.width)
    else:
        whole = left.extended(max(left.width, shift + 1))
        value = Operand(f"{whole.text} [{whole.width - 1}:{shift}]", whole.width - shift, left.is_signed)
        value = value.extended(operation.width)
    return f"  connect {operation.result} {value.text}\n"


def _unsigned_division(operation: _Operation, left: Operand, right: Operand) -> str:
    width = max(left.width, right.width, operation.width)
    kind = {"divfloor": "div", "modfloor": "mod"}[operation.kind]
    return operation.wider(width, left.extended(width), right.extended(width), is_signed=False, kind=kind)


_REWRITINGS: Mapping[str, Callable[[_Operation], str]] = {
    **dict.fromkeys(_SUMS, _sum),
    **dict.fromkeys(_COMPARISONS, _comparison),
    **dict.fromkeys(("not", "neg"), _unary),
    **dict.fromkeys(("shr", "sshr", "shift"), _right_shift),
    **dict.fromkeys(("divfloor", "modfloor"), _division),
    "shl": _left_shift,
}
