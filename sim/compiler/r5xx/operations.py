"""Machine operations on virtual registers: variables instead of channels of registers."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ctm.sim.elf.lines import Line

PIXEL = ("%-i", "%-j")
"""The pixel, which r0 holds at the start."""


DOTS = ("DP3", "DP4")
"""Sums of products, of up to as many pairs."""
APART = ("LOOKUP", "KILL", "w", *DOTS)
"""Operations that have instructions of their own."""
ALU_RESULT = "alu_result"
ALPHA_ONLY = ("EX2", "LN2", "RCP", "RSQ", "SIN", "COS")
"""Those of the alpha unit."""


class Constant(NamedTuple):
    """A channel of a float constant."""

    number: int
    channel: int


@dataclass(frozen=True)
class Operand:
    """A variable by its name, a number, or a channel of a constant; with its modifiers."""

    value: str | float | Constant
    negative: bool = False
    absolute: bool = False

    def __neg__(self) -> "Operand":
        if isinstance(self.value, float):
            return Operand(-self.value)
        return Operand(self.value, not self.negative, self.absolute)

    def __abs__(self) -> "Operand":
        if isinstance(self.value, float):
            return Operand(abs(self.value))
        return Operand(self.value, False, True)

    @property
    def variable(self) -> str | None:
        """Its variable."""
        return self.value if isinstance(self.value, str) else None


@dataclass
class Operation:
    """One instruction. `line` is that of the source.

    name
        That of an operation of the ALU, LOOKUP, OUT, KILL, or `w` for the conditional value.
    results
        Variables; those of a fetch are the element's channels, "" where one is not wanted.
    test
        What the result is compared with, for the condition that follows: `<0`, `>=0`, `==0`, `!=0`.
    flag
        Where the result is: the ALU result, or a predicate.
    number
        Of an input or an output.
    """

    name: str
    results: tuple[str, ...]
    operands: tuple[Operand, ...]
    line: Line | None = None
    test: str = ""
    flag: str = ALU_RESULT
    number: int = 0
    is_scaled: bool = False

    @property
    def written(self) -> Iterator[str]:
        """The variables that it writes."""
        return (result for result in self.results if result)

    @property
    def read(self) -> Iterator[str]:
        """The variables that it reads."""
        return (operand.variable for operand in self.operands if operand.variable)

    @property
    def together(self) -> Iterator[list[str]]:
        """Variables that it needs in one register."""
        if self.name == "LOOKUP":
            yield list(self.written)
            yield list(self.read)
        elif self.name in DOTS:
            half = len(self.operands) // 2
            for side in (self.operands[:half], self.operands[half:]):
                yield [operand.variable for operand in side if operand.variable]

    @property
    def copied(self) -> tuple[str, str] | None:
        """Target and source, if it copies a variable as it is."""
        if self.name != "MOV" or not self.results or self.operands[0].negative or self.operands[0].absolute:
            return None
        source = self.operands[0].variable
        return (self.results[0], source) if source else None


@dataclass
class Choice:
    """Two arms, by the test before it. `line` is that of the source."""

    is_inverted: bool
    then: "Steps" = field(default_factory=list)
    otherwise: "Steps" = field(default_factory=list)
    flag: str = ALU_RESULT
    line: Line | None = None

    @property
    def condition(self) -> str:
        """When the first arm is taken."""
        return f"!{self.flag}" if self.is_inverted else self.flag


@dataclass
class Repeat:
    """A body that is repeated until it is left, or so many `rounds`.

    `until` is the condition after which one that is two of the machine's was left, "" of one that is not. `line` is
    that of its head in the source.
    """

    body: "Steps" = field(default_factory=list)
    rounds: int = 0
    until: str = ""
    line: Line | None = None


@dataclass
class Leave:
    """Leaves the innermost repetition."""


Step = Operation | Choice | Repeat | Leave
Steps = list[Step]


def operations(steps: Steps) -> Iterator[Operation]:
    """All operations, in the order of the text."""
    for step in steps:
        if isinstance(step, Operation):
            yield step
        elif isinstance(step, Choice):
            yield from operations(step.then)
            yield from operations(step.otherwise)
        elif isinstance(step, Repeat):
            yield from operations(step.body)


def without_idle(steps: Steps) -> Steps:
    """Dead-code elimination: the steps without operations and channels of fetches whose results are not read."""
    count = -1
    while count != sum(1 for _ in operations(steps)):
        count = sum(1 for _ in operations(steps))
        read = {name for each in operations(steps) for name in each.read}
        steps = _read_only(steps, read)
    return steps


def _read_only(steps: Steps, read: set[str]) -> Steps:
    found: Steps = []
    for step in steps:
        if isinstance(step, Choice):
            arms = _read_only(step.then, read), _read_only(step.otherwise, read)
            found.append(replace(step, then=arms[0], otherwise=arms[1]))
        elif isinstance(step, Repeat):
            found.append(replace(step, body=_read_only(step.body, read)))
        elif isinstance(step, Leave) or not step.results:
            found.append(step)
        else:
            results = tuple(name if name in read else "" for name in step.results)
            if any(results):
                found.append(replace(step, results=results))
    return found
