"""Between which limits whole numbers lie, and which power of two divides them, as far as a function's IR says it.

Limits are of the numbers that a kernel means: nothing leaves the range in which a float is exact (docs/kernels.md), so
sums and products do not wrap. What is unsigned and wraps below 0 is held as a negative number.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.sim.compiler.ir.flow import Flow
from ctm.sim.compiler.ir.module import Function, Instruction, split, typed

EXACT_BITS = 24
"""Floats are exact for whole numbers up to 2 to this power."""
_ROUNDS = 4
"""So often limits of a loop's values may grow before they are given up."""
_FACTOR = 64
"""The power of two that divides 0."""
_INTEGER = re.compile(r"\bi(\d+)$")
_FLAGS = ("nuw", "nsw", "exact", "disjoint", "samesign", "nneg", "tail", "fast", "nnan", "ninf", "nsz")


@dataclass(frozen=True)
class Range:
    """Whole numbers from `low` to `high`, multiples of 2 to the power of `factor`."""

    low: float = -math.inf
    high: float = math.inf
    factor: int = 0

    @property
    def is_natural(self) -> bool:
        """Whether none is below 0."""
        return self.low >= 0

    @property
    def is_truth(self) -> bool:
        """Whether they are 0 and 1."""
        return self.low >= 0 and self.high <= 1

    @property
    def is_inexact(self) -> bool:
        """Whether all of them are too large for a float to be exact."""
        limit = 2.0 ** (EXACT_BITS + self.factor)
        return self.low > limit or self.high < -limit

    @property
    def smallest(self) -> int:
        """The smallest magnitude of numbers that are all on one side of 0."""
        return int(min(abs(self.low), abs(self.high)))

    def within(self, low: float, high: float) -> bool:
        """Whether all of them are between these."""
        return low <= self.low and self.high <= high

    def union(self, other: "Range") -> "Range":
        """The numbers of both."""
        return Range(min(self.low, other.low), max(self.high, other.high), min(self.factor, other.factor))


ANY = Range()


def known(number: int) -> Range:
    """One number."""
    return Range(number, number, (number & -number).bit_length() - 1 if number else _FACTOR)


def operands(instruction: Instruction) -> tuple[str, list[str]]:
    """The type of an arithmetic instruction, a cast's source or a selection's values, and its operands."""
    words = [word for word in instruction.text.split(" ") if word not in _FLAGS]
    fields = split(" ".join(words[1:]))
    if instruction.opcode == "icmp":
        fields[0] = fields[0].split(" ", 1)[1]
    type_, first = typed(fields[0].rpartition(" to ")[0] or fields[0])
    return type_, [first, *fields[1:]]


def width(type_: str) -> int:
    """The bits of an integer's type; 0 of another type."""
    found = _INTEGER.fullmatch(type_)
    return int(found[1]) if found else 0


class Ranges:
    """Those of all integers of a function; `pixel` is the name of its parameter, whose elements are coordinates."""

    def __init__(self, function: Function, pixel: str) -> None:
        self._pixel = pixel
        self._found: dict[str, Range] = {}
        flow = Flow(function)
        for number in count():
            before = dict(self._found)
            for label in flow.order:
                for instruction in flow.blocks[label].instructions:
                    if instruction.result:
                        self._visit(instruction, is_last=number > _ROUNDS)
            if before == self._found:
                break

    def of(self, text: str) -> Range:
        """What is known of an operand."""
        return self._of(text) or ANY

    def _of(self, text: str) -> Range | None:
        """None of one that no path has reached yet."""
        if text.startswith("%"):
            return self._found.get(text)
        if text in ("true", "false"):
            return known(int(text == "true"))
        return known(int(text)) if re.fullmatch(r"-?\d+", text) else known(0)

    def _visit(self, instruction: Instruction, *, is_last: bool) -> None:
        if instruction.opcode == "phi":
            found = self._phi(instruction, is_last=is_last)
        else:
            rule = _RULES.get(instruction.opcode)
            found = rule(self, instruction) if rule else ANY
        if found is not None:
            self._found[instruction.result] = found

    def _phi(self, phi: Instruction, *, is_last: bool) -> Range | None:
        values = [self._of(value) for value, _ in phi.incoming]
        there = [value for value in values if value is not None]
        if not there:
            return None
        found = there[0]
        for value in there[1:]:
            found = found.union(value)
        before = self._found.get(phi.result)
        if before is not None and is_last:
            low = found.low if found.low >= before.low else -math.inf
            high = found.high if found.high <= before.high else math.inf
            found = Range(low, high, found.factor if found.factor >= before.factor else 0)
        return found

    def binary(self, instruction: Instruction) -> tuple[Range, Range]:
        """Those of the two operands of an arithmetic instruction."""
        left, right = operands(instruction)[1]
        return self.of(left), self.of(right)

    def element(self, instruction: Instruction) -> Range:
        """A coordinate of the pixel."""
        is_pixel = f" {self._pixel}, " in instruction.text
        return Range(0, COORDINATE_LIMIT - 1) if is_pixel else ANY

    def choice(self, instruction: Instruction) -> Range:
        """One of two."""
        _, yes, no = split(instruction.text)
        return self.of(typed(yes)[1]).union(self.of(typed(no)[1]))

    def call(self, instruction: Instruction) -> Range:
        """A function's result."""
        name = instruction.callee.split(".")[1] if instruction.callee.startswith("llvm.") else ""
        if name not in ("abs", "smin", "smax", "umin", "umax"):
            return ANY
        first, second = (self.of(text) for text in instruction.arguments[:2])
        return Range(0, max(abs(first.low), abs(first.high)), first.factor) if name == "abs" else first.union(second)


