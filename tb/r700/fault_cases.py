"""What breaks exactly one rule, and its legal neighbour: both run in the pixels of the lower half of a domain only.

The wavefronts of the upper half jump over it: what is skipped is not decoded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ctm.tb.r700.assembly import Assembly, Label
from ctm.tb.r700.machine import Job, Run, run
from ctm.tb.r700.words import Unit, group, slot

Body = Callable[[Assembly], int]
"""Writes words; the address of the CF instruction in question."""
MARK = 0x1234_5678
"""What R1.x and R2 hold before the case."""
_TOP = 2
"""Clauses of the program before the body."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """`bad` faults with `status` at its CF instruction, at unit `at` of its clause if that is given; `good` does not.

    `clause` is the number of that clause among those of the body. `note` are fields of the program information.
    """

    name: str
    bad: Body
    good: Body
    at: int | None = None
    status: str = "ILLEGAL_INSTRUCTION"
    note: dict[str, Any] = field(default_factory=dict)
    clause: int = 0

    def __str__(self) -> str:
        return self.name


class Watch:
    """An observer: keeps of wavefronts that fault R1.x and R2.x, whether they exported, and whether all are valid."""

    def __init__(self) -> None:
        self.seen: list[tuple[np.ndarray, bool, bool]] = []

    def executed(self, pc: int, batches: Any) -> None:
        """Nothing to see."""

    def ended(self, batch: Any) -> None:
        """Nothing to see."""

    def faulted(self, batch: Any, status: Any, client: Any) -> None:
        """Keep what the batch has at its fault."""
        words = batch.temporaries[1:3, 0].view(np.uint32).copy()
        self.seen.append((words, bool(batch.written.any()), bool(batch.valid_mask.all())))


def program(body: Body, note: dict[str, Any]) -> tuple[Any, int, Assembly]:
    """The program, the address of the word in question, and the assembly."""
    a = Assembly()
    after = Label()
    a.alu(group(slot("MOV", "R1.x", f"#{MARK:x}")), group(slot("MOV", "R2.x", f"#{MARK:x}")))
    a.alu(group(slot("PRED_SETGE", "_.x", "R0.y", "#40000000", updates_mask=True)), name="ALU_PUSH_BEFORE")
    a.flow("JUMP", to=after, pop=1)
    word = body(a)
    a.flow("POP", pop=1)
    a.bind(after)
    a.end()
    return a.executable(**note), word, a


def attempt(body: Body, note: dict[str, Any], wavefront: int, observers: Any = ()) -> tuple[Run, int, Assembly]:
    """Run it on a domain that begins at (4, 0), so that the first wavefront that executes it is at (4, 2)."""
    executable, word, a = program(body, note)
    floats = {0: (MARK,) * 4}
    job = Job(program=executable, domain=(4, 0, 9, 3), wavefront=wavefront, observers=observers, floats=floats)
    return run(job), word, a


def check(case: Case, wavefront: int) -> None:
    """The case faults where it must and has done nothing; its neighbour ends."""
    watch = Watch()
    found, word, a = attempt(case.bad, case.note, wavefront, (watch,))
    address = 0 if case.at is None else a.start_of(_TOP + case.clause) + case.at
    assert found.fault == (case.status, word, address, 4, 2), found.error
    assert watch.seen
    for words, written, valid in watch.seen:
        assert (words == MARK).all() and not written and valid
    neighbour, _, _ = attempt(case.good, case.note, wavefront)
    assert neighbour.error is None, f"the legal neighbour: {neighbour.error}"


def by_name(cases: Sequence[Case], name: str) -> Case:
    """The first case of a name."""
    return next(case for case in cases if case.name == name)


def clause(*groups: list[Unit], **fields: Any) -> Body:
    """An ALU clause."""
    return lambda a: a.alu(*groups, **fields)


def fetches(*instructions: list[Unit], **fields: Any) -> Body:
    """A TEX clause, or one by another name."""
    return lambda a: a.fetch(*instructions, **fields)


def flow(name: str, to: int = 0, **fields: Any) -> Body:
    """A CF instruction."""
    return lambda a: a.flow(name, to=to, **fields)


def raw(unit: Unit) -> Body:
    """A word as it is."""
    return lambda a: a.raw(unit)


def nothing(a: Assembly) -> int:
    """No word."""
    return a.here


def flipped(unit: Unit, word: int, bit: int) -> Unit:
    """A unit with bit `bit` of its word `word`, 0 or 1, changed."""
    changed = list(unit)
    changed[word] ^= 1 << bit
    return changed[0], changed[1]


def instruction_flipped(units: list[Unit], word: int, bit: int) -> list[Unit]:
    """A fetch instruction with bit `bit` of its word `word`, 0 to 3, changed."""
    changed = list(units)
    changed[word // 2] = flipped(changed[word // 2], word % 2, bit)
    return changed
