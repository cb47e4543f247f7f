"""Random structured programs: as source text, and as what one pixel does on its own.

A program adds numbers to r1.r. Groups, masks and stacks do not occur here: that the two agree proves that the
assembler's statements mean, on the machine, what they say for every single pixel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

INT_CONSTANTS = ((0, 5, 1), (1, 2, 0), (2, 0, 3), (3, 4, 2))
"""Count, first aL and step of i0 to i3."""
BOOL_CONSTANTS = (False, True)
TABLE = 16
"""c16 and on hold what a loop index reads."""


@dataclass(frozen=True)
class Condition:
    """`kind` alu and p compare r1.r with a constant, b is a boolean constant; `number` is the constant's."""

    kind: str
    negated: bool
    number: int


@dataclass(frozen=True)
class Add:
    amount: int


@dataclass(frozen=True)
class AddIndexed:
    """Adds constant TABLE + aL."""


@dataclass(frozen=True)
class If:
    condition: Condition
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] | None


@dataclass(frozen=True)
class Loop:
    """LOOP or REP with an int constant."""

    keyword: str
    constant: int
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Leave:
    """BREAK or CONTINUE."""

    keyword: str
    condition: Condition | None


@dataclass(frozen=True)
class Call:
    subroutine: int


Statement = Add | AddIndexed | If | Loop | Leave | Call

CONDITIONS = st.builds(Condition, st.sampled_from(["alu", "p", "b"]), st.booleans(), st.integers(0, 1))


def blocks(depth: int, loops: int, calls: int, most_loops: int) -> st.SearchStrategy[tuple[Statement, ...]]:
    """Blocks of at most `depth` levels inside `loops` of `most_loops` loops; they may call `calls` subroutines."""
    add = st.builds(Add, st.integers(1, 3))
    simple: list[st.SearchStrategy[Statement]] = [add, st.just(AddIndexed())]
    if loops:
        simple.append(st.builds(Leave, st.sampled_from(["BREAK", "CONTINUE"]), st.none() | CONDITIONS))
    if calls:
        simple.append(st.builds(Call, st.integers(0, calls - 1)))
    if not depth:
        return st.lists(st.one_of(simple), max_size=2).map(tuple)
    inner = blocks(depth - 1, loops, calls, most_loops)
    choices = [st.one_of(simple), st.builds(If, CONDITIONS, inner, st.none() | inner)]
    if loops < most_loops:
        body = blocks(depth - 1, loops + 1, calls, most_loops)
        choices.append(st.builds(Loop, st.sampled_from(["LOOP", "REP"]), st.integers(0, 3), body))
    return st.lists(st.one_of(choices), min_size=1, max_size=3).map(tuple)


PROGRAMS = st.tuples(blocks(2, 0, 0, 0), blocks(2, 0, 1, 0), blocks(5, 0, 2, 3))
"""Two subroutines without loops, of which the second may call the first, and the main program."""


@dataclass
class Text:
    """The source of a program."""

    lines: list[str] = field(default_factory=list)

    def program(self, program: Sequence[tuple[Statement, ...]]) -> str:
        *subroutines, main = program
        for number, body in enumerate(subroutines):
            self.lines.append(f"sub{number}:")
            self.block(body)
            self.lines.append("RET")
        self.lines += [".start main", ".end done", "main: ALU r1.r = ADD(r0.r, r0.g)"]
        self.block(main)
        self.lines.append("done: OUT o0 = MOV(r1)")
        return "\n".join(self.lines)

    def block(self, block: Sequence[Statement]) -> None:
        for statement in block:
            if isinstance(statement, Add):
                self.lines.append(f"ALU r1.r = ADD(r1, {statement.amount}.0.rgb)")
            elif isinstance(statement, AddIndexed):
                self.lines.append(f"ALU r1.r = ADD(r1, c{TABLE}[aL])")
            elif isinstance(statement, If):
                self.lines.append(f"IF {self.condition(statement.condition)}")
                self.block(statement.then)
                if statement.otherwise is not None:
                    self.lines.append("ELSE")
                    self.block(statement.otherwise)
                self.lines.append("ENDIF")
            elif isinstance(statement, Loop):
                self.lines.append(f"{statement.keyword} i{statement.constant}")
                self.block(statement.body)
                self.lines.append(f"END{statement.keyword}")
            elif isinstance(statement, Leave):
                when = f" IF {self.condition(statement.condition)}" if statement.condition else ""
                self.lines.append(statement.keyword + when)
            else:
                self.lines.append(f"CALL sub{statement.subroutine}")

    def condition(self, condition: Condition) -> str:
        """Computes the condition first: r1.r less than 3 or 6."""
        sign = "!" if condition.negated else ""
        if condition.kind == "b":
            return f"{sign}b{condition.number}"
        compared = f"[<0] = ADD(r1, -{(3, 6)[condition.number]}.0.rgb)"
        if condition.kind == "alu":
            self.lines.append(f"ALU alu_result.r{compared}")
            return f"{sign}alu_result"
        self.lines.append(f"ALU p.g{compared.replace('r1', 'r1.r')}")
        return f"{sign}p.g"


class Left(Exception):  # noqa: N818
    """A BREAK or CONTINUE inside of conditions of the loop."""


@dataclass
class Pixel:
    """One pixel that executes statements as they are meant."""

    program: Sequence[tuple[Statement, ...]]
    table: Sequence[int]
    value: int = 0
    index: int = 0

    def run(self, i: int, j: int) -> int:
        self.value, self.index = i + j, 0
        self.block(self.program[-1])
        return self.value

    def block(self, block: Sequence[Statement]) -> None:
        for statement in block:
            if isinstance(statement, Add):
                self.value += statement.amount
            elif isinstance(statement, AddIndexed):
                self.value += self.table[self.index]
            elif isinstance(statement, If):
                self.block(statement.then if self.holds(statement.condition) else statement.otherwise or ())
            elif isinstance(statement, Loop):
                self.loop(statement)
            elif isinstance(statement, Leave):
                if statement.condition is None or self.holds(statement.condition):
                    raise Left(statement.keyword)
            else:
                self.block(self.program[statement.subroutine])

    def loop(self, loop: Loop) -> None:
        count, first, step = INT_CONSTANTS[loop.constant]
        before = self.index
        for iteration in range(count):
            if loop.keyword == "LOOP":
                self.index = first + iteration * step
            inside = self.index
            try:
                self.block(loop.body)
            except Left as left:
                if left.args == ("BREAK",):
                    break
            self.index = inside
        self.index = before

    def holds(self, condition: Condition) -> bool:
        if condition.kind == "b":
            value = BOOL_CONSTANTS[condition.number]
        else:
            value = self.value < (3, 6)[condition.number]
        return value != condition.negated
