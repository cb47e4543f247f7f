"""Netlists in which a cell that shares a slice of an ECP5 with its reader has no other reader.

A PFUMX lies in the slice of the two LUT4s that it chooses between, and leaves it by the wire that one of them had; an
L6MUX21 lies beside two multiplexers likewise. So these have no other readers.
"""

from collections.abc import Mapping
from itertools import count
from typing import Any

from ctm.sim.synthesis.families.lookup_tables import LUT, OUTPUT, make_lut4
from ctm.sim.synthesis.families.netlist import ALONE, ends, make_cell, nets, with_pins

_PASSES = "10" * 8
_TAKEN = {"PFUMX": (("ALUT", "BLUT"), (LUT,)), "L6MUX21": (("D0", "D1"), ("PFUMX", "L6MUX21"))}
"""Pins at which a cell takes something of its own slices, and what that may be; all of these give it at `OUTPUT`."""


def with_own_slices(module: Mapping[str, Any]) -> dict[str, Any]:
    """A module as Yosys writes it, with the same function and a copy of each cell for each one that needs its own.

    A cell that Yosys removed because it only passes its input is inserted again.
    """
    return {**module, "cells": _Cells(module).separated()}


class _Cells:
    """The cells of a module, what drives each bit of those that lie in others' slices, and how many ends it has."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        self._cells: dict[str, Any] = {}
        self._drivers: dict[int, str] = {}
        self._ends = ends(module)
        self._bits = count(1 + max(nets(module), default=1))
        for name, cell in module["cells"].items():
            self._set(name, cell)

    def separated(self) -> dict[str, Any]:
        """All cells."""
        for name in [name for name, cell in self._cells.items() if cell["type"] in _TAKEN]:
            self._separate(name)
        return self._cells

    def _add(self, name: str, cell: Mapping[str, Any]) -> None:
        self._set(name, cell)
        self._ends.update(bit for bits in cell["connections"].values() for bit in bits)

    def _set(self, name: str, cell: Mapping[str, Any]) -> None:
        self._cells[name] = cell
        if cell["type"] in (LUT, *_TAKEN):
            self._drivers[cell["connections"][OUTPUT][0]] = name

    def _separate(self, name: str) -> None:
        """Give a multiplexer a cell of its own at each pin."""
        pins, kinds = _TAKEN[self._cells[name]["type"]]
        for pin in pins:
            (given,) = self._cells[name]["connections"][pin]
            driver = self._drivers.get(given)
            if driver is None or self._cells[driver]["type"] not in kinds:
                own = self._passing(name, given) if LUT in kinds else self._passing_multiplexer(name, given)
            elif self._ends[given] > ALONE:
                own = next(self._bits)
                copy = f"{driver}_{own}"
                self._add(copy, with_pins(self._cells[driver], {OUTPUT: [own]}))
                if self._cells[copy]["type"] in _TAKEN:
                    self._separate(copy)
            else:
                continue
            self._cells[name] = with_pins(self._cells[name], {pin: [own]})
            self._ends.update({own: 1, given: -1})

    def _passing(self, name: str, given: int | str) -> int:
        """A LUT4 that passes its input."""
        own = next(self._bits)
        self._add(f"{name}_{own}", make_lut4(_PASSES, {"A": given}, own))
        return own

    def _passing_multiplexer(self, name: str, given: int | str) -> int:
        """A PFUMX that passes its input: Yosys removes those that select among undefined values."""
        own, inputs = next(self._bits), {pin: [self._passing(name, given)] for pin in ("ALUT", "BLUT")}
        self._add(f"{name}_{own}", make_cell("PFUMX", {}, inputs | {"C0": ["0"]}, {OUTPUT: [own]}))
        return own
