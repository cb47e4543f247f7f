"""Netlists in which what lies in a slice of an ECP5 together with what takes it is nobody else's.

A PFUMX lies in the slice of the two LUT4s that it chooses between, and leaves it by the wire that one of them had; an
L6MUX21 lies beside two multiplexers in the same way. So these have no other readers.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import count
from typing import Any

from ctm.sim.synthesis.families.lookup_tables import LUT, OUTPUT, make_lut4
from ctm.sim.synthesis.families.netlist import nets, with_pins

_PASSES = "10" * 8
_TAKEN = {"PFUMX": (("ALUT", "BLUT"), (LUT,)), "L6MUX21": (("D0", "D1"), ("PFUMX", "L6MUX21"))}
"""Pins at which a cell takes something of its own slices, and what that may be; all of these give it at `OUTPUT`."""


def with_own_slices(module: Mapping[str, Any]) -> dict[str, Any]:
    """A module as Yosys writes it, with the same function and a copy of each cell for each one that needs its own.

    Where there is no LUT4, as Yosys has found that one only passes what it gets, there is one that does so.
    """
    return {**module, "cells": _Cells(module).separated()}


class _Cells:
    """The cells of a module, and which of them are in somebody's slice."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        self._cells = dict(module["cells"])
        kinds = {kind for _, kinds in _TAKEN.values() for kind in kinds}
        self._drivers = {
            cell["connections"][OUTPUT][0]: name for name, cell in self._cells.items() if cell["type"] in kinds
        }
        self._bits = count(1 + max(nets(module), default=1))
        ends = [bit for cell in self._cells.values() for bits in cell["connections"].values() for bit in bits]
        self._ends = Counter(ends + [bit for port in module["ports"].values() for bit in port["bits"]])

    def separated(self) -> dict[str, Any]:
        """All cells."""
        for name in [name for name, cell in self._cells.items() if cell["type"] in _TAKEN]:
            self._separate(name)
        return self._cells

    def _separate(self, name: str) -> None:
        """Give a multiplexer what it takes."""
        pins, kinds = _TAKEN[self._cells[name]["type"]]
        for pin in pins:
            (bit,) = self._cells[name]["connections"][pin]
            driver = self._drivers.get(bit)
            if driver is None or self._cells[driver]["type"] not in kinds:
                bit = self._passing(f"{name}_{pin}", bit)
            elif self._ends[bit] > len(("driver", "reader")):
                self._ends[bit] -= 1
                bit = self._copied(driver)
            self._cells[name] = with_pins(self._cells[name], {pin: [bit]})

    def _copied(self, name: str) -> int:
        bit = next(self._bits)
        copy = f"{name}_{bit}"
        self._cells[copy] = with_pins(self._cells[name], {OUTPUT: [bit]})
        # The copy reads what the cell reads.
        self._ends.update(each for bits in self._cells[copy]["connections"].values() for each in bits)
        if self._cells[copy]["type"] in _TAKEN:
            self._separate(copy)
        return bit

    def _passing(self, name: str, given: int | str) -> int:
        bit = next(self._bits)
        self._cells[name] = make_lut4(_PASSES, {"A": given}, bit)
        return bit
