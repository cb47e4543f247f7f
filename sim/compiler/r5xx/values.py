"""The values of a kernel while operations are chosen for it: operands, vectors, conditions."""

import struct
from dataclasses import dataclass
from itertools import count

from ctm.sim.compiler.error import Location
from ctm.sim.compiler.ir.module import split, typed
from ctm.sim.compiler.r5xx.operations import Operand, Operation, Steps

ZERO, ONE = Operand(0.0), Operand(1.0)
BITS = "bits of a number: integers of R5xx cores are floats, which have none"
"""What is said of them."""


@dataclass(frozen=True)
class Condition:
    """A difference against 0. With `is_inverted` it holds where the test does not, NaNs included."""

    left: Operand
    right: Operand
    test: str
    is_inverted: bool = False


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
        self.line = 0
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
        elif condition.test == "<0":
            # CMP takes a NaN for less than 0, MIN does not.
            difference = self.new("MIN", difference, ZERO)
        return self.add("CMP", result or self.name(), yes, no, difference)

    def remainder(self, result: str, value: Operand, size: float) -> None:
        """What is left of an integer above multiples of a power of two."""
        part = self.new("FRC", self.new("MUL", value, Operand(1 / size)))
        self.add("MUL", result, part, Operand(size))

    def floor(self, result: str, value: Operand) -> None:
        """Exact: FRC of a number a little below 0 is not 1, so that it is asked for magnitudes only."""
        rest = self.new("FRC", abs(value))
        whole = self.new("ADD", abs(value), -rest)
        more = self.new("ADD", whole, self.new("CMP", ZERO, ONE, -rest))
        self.add("CMP", result, whole, -more, value)

    def vector(self, text: str) -> list[Operand]:
        """The elements of a vector's text."""
        if text in self.vectors:
            return self.vectors[text]
        if text.startswith("<"):
            return [self.operand(typed(part)[1]) for part in split(text[1:-1])]
        if text.startswith("splat"):
            return [self.operand(typed(text[text.index("(") + 1 : -1])[1])] * 4
        return [ZERO] * 4
