"""Nests of branches, loops and calls run with the STACK_SIZE of the formula, and fault with one entry less."""

import numpy as np
import pytest

from ctm.tb.r700.assembly import Assembly, Label
from ctm.tb.r700.machine import Job, run
from ctm.tb.r700.words import group, slot

_BRANCHES = ("ALU_PUSH_BEFORE", "PUSH", "PUSH_ELSE", "POP_PUSH", "POP_PUSH_ELSE")
_LOOPS = ("LOOP_START_DX10", "LOOP_START_NO_AL", "LOOP_START")
_KINDS = (*_BRANCHES, *_LOOPS, "CALL")
_ROUNDS = {0: (3, 0, 0)}


def cost(kinds: list[str]) -> int:
    """Subentries of a nest: one of a branch or call, four of a loop, two more if there is a branch; ISA, 3.6."""
    branches, loops = sum(kind in _BRANCHES for kind in kinds), sum(kind in _LOOPS for kind in kinds)
    return branches + 4 * loops + kinds.count("CALL") + (2 if branches else 0)


class Nest:
    """A program that goes into a nest and out again; `pushes` has the address of each word that pushes."""

    def __init__(self, kinds: list[str]) -> None:
        self.assembly = Assembly()
        self.pushes: list[int] = []
        self._later: list[tuple[Label, list[str]]] = []
        self._enter(kinds)
        self.assembly.output(0)
        while self._later:
            label, remaining = self._later.pop()
            self.assembly.bind(label)
            self._enter(remaining)
            self.assembly.flow("RETURN")

    def _enter(self, kinds: list[str]) -> None:
        if not kinds:
            return
        kind, remaining = kinds[0], kinds[1:]
        a = self.assembly
        if kind == "CALL":
            label = Label()
            self._later.append((label, remaining))
            self.pushes.append(a.flow("CALL", to=label))
            return
        if kind in _LOOPS:
            end = Label()
            self.pushes.append(a.flow(kind, to=8000))
            start = a.here
            self._enter(remaining)
            a.flow("LOOP_BREAK", to=end)
            a.bind(end)
            a.flow("LOOP_END", to=start)
            return
        if kind == "ALU_PUSH_BEFORE":
            self.pushes.append(a.alu(group(slot("NOP", "_.x")), name=kind))
        else:
            # The boolean constant is 0.
            self.pushes.append(a.flow(kind, to=8000, cond="BOOL" if "ELSE" in kind else "NOT_BOOL"))
        self._enter(remaining)
        a.flow("POP", pop=1)


@pytest.mark.parametrize("seed", range(60))
def test_the_stack_needs_what_the_formula_says(seed: int) -> None:
    generator = np.random.default_rng(seed)
    kinds = [str(kind) for kind in generator.choice(_KINDS, int(generator.integers(1, 24)))]
    costs = [cost(kinds[: depth + 1]) for depth in range(len(kinds))]
    entries = -(-max(costs) // 4)
    assert entries <= 64
    nest = Nest(kinds)
    wavefront = int(generator.choice([4, 16, 64]))
    enough = run(Job(program=nest.assembly.executable(stack_size=entries), ints=_ROUNDS, wavefront=wavefront))
    assert enough.error is None
    assert np.array_equal(enough.outputs[0, :, :, 0].view(np.float32), np.tile(np.arange(4, dtype=np.float32), (4, 1)))
    short = run(Job(program=nest.assembly.executable(stack_size=entries - 1), ints=_ROUNDS, wavefront=wavefront))
    first = next(number for number, needed in enumerate(costs) if needed > 4 * (entries - 1))
    assert short.fault == ("STACK", nest.pushes[first], 0, 0, 0)


@pytest.mark.parametrize(
    ("kinds", "entries"),
    [
        (["PUSH"], 1),
        (["PUSH"] * 2, 1),
        (["PUSH"] * 3, 2),
        (["LOOP_START_DX10"], 1),
        (["LOOP_START_DX10", "PUSH"], 2),
        (["PUSH", "LOOP_START_DX10", "PUSH"], 2),
        (["PUSH", "LOOP_START", "PUSH", "PUSH"], 3),
        (["CALL"] * 4, 1),
        (["CALL"] * 5, 2),
        (["CALL", "PUSH"], 1),
        (["CALL", "CALL", "PUSH"], 2),
        (["ALU_PUSH_BEFORE"] * 132, 34),
        (["LOOP_START_NO_AL"] * 64, 64),
    ],
)
def test_worked_out_nests(kinds: list[str], entries: int) -> None:
    nest = Nest(kinds)
    assert run(Job(program=nest.assembly.executable(stack_size=entries), ints=_ROUNDS)).error is None
    short = run(Job(program=nest.assembly.executable(stack_size=entries - 1), ints=_ROUNDS))
    assert short.error is not None and short.error.status.name == "STACK"


def test_space_of_popped_entries_is_free_again() -> None:
    a = Assembly()
    for _ in range(9):
        a.flow("PUSH", to=8000)
        a.flow("PUSH", to=8000)
        a.flow("POP", pop=2)
        loop = a.flow("LOOP_START_DX10", to=8000)
        a.flow("LOOP_BREAK", to=loop + 2)
        a.flow("LOOP_END", to=loop + 1)
    a.output(0)
    assert run(Job(program=a.executable(stack_size=1))).error is None


def test_the_two_subentries_stay_while_there_is_any_branch() -> None:
    """A branch below a loop, which leaves first, and then one above it."""
    a = Assembly()
    a.flow("PUSH", to=8000)
    loop = a.flow("LOOP_START_DX10", to=8000)
    a.flow("PUSH", to=8000)
    a.flow("LOOP_BREAK", to=loop + 3)
    a.flow("LOOP_END", to=loop + 1)
    a.flow("POP", pop=1)
    a.output(0)
    assert run(Job(program=a.executable(stack_size=2))).error is None
    assert run(Job(program=a.executable(stack_size=1))).fault == ("STACK", 1, 0, 0, 0)
