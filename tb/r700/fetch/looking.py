"""A unit that looks at pixels of a register, and what selects these."""

from typing import Any

import numpy as np
from amaranth import Module


def looking(unit: Any, selection: Any) -> Module:
    """The unit with the pixels that it wants."""
    m = Module()
    m.submodules += [unit, selection]
    m.d.comb += [
        selection.by_pixel.eq(1),
        selection.pixel.eq(unit.walk.wanted if hasattr(unit, "walk") else unit.wanted),
        selection.selects.eq(unit.fetch.selects),
        unit.own.eq(selection.own),
    ]
    for name in ("quad", "quad_written"):
        if hasattr(unit, name):
            m.d.comb += getattr(unit, name).eq(getattr(selection, name))
    return m


def mask(pixels: np.ndarray) -> int:
    """A bit for each pixel, pixel 0 first."""
    return int(sum(1 << int(index) for index in np.flatnonzero(pixels)))
