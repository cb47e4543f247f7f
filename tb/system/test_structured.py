"""Structured programs, drawn at random: what the machine does with them is what each processor would do alone.

The same statements are written as source, assembled and run over a domain in groups, and interpreted for one processor
at a time in plain Python.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtl.config import DEFAULT, ArrayConfig
from rtl.isa.formats import DataFormat
from sim.assembler import assemble
from sim.elf import write
from sim.jobs.constants import ConstantFiles
from sim.runtime import CommandBuffer, Device, Layout

WIDTH, HEIGHT = 7, 5
NUMBERS = (1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0)
LOOPS = ((0, 0, 1), (1, 2, 1), (3, 0, 1), (4, 3, -1))
"""Count, first aL and step of int constants 0 to 3."""
TESTS = {"<": lambda x: x < 0, ">=": lambda x: x >= 0, "==": lambda x: x == 0, "!=": lambda x: x != 0}
VALUES = {"r0.r": "i", "r0.g": "j", "r1.r": "sum"}


class BreakSignal(Exception):  # noqa: N818 - it is none
    """Leaves the innermost loop."""


class ContinueSignal(Exception):  # noqa: N818 - it is none
    """Goes on with the next turn of the innermost loop."""


@dataclass
class Processor:
    """What one processor knows."""

    i: int
    j: int
    sum: float = 0.0
    loop_index: int = 0


@dataclass(frozen=True)
class Add:
    constant: int
    relative: bool

    def source(self) -> list[str]:
        index = "[aL]" if self.relative else ""
        return [f"ALU r1.r = ADD(r1.r, c{self.constant}{index}.r)"]

    def run(self, processor: Processor) -> None:
        processor.sum += NUMBERS[self.constant + self.relative * processor.loop_index]


@dataclass(frozen=True)
class Leave:
    keyword: str

    def source(self) -> list[str]:
        return [self.keyword]

    def run(self, processor: Processor) -> None:
        raise BreakSignal if self.keyword == "BREAK" else ContinueSignal


@dataclass(frozen=True)
class If:
    value: str
    constant: int
    test: str
    predicate: bool
    negated: bool
    body: tuple
    other: tuple

    def source(self) -> list[str]:
        written, condition = ("p.g", "p.g") if self.predicate else ("alu_result.r", "alu_result")
        compare = f"ALU {written}[{self.test}0] = ADD({self.value}, -c{self.constant}.r)"
        lines = [compare, f"IF {'!' * self.negated}{condition}"]
        lines += [line for statement in self.body for line in statement.source()]
        if self.other:
            lines += ["ELSE", *(line for statement in self.other for line in statement.source())]
        return [*lines, "ENDIF"]

    def run(self, processor: Processor) -> None:
        difference = getattr(processor, VALUES[self.value]) - NUMBERS[self.constant]
        for statement in self.body if TESTS[self.test](difference) != self.negated else self.other:
            statement.run(processor)


@dataclass(frozen=True)
class Loop:
    keyword: str
    constant: int
    body: tuple

    def source(self) -> list[str]:
        lines = [line for statement in self.body for line in statement.source()]
        return [f"{self.keyword} i{self.constant}", *lines, f"END{self.keyword}"]

    def run(self, processor: Processor) -> None:
        count, start, step = LOOPS[self.constant]
        outer = processor.loop_index
        for turn in range(count):
            if self.keyword == "LOOP":
                processor.loop_index = start + turn * step
            try:
                for statement in self.body:
                    statement.run(processor)
            except ContinueSignal:
                continue
            except BreakSignal:
                break
        processor.loop_index = outer


@dataclass(frozen=True)
class Call:
    routine: int
    body: tuple

    def source(self) -> list[str]:
        return [f"CALL routine{self.routine}"]

    def run(self, processor: Processor) -> None:
        for statement in self.body:
            statement.run(processor)


def conditions(body: st.SearchStrategy, other: st.SearchStrategy) -> st.SearchStrategy:
    """IF statements with bodies drawn from two strategies."""
    return st.builds(
        If, st.sampled_from(sorted(VALUES)), st.integers(0, 7), st.sampled_from(sorted(TESTS)), st.booleans(),
        st.booleans(), body, other,
    )  # fmt: skip


def block(depth: int, loops: int, in_loop: bool, routines: tuple = ()) -> st.SearchStrategy:
    """Statements, at most `depth` levels of branches and `loops` of loops deep."""
    # aL reaches 4, so relative sums stay in the first eight constants.
    kinds = [st.builds(Add, st.integers(0, 3), st.booleans())]
    if routines:
        kinds.append(st.sampled_from([Call(number, body) for number, body in enumerate(routines)]))
    if in_loop:
        kinds.append(st.sampled_from([Leave("BREAK"), Leave("CONTINUE")]))
    if depth:
        inner = st.deferred(lambda: block(depth - 1, loops, in_loop, routines))
        kinds.append(conditions(inner, st.one_of(st.just(()), inner)))
    if loops:
        turn = st.deferred(lambda: block(depth, loops - 1, True, routines))
        kinds.append(st.builds(Loop, st.sampled_from(["LOOP", "REP"]), st.integers(0, 3), turn))
    return st.lists(st.one_of(kinds), max_size=4).map(tuple)


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[str], tuple]:
    """Source lines and statements of a program with two subroutines."""
    routines = (draw(block(1, 1, False)), draw(block(2, 0, False)))
    main = draw(block(3, 3, False, routines))
    lines = [line for statement in main for line in statement.source()]
    tail: list[str] = []
    for number, body in enumerate(routines):
        tail += [f"routine{number}:", *(line for statement in body for line in statement.source()), "RET"]
    # Subroutines come first in memory, behind a jump over them.
    return ["FC JUMP -> main jump_func=always", *tail, "main:", *lines, "OUT o0 = MOV(r1)"], main


def run(source: str, lanes: int) -> np.ndarray:
    """r1.r of every processor."""
    device = Device(config=replace(DEFAULT, array=ArrayConfig(lanes=lanes)), watchdog=100_000, hazards=True)
    layout = Layout(width=WIDTH, height=HEIGHT, format=DataFormat.FLOAT32_4)
    image = device.image(layout)
    words = {n: (int(np.float32(x).view(np.uint32)),) * 4 for n, x in enumerate(NUMBERS)}
    ints = {n: count | start << 8 | (step & 0xFF) << 16 for n, (count, start, step) in enumerate(LOOPS)}
    floats, integers, _ = (device.place(data) for data in ConstantFiles(floats=words, ints=ints).images())
    commands = CommandBuffer().set_inst_fmt(device.place(write(assemble(source))))
    commands.set_constf_fmt(floats).set_consti_fmt(integers)
    commands.set_out_fmt(0, image.base, layout.format_word, HEIGHT)
    device.run(commands.set_domain(0, 0, WIDTH - 1, HEIGHT - 1).start_program())
    return image.read()[..., 0]


@pytest.mark.parametrize("lanes", [4, 16])
@given(program=programs())
def test_a_group_does_what_each_of_its_processors_would_do_alone(lanes: int, program: tuple[list[str], tuple]) -> None:
    lines, statements = program
    expected = np.zeros((HEIGHT, WIDTH), np.float32)
    for j in range(HEIGHT):
        for i in range(WIDTH):
            processor = Processor(i, j)
            for statement in statements:
                statement.run(processor)
            expected[j, i] = processor.sum
    np.testing.assert_array_equal(run("\n".join(lines) + "\n", lanes), expected)
