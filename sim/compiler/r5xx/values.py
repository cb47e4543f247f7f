"""The values of a kernel while operations are chosen for it: operands, vectors, conditions."""

import struct
from dataclasses import dataclass
from itertools import count

from ctm.sim.compiler.error import Location
from ctm.sim.compiler.ir.module import splatted, split, typed
from ctm.sim.compiler.r5xx.operations import Operand, Operation, Steps
from ctm.sim.elf.lines import Line

ZERO, ONE = Operand(0.0), Operand(1.0)
_WHOLE = 2.0**24
"""Numbers from here on have no fraction."""
LARGEST = float.fromhex("0x1.fffffep127")


@dataclass(frozen=True)
class Condition:
    """A difference against 0. With `is_inverted` it holds where the test does not, NaNs included.

    `is_ordinary`: neither of the two is a NaN or infinite.
    """

    left: Operand
    right: Operand
    test: str
    is_inverted: bool = False
    is_ordinary: bool = False


class Unsupported(Exception):  # noqa: N818 - it is no fault of the program
    """An instruction that a core cannot do; the message says why, and `location` where."""

    location: Location | None = None


class Values:
    """Values by the names of the IR, and the operations that were written so far.

    `values` are scalars that need no operation, `vectors` the elements of vectors, `conditions` comparisons that
    are not used yet, `written` the steps, `line` the source's line.
    """

    def __init__(self) -> None:
        self.values: dict[str, Operand] = {}
        self.vectors: dict[str, list[Operand]] = {}
        self.conditions: dict[str, Condition] = {}
        self.written: Steps = []
        self.line: Line | None = None
        self._numbers = count()

    def condition(self, text: str) -> Condition:
        """A value of type i1."""
        found = self.conditions.get(text)
        return found or Condition(self.values.get(text, Operand(text)), ZERO, "!=0")

    def add(self, name: str, result: str, *operands: Operand) -> Operand:
        """Write an operation whose result has a name."""
        self.written.append(Operation(name, (result,), operands, line=self.line))
        return Operand(result)

    def name(self) -> str:
        """A new name."""
        return f"%-t.{next(self._numbers)}"

    def new(self, name: str, *operands: Operand) -> Operand:
        """Write an operation whose result has a new name."""
        return self.add(name, self.name(), *operands)

    def operand(self, text: str) -> Operand:
        """A scalar's text."""
        if text in self.conditions:
            return self.chosen(self.conditions[text], ONE, ZERO)
        if text.startswith("%"):
            return self.values.get(text, Operand(text))
        if text in ("true", "false"):
            return Operand(float(text == "true"))
        if text in ("poison", "undef", "zeroinitializer"):
            return ZERO
        if text.startswith("0x"):
            return Operand(struct.unpack(">d", bytes.fromhex(text[2:]))[0])
        return Operand(float(text))

    def chosen(self, condition: Condition, yes: Operand, no: Operand, result: str = "") -> Operand:
        """One of two values."""
        difference = condition.left
        if condition.right != ZERO:
            difference = self.new("ADD", condition.left, -condition.right)
        if condition.test in ("<0", "!=0"):
            yes, no = no, yes
        if condition.is_inverted:
            yes, no = no, yes
        if condition.test in ("==0", "!=0"):
            difference = -abs(difference)
        elif condition.test == "<0" and not condition.is_ordinary:
            # CMP takes a NaN for less than 0, MIN does not.
            difference = self.new("MIN", difference, ZERO)
        return self.add("CMP", result or self.name(), yes, no, difference)

    def floor(self, result: str, value: Operand, *, is_ordinary: bool) -> None:
        """Exact: FRC of a number a little below 0 is not 1, so that it is used of magnitudes only."""
        fractional = self.fraction(abs(value), is_ordinary=is_ordinary)
        whole = self.new("ADD", abs(value), -fractional)
        more = self.new("ADD", whole, self.new("CMP", ZERO, ONE, -fractional))
        self.add("CMP", result, whole, -more, value)

    def truncated(self, result: str, value: Operand, *, is_ordinary: bool) -> None:
        """Without the fraction."""
        whole = self.new("ADD", abs(value), -self.fraction(abs(value), is_ordinary=is_ordinary))
        self.add("CMP", result, whole, -whole, value)

    def fraction(self, magnitude: Operand, *, is_ordinary: bool) -> Operand:
        """The fraction of a magnitude: 0 of an infinite one, of which FRC is NaN, and of a NaN."""
        if not is_ordinary:
            magnitude = self.new("MIN", magnitude, Operand(_WHOLE))
        return self.new("FRC", magnitude)

    def equality(self, left: Operand, right: Operand) -> Operand:
        """The difference of two numbers, and 0 of two equal infinities, whose difference is NaN."""
        difference = self.new("ADD", left, -right)
        # 0 of two equal infinities, NaN where one of the two is.
        same = self.new("MIN", ZERO, abs(self.new("ADD", left, right)))
        return self.new("CMP", difference, same, abs(difference))

    def vector(self, text: str) -> list[Operand]:
        """The elements of a vector's text."""
        if text in self.vectors:
            return self.vectors[text]
        if text.startswith("<"):
            return [self.operand(typed(element)[1]) for element in split(text[1:-1])]
        if (each := splatted(text)) is not None:
            return [self.operand(typed(each)[1])] * 4
        return [ZERO] * 4