def _sum(ranges: Ranges, instruction: Instruction) -> Range:
    left, right = ranges.binary(instruction)
    if instruction.opcode == "sub":
        right = Range(-right.high, -right.low, right.factor)
    return _wrapped(instruction, Range(left.low + right.low, left.high + right.high, min(left.factor, right.factor)))


def _product(ranges: Ranges, instruction: Instruction) -> Range:
    return _wrapped(instruction, _multiplied(*ranges.binary(instruction)))


def _wrapped(instruction: Instruction, found: Range) -> Range:
    """A result of fewer bits than a word has wraps; that of a word is taken for granted not to."""
    bits = width(operands(instruction)[0])
    half = 2.0 ** (bits - 1)
    is_exact = bits > EXACT_BITS or found.within(-half, half - 1)
    return found if is_exact else Range(-half, half - 1, min(found.factor, bits - 1))


def _multiplied(left: Range, right: Range) -> Range:
    corners = [a * b if a and b else 0.0 for a in (left.low, left.high) for b in (right.low, right.high)]
    return Range(min(corners), max(corners), min(left.factor + right.factor, _FACTOR))


def _shifted_left(ranges: Ranges, instruction: Instruction) -> Range:
    value, by = ranges.binary(instruction)
    bits = width(operands(instruction)[0])
    if by.low != by.high:
        found = Range(0 if value.is_natural else -math.inf, math.inf, value.factor)
        return found if bits > EXACT_BITS else _wrapped(instruction, found)
    found, count = _multiplied(value, known(1 << int(by.low))), int(by.low)
    half = 2.0 ** (bits - 1)
    if found.within(-half, half - 1) or bits - count > EXACT_BITS:
        return found
    return Range(-half, half - 2.0**count, min(value.factor + count, bits - 1))


def _shifted_right(ranges: Ranges, instruction: Instruction) -> Range:
    value, by = ranges.binary(instruction)
    is_arithmetic = instruction.opcode == "ashr"
    if not value.is_natural and not is_arithmetic:
        return Range(0, math.inf) if by.low > 0 else ANY
    if by.low == by.high:
        factor = 2.0**by.low
        low, high = value.low / factor, value.high / factor
        return Range(*(math.floor(each) if math.isfinite(each) else each for each in (low, high)))
    return Range(min(value.low, 0), max(value.high, -1))


def _masked(ranges: Ranges, instruction: Instruction) -> Range:
    left, right = ranges.binary(instruction)
    limits = [each.high for each in (left, right) if each.is_natural]
    factor = max(left.factor, right.factor)
    return Range(0, min(limits), factor) if limits else Range(factor=factor)


def _joined(ranges: Ranges, instruction: Instruction) -> Range:
    left, right = ranges.binary(instruction)
    factor, highest = min(left.factor, right.factor), max(left.high, right.high)
    if not (left.is_natural and right.is_natural):
        return Range(factor=factor)
    return Range(0, 2 ** int(highest).bit_length() - 1 if math.isfinite(highest) else math.inf, factor)


def _divided(ranges: Ranges, instruction: Instruction) -> Range:
    value, by = ranges.binary(instruction)
    is_unsigned, is_remainder = instruction.opcode.startswith("u"), instruction.opcode.endswith("rem")
    most, limit = max(abs(value.low), abs(value.high)), max(abs(by.low), abs(by.high))
    if is_unsigned and not value.is_natural:
        # What has wrapped below 0 is large; less than a divisor that is large, too, it remains as it is held.
        if not is_remainder:
            return Range(0, max(most, 2.0 ** width(operands(instruction)[0])))
        return Range(0, limit - 1) if by.is_natural else Range(-most, max(most, limit))
    if is_remainder and (by.is_natural or not is_unsigned):
        most = min(most, limit - 1)
    is_natural = value.is_natural and (by.is_natural or is_remainder)
    return Range(0 if is_natural or is_unsigned else -most, most)


def _widened(ranges: Ranges, instruction: Instruction) -> Range:
    type_, (value, *_) = operands(instruction)
    if width(type_) == 1:
        return Range(0, 1) if instruction.opcode == "zext" else Range(-1, 0)
    found = ranges.of(value)
    return found if found.is_natural or instruction.opcode == "sext" else Range(0, 2.0 ** width(type_) - 1)


def _narrowed(ranges: Ranges, instruction: Instruction) -> Range:
    half = 2.0 ** (width(instruction.text.rpartition(" ")[2]) - 1)
    found = ranges.of(operands(instruction)[1][0])
    return found if found.within(-half, half - 1) else Range(-half, half - 1, min(found.factor, EXACT_BITS))


def _same(ranges: Ranges, instruction: Instruction) -> Range:
    return ranges.of(operands(instruction)[1][0])


_RULES: dict[str, Callable[[Ranges, Instruction], Range]] = {
    "add": _sum, "sub": _sum, "mul": _product, "shl": _shifted_left, "lshr": _shifted_right, "ashr": _shifted_right,
    "and": _masked, "or": _joined, "xor": _joined, "zext": _widened, "sext": _widened, "trunc": _narrowed,
    **dict.fromkeys(("sdiv", "udiv", "srem", "urem"), _divided), "freeze": _same,
    "fptoui": lambda *_: Range(0), "extractelement": Ranges.element, "select": Ranges.choice, "call": Ranges.call,
}  # fmt: skip
