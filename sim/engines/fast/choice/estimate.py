"""How long LLVM will take for a program, before it begins; needs no package."""

import math

from ctm.sim.golden.pe.loader import Image

LONGEST = 25.0
"""Seconds that a user should not have to wait."""
_START, _WORD = 0.1, 0.001
"""Seconds for any program, and for each word of code, if a wavefront fits a register of the host."""
_GROWTH = 1.5
"""Power of the number of registers that a wavefront takes in that time: few registers are free, and words are moved."""


def seconds(image: Image, registers: int = 1) -> float:
    """Seconds for a program of which each value takes some registers of the host. Others have been off by three."""
    return _START + _WORD * sum(map(len, image.code)) * math.pow(registers, _GROWTH)
