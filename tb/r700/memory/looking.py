"""A unit that looks at pixels of a register, and what selects these."""

from typing import Any

from amaranth import Module


def looking(unit: Any, selection: Any) -> Module:
    """The unit with the pixels that it wants."""
    m = Module()
    m.submodules += [unit, selection]
    m.d.comb += [
        selection.by_pixel.eq(1),
        selection.pixel.eq(unit.wanted),
        selection.selects.eq(unit.fetch.selects),
        unit.own.eq(selection.own),
    ]
    for name in ("quad", "quad_written"):
        if hasattr(unit, name):
            m.d.comb += getattr(unit, name).eq(getattr(selection, name))
    return m
