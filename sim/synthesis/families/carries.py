"""Netlists in which carry cells of an ECP5 absorb the LUT4s at their inputs.

A half of a CCU2C has a table of four inputs, of which a sum needs two. So what a sum adds may follow from two inputs of
its own, at times from three, without a LUT4: an operand that is inverted, or that something else has to allow. Yosys
knows only of one that all bits of a subtraction share, if it is a constant.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from ctm.sim.synthesis.families.lookup_tables import CONSTANTS, INPUTS, LUT, OUTPUT, ROWS, assignments, contents, row_of
from ctm.sim.synthesis.families.netlist import Bit, with_pins

_GENERATING = 4
_SELECTING = "1"
"""At the last pin: rows that the carry comes from are not those that the sum comes from."""


def with_tables_in_carries(module: Mapping[str, Any]) -> dict[str, Any]:
    """A module as Yosys writes it, with the same function, without the LUT4s that all of their readers can absorb."""
    return {**module, "cells": _Cells(module).absorbed()}


@dataclass(frozen=True)
class _Half:
    """What a half does, by the values of its variables: whether a carry goes on, and if not, whether one begins."""

    variables: tuple[Bit, ...]
    propagates: tuple[int, ...]
    generates: tuple[int, ...]

    @classmethod
    def of(cls, cell: Mapping[str, Any], half: int) -> "_Half":
        """A half of a CCU2C."""
        table = contents(cell["parameters"][f"INIT{half}"])
        pins = [cell["connections"][f"{pin}{half}"][0] for pin in INPUTS]
        variables = tuple(dict.fromkeys(bit for bit in pins if bit not in CONSTANTS))
        rows = [row_of(pins, values) for values in assignments(variables)]
        return cls(variables, tuple(table[row] for row in rows), tuple(table[row % _GENERATING] for row in rows))

    def with_table(self, bit: Bit, cell: Mapping[str, Any]) -> "_Half | None":
        """The same with a LUT4 in it that gives `bit`, if it has not too many variables."""
        pins = [cell["connections"][pin][0] for pin in INPUTS]
        table = contents(cell["parameters"]["INIT"])
        own = (each for each in pins if each not in CONSTANTS)
        variables = tuple(dict.fromkeys([*(each for each in self.variables if each != bit), *own]))
        if len(variables) > len(INPUTS):
            return None
        rows = []
        for values in assignments(variables):
            values = {**values, bit: table[row_of(pins, values)]}
            rows.append(row_of(self.variables, values))
        return _Half(variables, tuple(self.propagates[row] for row in rows), tuple(self.generates[row] for row in rows))

    def placed(self) -> tuple[list[Bit], str] | None:
        """Pins and table of a half that does it, if there is one."""
        for order in permutations((*self.variables, *_SELECTING * (len(INPUTS) - len(self.variables)))):
            table = self._table(order)
            if table is not None:
                return list(order), table
        return None

    def _table(self, pins: tuple[Bit, ...]) -> str | None:
        """The table with these pins; a carry begins by what the first two say."""
        table: dict[int, int] = {}
        rows = [row_of(pins, values) for values in assignments(self.variables)]
        for row, propagates in zip(rows, self.propagates, strict=True):
            table[row] = propagates
        for row, propagates, generates in zip(rows, self.propagates, self.generates, strict=True):
            if not propagates and table.setdefault(row % _GENERATING, generates) != generates:
                return None
        return "".join(str(table.get(row, 0)) for row in reversed(range(ROWS)))


class _Cells:
    """The cells of a module, and the readers of each LUT4."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        self._cells: dict[str, Any] = dict(module["cells"])
        self._readers: dict[Bit, list[tuple[str, str]]] = defaultdict(list)
        for port in module["ports"].values():
            for bit in port["bits"]:
                self._readers[bit].append(("", "port"))
        for name, cell in self._cells.items():
            for pin, bits in cell["connections"].items():
                if pin != OUTPUT or cell["type"] != LUT:
                    for bit in bits:
                        self._readers[bit].append((name, pin))

    def absorbed(self) -> dict[str, Any]:
        """The remaining cells."""
        for name in [name for name, cell in self._cells.items() if cell["type"] == LUT]:
            self._absorb(name)
        return self._cells

    def _absorb(self, name: str) -> None:
        """Remove a LUT4 if all of its readers are halves of carry cells that can compute it."""
        table = self._cells[name]
        (bit,) = table["connections"][OUTPUT]
        halves = {(cell, pin[-1]) for cell, pin in self._readers[bit]}
        if not halves or not all(cell and self._cells[cell]["type"] == "CCU2C" for cell, _ in halves):
            return
        found = {}
        for cell, half in halves:
            if half not in "01" or self._cells[cell]["parameters"][f"INJECT1_{half}"] != "NO":
                return
            with_table = _Half.of(self._cells[cell], int(half)).with_table(bit, table)
            placed = None if with_table is None else with_table.placed()
            if placed is None:
                return
            found[cell, half] = placed
        for (cell, half), (pins, init) in found.items():
            self._set_half(cell, half, pins, init)
        del self._cells[name]
        for pin in INPUTS:
            (given,) = table["connections"][pin]
            self._readers[given] = [reader for reader in self._readers[given] if reader[0] != name]

    def _set_half(self, name: str, half: str, pins: list[Bit], init: str) -> None:
        cell = self._cells[name]
        named = {f"{pin}{half}": [bit] for pin, bit in zip(INPUTS, pins, strict=True)}
        for pin, (bit,) in named.items():
            (before,) = cell["connections"][pin]
            self._readers[before] = [reader for reader in self._readers[before] if reader != (name, pin)]
            self._readers[bit].append((name, pin))
        cell = with_pins(cell, named)
        self._cells[name] = {**cell, "parameters": {**cell["parameters"], f"INIT{half}": init}}
