"""Random structured programs: every pixel ends as if it had run through the statements alone."""

from dataclasses import replace

import numpy as np
import pytest

from ctm.rtl.isa.r700.control_flow import CF_ALU_DWORD0, CF_DWORD1, CF_FORM, AluClause, CfOperation
from ctm.rtl.isa.word import replace as replace_fields
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.r700.executable import Executable
from ctm.tb.r700.flow_code import Compiler
from ctm.tb.r700.machine import UNTOUCHED, Job, Run, run
from ctm.tb.r700.random_statements import TARGETS, Drawing, job_of
from ctm.tb.r700.statements import Pixel

PROGRAMS, LONG = 250, 10_000
_NEVER = {
    CfOperation.CALL_FS, CfOperation.EMIT_VERTEX, CfOperation.EMIT_CUT_VERTEX, CfOperation.CUT_VERTEX,
    CfOperation.END_PROGRAM, CfOperation.WAIT_ACK,
}  # fmt: skip
"""Operations that are illegal, and one that has no effect here."""


def expected_outputs(job: Job, drawing: Drawing) -> np.ndarray:
    """What the pixels leave one by one."""
    i0, j0, i1, j1 = job.domain
    outputs = np.full((TARGETS, j1 + 1, i1 + 1, 4), UNTOUCHED, np.uint32)
    for j in range(j0, j1 + 1):
        for i in range(i0, i1 + 1):
            if job.covered is not None and not job.covered[j, i]:
                continue
            pixel = Pixel(drawing.environment, i, j)
            pixel.run(drawing.program)
            if pixel.valid:
                for (target, channel), word in pixel.outputs.items():
                    outputs[target, j, i, channel] = word
    return outputs


def check(seed: int) -> Run:
    """A program that ends as its pixels do."""
    job, drawing = job_of(seed)
    found = run(job)
    assert found.error is None, f"seed {seed}: {found.error}"
    np.testing.assert_array_equal(found.outputs, expected_outputs(job, drawing), f"seed {seed}")
    return found


def check_many(first: int, count: int) -> None:
    for seed in range(first, first + count):
        check(seed)


@pytest.mark.parametrize("first", range(0, PROGRAMS, 50))
def test_pixels_end_as_if_they_were_alone(first: int) -> None:
    check_many(first, 50)


@pytest.mark.parametrize("seed", range(0, 40))
def test_results_do_not_depend_on_the_wavefront(seed: int) -> None:
    job, _ = job_of(seed)
    first, *others = (run(job.on(wavefront)) for wavefront in (4, 8, 16, 32, 64))
    for other in others:
        np.testing.assert_array_equal(first.outputs, other.outputs)


def test_barriers_change_nothing() -> None:
    """The first word starts the first clause, which is after all words."""
    for seed in range(20):
        job, drawing = job_of(seed)
        assert isinstance(job.program, Executable)
        code = list(job.program.code)
        for index in range(unpack(CF_ALU_DWORD0, code[0][0])["addr"]):
            low, high = code[index]
            code[index] = low, replace_fields(CF_DWORD1, high, barrier=0)
        found = run(replace(job, program=replace(job.program, code=tuple(code))))
        np.testing.assert_array_equal(found.outputs, expected_outputs(job, drawing), f"seed {seed}")


def test_all_words_are_drawn() -> None:
    drawn: set[int] = set()
    clauses: set[int] = set()
    for seed in range(60):
        generator = np.random.default_rng(seed)
        compiler = Compiler(generator, Drawing(generator, 30).program)
        compiler.executable()
        for _, high in (make() for make in compiler.assembly.words):
            form = unpack(CF_FORM, high)
            (clauses if form["is_alu"] else drawn).add(unpack(CF_DWORD1, high)["cf_inst"] >> 3 * form["is_alu"])
    assert {name for name in CfOperation if name.value not in drawn} == _NEVER
    assert clauses == {name.value for name in AluClause}


@pytest.mark.long
@pytest.mark.parametrize("first", range(100_000, 100_000 + LONG, 500))
def test_many_more(first: int) -> None:
    check_many(first, 500)
