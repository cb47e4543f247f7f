"""Netlists in which an ECP5's multiplexers after its LUT4s choose between multiplexers, too.

A PFUMX chooses between two LUT4s of a slice, an L6MUX21 between two PFUMXs, or between two such L6MUX21s of a tile. So
a LUT4 that does nothing but choose between two PFUMXs without other readers is not needed.
"""

from collections.abc import Mapping
from typing import Any

from ctm.sim.synthesis.families.lookup_tables import INPUTS, LUT, OUTPUT, assignments, contents, row_of
from ctm.sim.synthesis.families.netlist import ALONE, Bit, ends, make_cell

_NARROW, _WIDE = "PFUMX", "L6MUX21"
_CHOSEN = {_NARROW: ("ALUT", "BLUT"), _WIDE: ("D0", "D1")}


def with_wide_multiplexers(module: Mapping[str, Any]) -> dict[str, Any]:
    """A module as Yosys writes it, with the same function and without the LUT4s that only choose between PFUMXs."""
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


def _wide(zero: Bit, one: Bit, select: Bit, output: Bit) -> dict[str, Any]:
    return make_cell(_WIDE, {}, {"D0": [zero], "D1": [one], "SD": [select]}, {OUTPUT: [output]})
