"""Loops that count from a number to a number: how many rounds they have."""

import math
import re
import struct
from collections.abc import Callable, Iterator
from operator import eq, ge, gt, le, lt, ne
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctm.sim.compiler.ir.flow import Flow
from ctm.sim.compiler.ir.module import Instruction, split

_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {"lt": lt, "le": le, "gt": gt, "ge": ge, "eq": eq, "ne": ne}
_MOST_KNOWN = 1 << 24
"""More rounds are not counted: no counter of floats with steps of one has more."""
_BLOCK = 1 << 10
"""Rounds that are counted at once to begin with."""


class Test(NamedTuple):
    """A test of a counter that every round has: rounds before it ends the loop; whether it is all that comes first."""

    rounds: int
    is_first: bool


def tests(flow: Flow, head: str, blocks: set[str]) -> list[Test]:
    """The tests of a loop's counters whose rounds are known."""
    return list(_tests(flow, head, blocks))


def _tests(flow: Flow, head: str, blocks: set[str]) -> Iterator[Test]:
    latches = [label for label in flow.leading[head] if label in blocks]
    instructions = {each.result: each for label in blocks for each in flow.blocks[label].instructions if each.result}
    ends = [label for label in blocks if len(flow.following[label]) == 2
            and all(label in flow.dominators[latch] for latch in latches)]  # fmt: skip
    for phi in flow.blocks[head].instructions:
        if phi.opcode != "phi":
            break
        counter = _counter(phi, instructions)
        for label in ends if counter else ():
            assert counter is not None
            rounds = _rounds(flow.blocks[label].instructions[-1], instructions, counter, blocks)
            if rounds is not None:
                others = [each for each in flow.blocks[head].instructions if each.opcode != "phi"]
                yield Test(rounds, label == head and len(others) == 2)


class _Counter(NamedTuple):
    """Names before and after its step, where it begins, and the step."""

    name: str
    next_name: str
    first: float
    step: float


def _counter(phi: Instruction, instructions: dict[str, Instruction]) -> _Counter | None:
    incoming = {_same(value, instructions) for value, _ in phi.incoming}
    numbers = [number for value in incoming if (number := _number(value)) is not None]
    steps = [instructions[name] for name in incoming if name in instructions]
    if len(numbers) != 1 or len(steps) != 1 or len(incoming) != 2 or steps[0].opcode != "fadd":
        return None
    words = split(steps[0].text)
    step = _number(words[1])
    if words[0].split(" ")[-1] != phi.result or not step:
        return None
    return _Counter(phi.result, steps[0].result, numbers[0], step)


def _same(name: str, instructions: dict[str, Instruction]) -> str:
    """The one value that a phi has on all incoming edges; the name itself of anything else."""
    each = instructions.get(name)
    values = {value for value, _ in each.incoming} if each is not None and each.opcode == "phi" else set()
    return values.pop() if len(values) == 1 else name


def _rounds(
    branch: Instruction, instructions: dict[str, Instruction], counter: _Counter, blocks: set[str]
) -> int | None:
    """Rounds that are complete when a branch leaves the loop at the latest."""
    found = re.match(r"br i1 (\S+),", branch.text)
    continues = [target.lstrip("%") in blocks for target in branch.targets]
    if found is None or continues[0] == continues[1]:
        return None
    known = (_until(each, instructions, counter, continues=continues[0])
             for each in _conditions(found[1], instructions, is_joint=continues[0]))  # fmt: skip
    return min((rounds for rounds in known if rounds is not None), default=None)


def _conditions(name: str, instructions: dict[str, Instruction], *, is_joint: bool) -> Iterator[Instruction]:
    """The comparisons each of which ends a loop: those that all must hold to stay, or one of which leads out."""
    each = instructions.get(name)
    if each is None:
        return
    joint = re.fullmatch(r"(and|or) i1 (\S+), (\S+)", each.text)
    chosen = re.fullmatch(r"select i1 (\S+), i1 (\S+), i1 (\S+)", each.text)
    if joint and (joint[1] == "and") == is_joint:
        operands = [joint[2], joint[3]]
    elif chosen and chosen[3 if is_joint else 2] == ("false" if is_joint else "true"):
        operands = [chosen[1], chosen[2 if is_joint else 3]]
    else:
        if each.opcode == "fcmp":
            yield each
        return
    for operand in operands:
        yield from _conditions(operand, instructions, is_joint=is_joint)


def _until(
    comparison: Instruction, instructions: dict[str, Instruction], counter: _Counter, *, continues: bool
) -> int | None:
    """Rounds that are complete when a comparison is no longer what it is in the loop."""
    words = split(comparison.text)
    *_, kind, _, name = words[0].split(" ")
    relation, limit = _RELATIONS.get(kind[-2:]), _number(words[1])
    name = _same(name, instructions) if name != counter.name else name
    if relation is None or limit is None or name not in (counter.name, counter.next_name):
        return None
    counted = 0
    for values in _blocks(counter):
        tested = values[:-1] if name == counter.name else values[1:]
        leaves = np.flatnonzero(relation(tested, np.float32(limit)) != continues)
        if leaves.size:
            return int(leaves[0]) + counted
        counted += tested.size
    # An estimate is enough to say that they are too many.
    estimated = (limit - counter.first) / counter.step
    return math.ceil(estimated) if estimated > counted else None


def _blocks(counter: _Counter) -> Iterator[NDArray[np.float32]]:
    """The counter's values, rounded as a core does, in blocks that begin with the last value of the one before."""
    first, size, total = np.float32(counter.first), _BLOCK, 0
    while total < _MOST_KNOWN:
        steps = np.full(size + 1, counter.step, np.float32)
        steps[0] = first
        values = np.add.accumulate(steps)
        yield values
        first, total, size = values[-1], total + size, min(2 * size, _MOST_KNOWN >> 4)


def _number(text: str) -> float | None:
    if text.startswith("0x"):
        return float(struct.unpack(">d", bytes.fromhex(text[2:]))[0])
    try:
        return float(text)
    except ValueError:
        return None
