"""Random ALU clauses leave the registers that they leave on the golden model."""

import pytest

from ctm.rtl.isa.r700.limits import CLAUSE_TEMPORARIES, FIRST_CLAUSE_TEMPORARY
from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.elf.r700.executable import Executable
from ctm.tb.lib.seeds import seeds
from ctm.tb.r700 import machine
from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.machine import Input, Job
from ctm.tb.r700.random_groups import GPRS
from ctm.tb.r700.test_groups_random import Drawn, draw
from ctm.tb.r700.words import export, group, slot, tex

PROGRAMS, LONG = 12, 1_000
_TARGETS = 4
_SETS = -(-(GPRS + CLAUSE_TEMPORARIES) // _TARGETS)
_WAVEFRONTS = (4, 16, 64)
_LOOP = 0


def executable(drawn: Drawn, first: int) -> Executable:
    """The program of `drawn`, which in the end exports the registers from `first` on; the temporaries are the last."""
    a = Assembly()
    a.fetch(*(tex("LD", register, 0, register) for register in range(GPRS - 1, -1, -1)))
    loop = a.flow("LOOP_START", to=8000, const=_LOOP)
    for clause in drawn.clauses:
        a.alu(*clause.units, name="ALU_PUSH_BEFORE", kcache=clause.kcache)
        a.flow("POP", pop=1)
    a.flow("LOOP_END", to=loop + 1)
    for target in range(_TARGETS):
        number = first + target
        if number >= GPRS:
            number, temporary = number % GPRS, FIRST_CLAUSE_TEMPORARY + (number - GPRS) % CLAUSE_TEMPORARIES
            a.alu(*(group(slot("MOV", f"R{number}.{channel}", f"R{temporary}.{channel}")) for channel in "xyzw"))
        a.raw(export(target, number))
    a.end()
    return a.executable(gprs=GPRS, type=ProgramType.CS, dx10_clamp=drawn.dx10)


@pytest.mark.parametrize("seed", seeds(PROGRAMS, LONG))
def test_random_clauses(seed: int) -> None:
    drawn = draw(seed)
    _, height, width, _ = drawn.words.shape
    job = Job(
        program=executable(drawn, _TARGETS * (seed % _SETS)),
        domain=(0, 0, width - 1, height - 1),
        inputs={register: Input(values=drawn.words[register]) for register in range(GPRS)},
        floats=drawn.rows,
        ints={_LOOP: drawn.loop},
        targets=_TARGETS,
        wavefront=_WAVEFRONTS[seed % len(_WAVEFRONTS)],
    )
    found = machine.run(job)
    assert found.error is None
