"""LUT4s as Yosys's own lookup tables, which it can optimise, and the inverse."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from ctm.sim.synthesis.families.netlist import Bit, make_cell

LUT = "LUT4"
INPUTS = ("A", "B", "C", "D")
OUTPUT = "Z"
TABLE = "$lut"
ROWS = 1 << len(INPUTS)
CONSTANTS: Mapping[Bit, int] = {"0": 0, "1": 1, "x": 0}
"""Values of pins that are connected to no net."""
_PARAMETER_BITS = 32


def with_known_tables(module: Mapping[str, Any]) -> dict[str, Any]:
    """A module as Yosys writes it, with one of Yosys's own lookup tables for each LUT4."""
    return _replaced(module, LUT, _known)


def with_lut4s(module: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse; tables of fewer inputs are LUT4s, too."""
    return _replaced(module, TABLE, _lut4)


def make_lut4(init: str, inputs: Mapping[str, Any], output: int) -> dict[str, Any]:
    """A LUT4 with these contents, the row of ones first; pins that are not named are 0."""
    pins = {pin: [inputs.get(pin, "0")] for pin in INPUTS}
    return make_cell(LUT, {"INIT": init}, pins, {OUTPUT: [output]})


def contents(init: str) -> list[int]:
    """A table's rows, row 0 first."""
    return [int(bit == "1") for bit in reversed(init.zfill(ROWS)[-ROWS:])]


def assignments(variables: tuple[Bit, ...]) -> Iterator[dict[Bit, int]]:
    """All values of some variables, the first one changing fastest."""
    for values in product((0, 1), repeat=len(variables)):
        yield dict(zip(variables, reversed(values), strict=True))


def row_of(pins: Iterable[Bit], values: Mapping[Bit, int]) -> int:
    """The row of a table at whose pins these values are."""
    return sum((values[bit] if bit in values else CONSTANTS[bit]) << index for index, bit in enumerate(pins))


def _replaced(
    module: Mapping[str, Any], kind: str, by: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    cells = {name: by(cell) if cell["type"] == kind else cell for name, cell in module["cells"].items()}
    return {**module, "cells": cells}


def _known(cell: Mapping[str, Any]) -> dict[str, Any]:
    pins = cell["connections"]
    parameters = {
        "WIDTH": f"{len(INPUTS):b}".zfill(_PARAMETER_BITS),
        "LUT": cell["parameters"]["INIT"].replace("x", "0").zfill(ROWS),
    }
    inputs = [pins[pin][0] if pins.get(pin) else "0" for pin in INPUTS]
    return make_cell(TABLE, parameters, {"A": inputs}, {"Y": pins[OUTPUT]})


def _lut4(cell: Mapping[str, Any]) -> dict[str, Any]:
    pins = cell["connections"]
    rows = 1 << len(pins["A"])
    table = cell["parameters"]["LUT"].replace("x", "0").zfill(rows)[-rows:]
    return make_lut4(table * (ROWS // rows), dict(zip(INPUTS, pins["A"], strict=False)), pins["Y"][0])
