"""Programs in fewer groups do what they did: random clauses, and those of compilers that are not LLVM."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from types import ModuleType

import numpy as np
import pytest

from ctm.examples import catalogue
from ctm.rtl.isa.r700.alu import LITERAL, PREVIOUS_SCALAR, PREVIOUS_VECTOR, Op2
from ctm.rtl.isa.r700.limits import FIRST_CLAUSE_TEMPORARY, TRANS_SLOT
from ctm.rtl.isa.r700.operations import OPERATIONS, Operation, Slots
from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.r700.order.program import ordered
from ctm.sim.elf import read_shader
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.elf.r700.operands import instructions
from ctm.sim.elf.r700.words import words
from ctm.tb.compiler.order_faults import FAULTS
from ctm.tb.lib.planting import FaultyLoader, planted
from ctm.tb.lib.some import some
from ctm.tb.r700 import shaders
from ctm.tb.r700.machine import Job, run_golden
from ctm.tb.r700.random_groups import GPRS, Drawing, Drawn, random_words
from ctm.tb.r700.shaders import FILES, Shader, run
from ctm.tb.r700.words import Slot, Source, positions

_ORDER = "ctm.sim.compiler.r700.order"
_SIDE, _CLAUSES, _GROUPS = 3, 3, 12
_SHOWN = 4
_SEEDS, _BATCH, _SEARCHED = 6, 50, 100
_SAVED = 30
"""Groups that random clauses have less, in four programs of some 40 each."""


class _Followed(Drawing):
    """Draws what can be followed: no registers that are chosen by address registers."""

    def _register(self) -> tuple[int, bool]:
        return (self._below(GPRS) if self._chance(0.85) else FIRST_CLAUSE_TEMPORARY + self._below(4)), False

    def _source(self, has_three: bool) -> Source:
        return Source(select=LITERAL, literal=self._literal()) if self._chance(0.1) else super()._source(has_three)

    def _constant(self) -> Source | None:
        found = super()._constant()
        return found and replace(found, relative=False)

    def _of(self, kind: Slots, effects: int) -> Operation:
        if kind is Slots.REDUCTION:
            return OPERATIONS[(Op2.DOT4, Op2.DOT4_IEEE)[self._below(2)]]
        if kind is Slots.ANY and self._chance(0.4):
            return OPERATIONS[(Op2.MOV, Op2.ADD, Op2.MUL_IEEE)[self._below(3)]]
        return super()._of(Slots.ANY if kind is Slots.VECTOR else kind, effects)


def _tamed(groups: list[tuple[Slot, ...]], *, gates: bool) -> list[tuple[Slot, ...]]:
    """Groups that can be moved: none ends a clause, a reduction has one result.

    A predicate gates instructions only where the group does not set it, and the next one does not take its results.
    """
    found: list[tuple[Slot, ...]] = []
    for group, after in zip_longest(groups, groups[1:], fillvalue=()):
        takes = any(source.select in (PREVIOUS_VECTOR, PREVIOUS_SCALAR) for each in after for source in each.sources)
        gated = gates and not takes and not any(each.updates_predicate for each in group)
        slots = [replace(each, predicate=each.predicate if gated else 0, updates_mask=False) for each in group]
        for number, each in enumerate(slots):
            if OPERATIONS[each.operation].is_reduction:
                slots[number] = replace(each, writes=number == 1, predicate=0)
                if slots[number].register % 4:
                    slots[number] = replace(slots[number], omod=slots[0].omod, clamp=slots[0].clamp)
        found.append(tuple(_with_products(slots, found[-1] if found else ())))
    return found


def _with_products(group: list[Slot], before: tuple[Slot, ...]) -> Iterator[Slot]:
    """Sums in vector slots that add a product of the group before, where there is one."""
    found = [
        position for position, each in zip(positions(before), before, strict=True) if each.operation is Op2.MUL_IEEE
    ]
    for position, each in zip(positions(group), group, strict=True):
        # Operands that are the same share one read.
        is_same = len({(one.select, one.channel) for one in each.sources}) == 1
        if each.operation is Op2.ADD and found and position != TRANS_SLOT and not is_same:
            select = PREVIOUS_SCALAR if found[-1] == TRANS_SLOT else PREVIOUS_VECTOR
            source = Source(select=select, channel=found[-1] % TRANS_SLOT, negated=each.sources[0].negated)
            other = replace(each.sources[1], absolute=False)
            yield replace(each, sources=(source, other), omod=0, swizzle=each.swizzle)
        elif each.operation is Op2.MUL_IEEE:
            sources = tuple(replace(one, absolute=False) for one in each.sources)
            yield replace(each, sources=sources, omod=0, clamp=False, predicate=0)
        else:
            yield each


def drawn(seed: int) -> Drawn:
    """A program of random clauses. Every other one has no predicates, which keep results in their registers."""
    generator = np.random.default_rng(seed)
    drawing = _Followed(generator)
    clauses = [drawing.clause(_GROUPS) for _ in range(_CLAUSES)]
    for clause in clauses:
        clause.groups = _tamed(clause.groups, gates=not seed % 2)
    shape = (GPRS, _SIDE, _SIDE, 4)
    rows = random_words(generator, (256, 4))
    constants = {row: (int(a), int(b), int(c), int(d)) for row, (a, b, c, d) in enumerate(rows)}
    return Drawn(clauses, random_words(generator, shape), constants, (2, 0, 0), bool(seed & 2))


def groups(executable: Executable) -> int:
    """How many groups a program has."""
    found = (word for word in words(executable.code, executable.start) if word.is_alu)
    return sum(1 for word in found for each in instructions(executable.code, word) if each["last"])


def differs(job: Job, program: Executable) -> bool:
    """Whether a program leaves something else than that of a job."""
    one, other = run_golden(job), run_golden(replace(job, program=program))
    assert one.error is None
    return other.error is not None or any(
        not np.array_equal(getattr(one, name), getattr(other, name)) for name in ("outputs", "conditional")
    )


def jobs(seed: int) -> Iterator[Job]:
    """Runs of random clauses that show all registers."""
    program = drawn(seed)
    for first in range(0, GPRS, _SHOWN):
        yield program.job(16, shown=range(first, min(GPRS, first + _SHOWN)))


def program_of(job: Job) -> Executable:
    """What a job runs, which is no file."""
    assert isinstance(job.program, Executable)
    return job.program


def saved(seed: int) -> int:
    """How many groups less random clauses have; they leave the same in all registers."""
    less = 0
    for job in jobs(seed):
        before = program_of(job)
        program = ordered(before)
        assert not differs(job, program), f"seed {seed}"
        less += groups(before) - groups(program)
    return less


@pytest.mark.slow
def test_random_clauses() -> None:
    assert sum(saved(seed) for seed in range(_SEEDS)) > _SAVED * _SEEDS


@pytest.mark.long
@pytest.mark.parametrize("first", range(1_000, 2_000, _BATCH))
def test_many_random_clauses(first: int) -> None:
    assert sum(saved(seed) for seed in range(first, first + _BATCH)) > _SAVED * _BATCH


@pytest.mark.parametrize("name", some(list(FILES), 16))
def test_programs_of_compilers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shader = Shader.load(name)
    source = read_shader(shader.text)
    assert isinstance(source.executable, Executable)
    expected, program = run(shader), ordered(source.executable)
    monkeypatch.setattr(shaders, "read_shader", lambda _: replace(source, executable=program))
    for one, two in zip(expected.bits, run(shader).bits, strict=True):
        np.testing.assert_array_equal(one, two)


def test_groups_of_a_loop() -> None:
    """Sums of products in 16 groups; LLVM has them in 35."""
    program = compile_kernel(catalogue.FOLDER / "r700" / "matmul" / "matmul.c").executable
    assert isinstance(program, Executable)
    found = [word for word in words(program.code, program.start) if word.is_alu]
    assert max(sum(int(each["last"]) for each in instructions(program.code, word)) for word in found) <= 17


def test_a_program_is_the_same_each_time() -> None:
    job = next(jobs(0))
    assert len({ordered(program_of(job)).code for _ in range(3)}) == 1


def test_each_fault_has_its_text() -> None:
    assert len(set(FAULTS)) == len(FAULTS)
    for fault in FAULTS:
        FaultyLoader(fault)


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_faults_are_found(number: int) -> None:
    with planted(FAULTS[number], f"{_ORDER}.program", (_ORDER,)) as faulty:
        assert any(_is_found(faulty, job) for seed in range(_SEARCHED) for job in jobs(seed))


def _is_found(faulty: ModuleType, job: Job) -> bool:
    """Whether a mistake in the compiler is visible: in the results, or as an exception of the compiler."""
    try:
        program = faulty.ordered(job.program)
    except (AssertionError, LookupError, ValueError):
        return True
    return differs(job, program)
