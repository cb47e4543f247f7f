"""Structured programs on the golden model do for every pixel what their statements say.

The model reports hazards, so the automatic bits are tried here too.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings

from ctm.sim.assembler import assemble
from ctm.sim.elf import write
from ctm.tb.assembler.r5xx.structured import (
    BOOL_CONSTANTS,
    INT_CONSTANTS,
    PROGRAMS,
    TABLE,
    Add,
    Condition,
    If,
    Leave,
    Loop,
    Pixel,
    Text,
)
from ctm.tb.r5xx.machine import PROGRAM, Machine

WIDTH, HEIGHT = 5, 3
"""Not whole quads, so that some pixels are uncovered."""
SUMMANDS = [1 + 3 * index % 7 for index in range(32)]


@pytest.fixture(scope="module", params=[4, 16])
def machine(request: pytest.FixtureRequest) -> Machine:
    machine = Machine(lanes=request.param, hazards=True)
    for index, constant in enumerate(INT_CONSTANTS):
        machine.set_int(index, *constant)
    for index, value in enumerate(BOOL_CONSTANTS):
        machine.set_bool(index, value)
    for index, summand in enumerate(SUMMANDS):
        machine.set_floats(TABLE + index, summand, 0, 0, 0)
    return machine


def run(machine: Machine, source: str) -> np.ndarray:
    """The red channel that a program writes, [height, width]."""
    machine.memory.write(PROGRAM, write(assemble(source)))
    return machine.start((0, 0, WIDTH - 1, HEIGHT - 1))[0, :, :, 0]


SMALL, YES = Condition("alu", False, 0), Condition("b", False, 1)
"""True for some pixels; true for all."""
BREAK = If(YES, (If(YES, (Leave("BREAK", None),), None),), None)
BREAK_IN_BRANCHES = If(SMALL, (Loop("REP", 3, (Add(1), BREAK)),), None)
"""The pixels that wait outside get the two levels back that the BREAK jumps out of."""
CONTINUE_IN_BRANCHES = If(SMALL, (Loop("LOOP", 3, (If(YES, (Add(1), Leave("CONTINUE", None)), None), Add(3))),), None)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(program=PROGRAMS)
@example(program=((), (), (BREAK_IN_BRANCHES, Add(1))))
@example(program=((), (), (CONTINUE_IN_BRANCHES, Add(1))))
def test_random_programs(machine: Machine, program) -> None:
    source = Text().program(program)
    pixel = Pixel(program, SUMMANDS)
    wanted = [[pixel.run(i, j) for i in range(WIDTH)] for j in range(HEIGHT)]
    assert np.array_equal(run(machine, source), np.array(wanted, np.float32)), source
