"""Random ALU clauses leave the registers that they leave on the golden model."""

import pytest

from ctm.rtl.isa.r700.limits import CLAUSE_TEMPORARIES
from ctm.tb.lib.seeds import seeds
from ctm.tb.r700 import machine
from ctm.tb.r700.random_groups import GPRS, draw

PROGRAMS, LONG = 4, 600
_TARGETS, _REGISTERS = 4, GPRS + CLAUSE_TEMPORARIES
_WAVEFRONTS = (16, 4, 16, 4, 16, 4, 16, 4, 16, 64)
"""Mostly small ones: of large ones LLVM makes ten times the code."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(PROGRAMS, LONG))
def test_random_clauses(seed: int) -> None:
    first = _TARGETS * seed
    shown = [number % _REGISTERS for number in range(first, first + _TARGETS)]
    found = machine.run(draw(seed).job(_WAVEFRONTS[seed % len(_WAVEFRONTS)], shown=shown))
    assert found.error is None
