"""How long LLVM will take for a program, before it begins; needs no package."""

import math

from ctm.sim.golden.pe.loader import Image

LONGEST = 25.0
"""Seconds that nobody should be made to wait."""
_START, _WORD = 0.1, 0.001
"""Seconds for any program, and for each word of code, if a group fits a register of the host."""
_GROWTH = 1.5
"""Power by which the number of registers that a group takes makes that more: few are left, and all is moved about."""


def seconds(image: Image, registers: int = 1) -> float:
    """Seconds for a program of which each value takes some registers of the host. Others have been off by three."""
    return _START + _WORD * sum(map(len, image.code)) * math.pow(registers, _GROWTH)
