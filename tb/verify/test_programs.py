"""Programs from which instructions are taken are still programs, and cells that they cover are in the tables."""

from dataclasses import replace

import numpy as np
import pytest

from ctm.sim.assembler import assemble, disassemble
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.elf.r700.executable import Executable as R700Executable
from ctm.tb.r5xx.golden_record import record
from ctm.tb.r5xx.programs.flow import random_flow_case
from ctm.tb.r5xx.random_cases import random_case
from ctm.tb.r700.hardware.drawn import DRAWN
from ctm.tb.r700.hardware.golden_record import record as record_r700
from ctm.tb.r700.machine import run_golden
from ctm.tb.verify.domains import smaller
from ctm.tb.verify.r5xx import events as r5xx_events
from ctm.tb.verify.r5xx import program as r5xx
from ctm.tb.verify.r700 import events as r700_events
from ctm.tb.verify.r700 import program as r700

LOOP = """
.manual
    ALU r1.r = MOV(r0.r)
    FC LOOP -> L4 int_addr=1 alu_wait
L2:
    ALU r2.r = MOV(r1.r)
    FC ENDLOOP -> L2 jump_any jump_func=ALWAYS int_addr=1 alu_wait
L4:
    ALU r3.r = MOV(r1.r)
    OUT o0 = MOV(r2)
"""
CLAUSES = """
.isa r700
.manual
.type ps
.gprs 4
    ALU_PUSH_BEFORE ADDR(L5) CNT(2)
    JUMP ADDR(L3) POP_CNT(1)
    TEX ADDR(L8) CNT(2)
L3:
    POP POP_CNT(1)
    EXPORT PIX0, R1.xyzw END_OF_PROGRAM
L5:
    0 x: MOV R1.x, R0.x
    1 x: PRED_SETNE_INT ____, R1.x, 0 UPDATE_EXEC_MASK
    .unit 0x00000000, 0x00000000
L8:
    LD R2.xyzw, R0.xyzw, t0, s0 UNNORM
    LD R3.xyzw, R0.xyzw, t1, s0 UNNORM
"""


def r5xx_program(text: str) -> Executable:
    program = assemble(text)
    assert isinstance(program, Executable)
    return program


def test_jumps_go_to_the_next_instruction_that_is_left() -> None:
    left = r5xx.kept(r5xx_program(LOOP), [0, 1, 3, 5])
    assert left is not None and (left.start, left.end) == (0, 3)
    text = disassemble(left)
    assert "LOOP -> L3" in text and "ENDLOOP -> L2" in text
    assert text.index("L2:") < text.index("ENDLOOP") < text.index("L3:") < text.index("OUT")


def test_nothing_is_left_without_an_instruction_up_to_the_end() -> None:
    program = replace(r5xx_program(LOOP), end=3)
    assert r5xx.kept(program, [4, 5]) is None
    left = r5xx.kept(program, [2, 4])
    assert left is not None and left.end == 0


def test_all_instructions_are_the_same_program() -> None:
    for seed in range(20):
        for draw in (random_case, random_flow_case):
            executable = draw(seed, lanes=4).executable
            assert r5xx.kept(executable, range(len(r5xx.own_instructions(executable)))) == executable


def test_without_its_clause_a_cf_instruction_is_gone_and_without_it_its_clause() -> None:
    program = r700.assembled(CLAUSES)
    split = r700.Program(program)
    assert split.size == 9

    def text(items: list[int]) -> str:
        left = split.kept(items)
        assert left is not None
        return disassemble(left)

    whole = text(list(range(9)))
    assert "JUMP ADDR(L3)" in whole and "CNT(2)" in whole and "t1" in whole
    without_fetches = text([0, 1, 2, 3, 4, 7, 8])
    assert "TEX" not in without_fetches and "LD" not in without_fetches and "JUMP ADDR(L2)" in without_fetches
    one_fetch = text([4, 6, 8])
    assert "TEX ADDR(L2) CNT(1)" in one_fetch and "t1" in one_fetch and "t0" not in one_fetch
    assert "ALU" not in text([1, 2, 8])
    assert split.kept([1, 2]) is None
    assert split.kept([0, 1, 2, 7]) is None, "what is after its last CF instruction is its clause"


def test_all_items_leave_the_same_results() -> None:
    for draw in DRAWN.values():
        for seed in range(3):
            job = draw(seed)
            if job is None:
                continue
            assert isinstance(job.program, R700Executable)
            program = r700.Program(job.program)
            left = program.kept(range(program.size))
            assert left is not None
            one, other = (run_golden(each.on(16)) for each in (job, replace(job, program=left)))
            for name in ("outputs", "memory", "scratch", "conditional"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


@pytest.mark.parametrize("assembled", [r5xx.assembled, r700.assembled])
def test_what_is_no_program_is_a_value_error(assembled: object) -> None:
    other = CLAUSES if assembled is r5xx.assembled else LOOP
    for text in ("nonsense", other):
        with pytest.raises(ValueError):
            assembled(text)  # type: ignore[operator]


def test_domains_get_smaller_until_they_are_a_pixel() -> None:
    domain, steps = [3, 1, 9, 4], 0
    while True:
        found = list(smaller(domain))
        if not found:
            break
        for i0, j0, i1, j1 in found:
            assert domain[0] <= i0 <= i1 <= domain[2] and domain[1] <= j0 <= j1 <= domain[3]
            assert (i1 - i0 + 1) * (j1 - j0 + 1) < (domain[2] - domain[0] + 1) * (domain[3] - domain[1] + 1)
        domain, steps = found[-1], steps + 1
    assert domain[:2] == domain[2:] and steps < 8


def test_cells_of_r5xx_programs_are_in_the_tables() -> None:
    tables = {name: set(cells) for name, cells in r5xx_events.tables().items()}
    assert all(len(cells) == len(r5xx_events.tables()[name]) for name, cells in tables.items())
    found = set()
    for seed in range(12):
        for draw in (random_case, random_flow_case):
            case = draw(seed, lanes=4)
            launch, wavefronts = case.launch()
            found |= set(r5xx_events.events(launch, record(launch, wavefronts)))
    for event in found:
        table, cell = event.split("|")
        assert cell in tables[table], event
    assert {event.split("|")[0] for event in found} == tables.keys()


@pytest.mark.slow
def test_cells_of_r700_programs_are_in_the_tables() -> None:
    tables = {name: set(cells) for name, cells in r700_events.tables().items()}
    assert all(len(cells) == len(r700_events.tables()[name]) for name, cells in tables.items())
    found = set()
    for draw in DRAWN.values():
        for seed in range(8):
            job = draw(seed)
            if job is not None:
                assert isinstance(job.program, R700Executable)
                _, records = record_r700(job.on(16))
                found |= r700_events.events(job, r700.code_of(job.program), records.values())
    for event in found:
        table, cell = event.split("|")
        assert cell in tables[table], event
    assert {event.split("|")[0] for event in found} | {r700_events.FAULTS} == tables.keys()
