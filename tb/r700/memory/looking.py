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
        unit.quad.eq(selection.quad),
        unit.own.eq(selection.own),
    ]
    return m
