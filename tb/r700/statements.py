"""Programs as trees of statements, and what ONE pixel makes of a tree.

The interpreter knows neither masks nor a stack nor the words that a tree becomes: it runs a pixel through the
statements. Whatever stops a pixel for a while is an exception that the scope in which it ends catches.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

WORDS = 1 << 32
REGISTERS = 4
"""Words that a pixel computes with."""
ROWS = 256
AL_VALUES = 512
CALL_DEPTH = 32


class Statement:
    """What a pixel can do."""


@dataclass(eq=False)
class Assign(Statement):
    """Register `target` becomes register `a` OP (register `b`, or a number)."""

    operation: str
    target: int
    a: int
    b: int
    number: int | None = None


@dataclass(eq=False)
class AddConstant(Statement):
    """Add the x of the constant in `row` plus aL to a register."""

    target: int
    row: int


@dataclass(eq=False)
class Fetch(Statement):
    """Register `target` becomes the constants' word that the lowest 6 bits of `a` name; valid pixels only if asked."""

    target: int
    a: int
    valid_only: bool


@dataclass(frozen=True)
class Test:
    """Bit `bit` of register `a`, or its inverse."""

    a: int
    bit: int
    inverse: bool = False


@dataclass(frozen=True)
class Fixed:
    """A condition that is the same for all pixels: COND and its boolean constant."""

    cond: str
    const: int = 0


@dataclass(eq=False)
class If(Statement):
    """`shape` is how it begins; the pixels of the second branch are chosen by `iterations` if it is given."""

    test: Test
    first: list[Statement]
    second: list[Statement] | None
    shape: str
    iterations: Fixed | None = None


@dataclass(eq=False)
class FixedIf(Statement):
    """An if of a fixed condition: over a jump (which is no scope), or in a scope by PUSH or PUSH_ELSE."""

    condition: Fixed
    first: list[Statement]
    second: list[Statement] | None
    shape: str
    valid_only: bool = False


@dataclass(eq=False)
class Loop(Statement):
    """`kind` is AL, NO_AL (`rounds` by int constant `const`), or DX10 (`rounds` by a counter of each pixel)."""

    kind: str
    body: list[Statement]
    const: int = 0
    rounds: int = 0
    number: int = 0


@dataclass(eq=False)
class Leave(Statement):
    """Break or continue, under a test, a fixed condition, or always."""

    is_break: bool
    condition: Test | Fixed | None
    shape: str


@dataclass(eq=False)
class Cut(Statement):
    """Disable the pixels until the scope ends, except where the condition holds."""

    condition: Test | Fixed


@dataclass(eq=False)
class Kill(Statement):
    """Lose the valid bit: by an instruction under a test, or by a CF instruction."""

    test: Test | None


@dataclass(eq=False)
class Subroutine:
    """Statements that a Call runs; `leave` ends them early if it holds."""

    body: list[Statement]
    after_return: list[Statement] = field(default_factory=list)
    leave: Fixed | None = None


@dataclass(eq=False)
class Call(Statement):
    """A call that counts `count`."""

    subroutine: Subroutine
    condition: Fixed
    count: int


