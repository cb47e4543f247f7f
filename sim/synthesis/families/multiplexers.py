"""Netlists in which an ECP5's multiplexers after its LUT4s choose between multiplexers, too, and absorb what follows.

A PFUMX chooses between two LUT4s of a slice, an L6MUX21 between two PFUMXs, or between two such L6MUX21s of a tile. So
a LUT4 that does nothing but choose between two PFUMXs without other readers is not needed.

Yosys maps around multiplexers of four, whose LUT4s have a free pin each. So a LUT4 is not needed either that combines a
multiplexer with one other bit, such as a condition: each LUT4 of the multiplexer combines its own words with it.
"""

from collections.abc import Mapping
from typing import Any

from ctm.sim.synthesis.families.lookup_tables import (
    INPUTS,
    LUT,
    OUTPUT,
    ROWS,
    assignments,
    contents,
    make_lut4,
    row_of,
)
from ctm.sim.synthesis.families.netlist import ALONE, Bit, ends, make_cell, with_pins

_NARROW, _WIDE = "PFUMX", "L6MUX21"
_CHOSEN = {_NARROW: ("ALUT", "BLUT"), _WIDE: ("D0", "D1")}
_COMBINED = 2
"""The bits that an absorbed LUT4 has at most: a multiplexer's, and one other."""


def with_wide_multiplexers(module: Mapping[str, Any]) -> dict[str, Any]:
    """A module as Yosys writes it, with the same function and without the LUT4s that multiplexers replace or absorb."""
    return {**module, "cells": _Cells(module).widened()}


class _Cells:
    """The cells of a module, what gives and chooses each bit of LUT4s and multiplexers, and how many ends a bit has."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        self._cells: dict[str, Any] = dict(module["cells"])
        self._ends = ends(module)
        self._drivers: dict[Bit, str] = {}
        self._choosers: dict[Bit, str] = {}
        for name, cell in self._cells.items():
            if cell["type"] in (LUT, *_CHOSEN):
                self._drivers[cell["connections"][OUTPUT][0]] = name
            self._set(name, cell)

    def widened(self) -> dict[str, Any]:
        """All cells that are left."""
        # Where four PFUMXs are chosen from, both LUT4s between them and a fifth one have to go, or none.
        for name in self._all(_NARROW):
            self._widen_around(name)
        for name in self._all(LUT):
            found = self._choice(name)
            if found is not None and self._chooser(found) is None:
                self._set(name, found)
        for name in self._all(LUT):
            self._absorb(name)
        return self._cells

    def _set(self, name: str, cell: Mapping[str, Any]) -> None:
        self._cells[name] = cell
        for pin in _CHOSEN.get(cell["type"], ()):
            self._choosers[cell["connections"][pin][0]] = name

    def _all(self, kind: str) -> list[str]:
        return [name for name, cell in self._cells.items() if cell["type"] == kind]

    def _chooser(self, cell: Mapping[str, Any]) -> str | None:
        return self._choosers.get(cell["connections"][OUTPUT][0])

    def _widen_around(self, name: str) -> None:
        """Make a PFUMX an L6MUX21 if both of its LUT4s can be one; there is none that chooses between such two."""
        cell = self._cells[name]
        pins, reader = cell["connections"], self._chooser(cell)
        inner = [self._drivers.get(pins[pin][0]) for pin in _CHOSEN[_NARROW]]
        found = {each: self._choice(each) for each in inner if each and self._is_alone(self._cells[each])}
        wide = {each: cell for each, cell in found.items() if cell is not None}
        if len(wide) == len(inner) and not (reader and self._is(reader, _WIDE)):
            upper, lower, (select,), (output,) = (pins[pin] for pin in (*_CHOSEN[_NARROW], "C0", OUTPUT))
            for each, made in (*wide.items(), (name, _wide(lower[0], upper[0], select, output))):
                self._set(each, made)

    def _absorb(self, name: str) -> None:
        """Remove a LUT4 if it combines a multiplexer with at most one other bit, and that has free pins for it."""
        cell = self._cells[name]
        pins = (cell["connections"][pin][0] for pin in INPUTS)
        nets = tuple(dict.fromkeys(bit for bit in pins if isinstance(bit, int)))
        if len(nets) > _COMBINED:
            return
        for bit in nets:
            tables = self._tables(bit) if self._is_multiplexer(bit) else None
            if tables is None:
                continue
            made = {each: _combined(self._cells[each], cell, bit) for each in tables}
            if all(table is not None for table in made.values()):
                multiplexer, output = self._drivers[bit], cell["connections"][OUTPUT]
                self._cells |= {each: table for each, table in made.items() if table is not None}
                self._set(multiplexer, with_pins(self._cells[multiplexer], {OUTPUT: output}))
                self._drivers[output[0]] = multiplexer
                self._ends.update(dict.fromkeys(set(nets) - {bit}, len(made) - 1))
                del self._cells[name]
                return

    def _tables(self, bit: Bit) -> list[str] | None:
        """The LUT4s of the multiplexer, or the LUT4, that gives a bit to one reader alone; none if there is no such."""
        driver = self._drivers.get(bit)
        if driver is None or not self._is_alone(self._cells[driver]):
            return None
        cell = self._cells[driver]
        if cell["type"] == LUT:
            return [driver]
        inner = [self._tables(cell["connections"][pin][0]) for pin in _CHOSEN[cell["type"]]]
        return None if None in inner else [each for tables in inner for each in tables or ()]

    def _is_multiplexer(self, bit: Bit) -> bool:
        driver = self._drivers.get(bit)
        return driver is not None and self._cells[driver]["type"] in _CHOSEN

    def _choice(self, name: str) -> dict[str, Any] | None:
        """The L6MUX21 that does what a LUT4 does, if there is one."""
        cell = self._cells[name]
        if cell["type"] != LUT:
            return None
        pins = [cell["connections"][pin][0] for pin in INPUTS]
        nets = tuple(sorted({bit for bit in pins if isinstance(bit, int)}))
        data = [bit for bit in nets if self._is_narrow(bit)]
        if len(data) != len(_CHOSEN[_WIDE]):
            return None
        table = contents(cell["parameters"]["INIT"])
        given = [(table[row_of(pins, values)], values) for values in assignments(nets)]
        first, second = data
        for select in nets:
            for zero, one in ((first, second), (second, first)):
                if select not in data and all(
                    result == values[one if values[select] else zero] for result, values in given
                ):
                    return _wide(zero, one, select, cell["connections"][OUTPUT][0])
        return None

    def _is_narrow(self, bit: Bit) -> bool:
        """Whether a PFUMX gives this to one reader alone."""
        driver = self._drivers.get(bit)
        return driver is not None and self._is(driver, _NARROW) and self._is_alone(self._cells[driver])

    def _is_alone(self, cell: Mapping[str, Any]) -> bool:
        return self._ends[cell["connections"][OUTPUT][0]] == ALONE

    def _is(self, name: str, kind: str) -> bool:
        return bool(self._cells[name]["type"] == kind)


def _combined(table: Mapping[str, Any], outer: Mapping[str, Any], bit: Bit) -> dict[str, Any] | None:
    """A LUT4 that does what `outer` makes of a LUT4's output at `bit`, if it has not too many inputs."""
    own, others = ([cell["connections"][pin][0] for pin in INPUTS] for cell in (table, outer))
    variables = tuple(dict.fromkeys(each for each in (*own, *others) if isinstance(each, int) and each != bit))
    if len(variables) > len(INPUTS):
        return None
    rows, outer_rows = contents(table["parameters"]["INIT"]), contents(outer["parameters"]["INIT"])
    found = []
    for values in assignments(variables):
        inner = rows[row_of(own, values)]
        found.append(outer_rows[row_of(others, {**values, bit: inner})])
    init = "".join(map(str, reversed(found))) * (ROWS // len(found))
    return make_lut4(init, dict(zip(INPUTS, variables, strict=False)), table["connections"][OUTPUT][0])


def _wide(zero: Bit, one: Bit, select: Bit, output: Bit) -> dict[str, Any]:
    return make_cell(_WIDE, {}, {"D0": [zero], "D1": [one], "SD": [select]}, {OUTPUT: [output]})