@dataclass(eq=False)
class Export(Statement):
    """Write the registers to a target, `selects` as in an export word."""

    target: int
    selects: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Constants of a run."""

    floats: dict[int, tuple[int, int, int, int]]
    ints: dict[int, tuple[int, int, int]]
    bools: dict[int, bool]


class _BreakError(Exception):
    pass


class _ContinueError(Exception):
    pass


class _CutError(Exception):
    pass


_ARITHMETIC = {
    "ADD_INT": lambda a, b: (a + b) % WORDS,
    "SUB_INT": lambda a, b: (a - b) % WORDS,
    "XOR_INT": lambda a, b: a ^ b,
    "MULLO_INT": lambda a, b: a * b % WORDS,
    "LSHR_INT": lambda a, b: a >> b if b < 32 else 0,
}
OPERATIONS = tuple(_ARITHMETIC)


class Pixel:
    """A pixel: its registers, what it exported, whether it is valid, and whether it is disabled at the end."""

    def __init__(self, environment: Environment, i: int, j: int) -> None:
        mixed = (i * 0x9E3779B1 + j * 0x85EBCA6B) % WORDS
        self.registers = [i, j, mixed, mixed >> 16]
        self.outputs: dict[tuple[int, int], int] = {}
        self.valid = True
        self._environment = environment
        self._index = 0
        self._depth = 0

    def run(self, program: Sequence[Statement]) -> None:
        """Run a whole program; if it is not cut to the end, export to target 0."""
        try:
            self._block([*program, Export(0, (0, 1, 2, 3))])
        except _CutError:
            pass

    def _block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            getattr(self, f"_{type(statement).__name__.lower()}")(statement)

    def _holds(self, condition: Test | Fixed | None) -> bool:
        if condition is None:
            return True
        if isinstance(condition, Test):
            return bool(self.registers[condition.a] >> condition.bit & 1) is not condition.inverse
        if condition.cond in ("ACTIVE", "FALSE"):
            return condition.cond == "ACTIVE"
        return self._environment.bools.get(condition.const, False) is (condition.cond == "BOOL")

    def _assign(self, statement: Assign) -> None:
        b = self.registers[statement.b] if statement.number is None else statement.number
        self.registers[statement.target] = _ARITHMETIC[statement.operation](self.registers[statement.a], b)

    def _addconstant(self, statement: AddConstant) -> None:
        row = statement.row + self._index
        word = self._environment.floats.get(row, (0, 0, 0, 0))[0] if row < ROWS else 0
        self.registers[statement.target] = (self.registers[statement.target] + word) % WORDS

    def _fetch(self, statement: Fetch) -> None:
        if self.valid or not statement.valid_only:
            row, channel = divmod(4 * (self.registers[statement.a] % 64) + statement.target, 4)
            self.registers[statement.target] = self._environment.floats.get(row, (0, 0, 0, 0))[channel]

    def _if(self, statement: If) -> None:
        inside = self._holds(statement.test)
        inside = inside and self._scope(statement.first)
        if statement.second is not None:
            if self._holds(statement.iterations):
                inside = not inside
            if inside:
                self._scope(statement.second)

    def _scope(self, statements: Sequence[Statement]) -> bool:
        """Whether the pixel reached the end."""
        try:
            self._block(statements)
        except _CutError:
            return False
        return True

    def _fixedif(self, statement: FixedIf) -> None:
        holds = self._holds(statement.condition)
        if statement.shape == "jump":
            self._block(statement.first if holds else statement.second or [])
            return
        inside = holds and self._scope(statement.first)
        if statement.second is not None and not inside:
            self._scope(statement.second)

    def _loop(self, statement: Loop) -> None:
        rounds, before, step = statement.rounds, self._index, 0
        if statement.kind != "DX10":
            rounds, start, step = self._environment.ints[statement.const]
            if rounds and statement.kind == "AL":
                self._index = start
            step = step if statement.kind == "AL" else 0
        try:
            for _ in range(rounds):
                try:
                    self._block(statement.body)
                except (_ContinueError, _CutError):
                    pass
                self._index = (self._index + step) % AL_VALUES
        except _BreakError:
            pass
        self._index = before

    def _leave(self, statement: Leave) -> None:
        if self._holds(statement.condition):
            raise (_BreakError if statement.is_break else _ContinueError)

    def _cut(self, statement: Cut) -> None:
        if not self._holds(statement.condition):
            raise _CutError

    def _kill(self, statement: Kill) -> None:
        if self._holds(statement.test):
            self.valid = False

    def _call(self, statement: Call) -> None:
        if not self._holds(statement.condition) or self._depth + statement.count > CALL_DEPTH:
            return
        self._depth += statement.count
        subroutine = statement.subroutine
        try:
            self._block(subroutine.body)
            if subroutine.leave is None or not self._holds(subroutine.leave):
                self._block(subroutine.after_return)
        finally:
            self._depth -= statement.count

    def _export(self, statement: Export) -> None:
        for channel, select in enumerate(statement.selects):
            if select < REGISTERS:
                self.outputs[statement.target, channel] = self.registers[select]
            elif select != 7:
                self.outputs[statement.target, channel] = 0x3F80_0000 if select == 5 else 0
