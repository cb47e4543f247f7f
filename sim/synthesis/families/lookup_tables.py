"""LUT4s as lookup tables that Yosys knows and can optimise, and back."""

from collections.abc import Callable, Mapping
from typing import Any

from ctm.sim.synthesis.families.netlist import make_cell

LUT = "LUT4"
INPUTS = ("A", "B", "C", "D")
OUTPUT = "Z"
TABLE = "$lut"
_ROWS = 1 << len(INPUTS)
_PARAMETER_BITS = 32


def with_known_tables(module: Mapping[str, Any]) -> dict[str, Any]:
    """A module as Yosys writes it, with a lookup table of Yosys's own for each LUT4."""
    return _replaced(module, LUT, _known)


def with_lut4s(module: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse; tables of fewer inputs are LUT4s, too."""
    return _replaced(module, TABLE, _lut4)


def make_lut4(init: str, inputs: Mapping[str, Any], output: int) -> dict[str, Any]:
    """A LUT4 with these contents, the row of ones first; pins that are not named are 0."""
    pins = {pin: [inputs.get(pin, "0")] for pin in INPUTS}
    return make_cell(LUT, {"INIT": init}, pins, {OUTPUT: [output]})


def _replaced(
    module: Mapping[str, Any], kind: str, by: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    cells = {name: by(cell) if cell["type"] == kind else cell for name, cell in module["cells"].items()}
    return {**module, "cells": cells}


def _known(cell: Mapping[str, Any]) -> dict[str, Any]:
    pins = cell["connections"]
    parameters = {
        "WIDTH": f"{len(INPUTS):b}".zfill(_PARAMETER_BITS),
        "LUT": cell["parameters"]["INIT"].replace("x", "0").zfill(_ROWS),
    }
    inputs = [pins[pin][0] if pins.get(pin) else "0" for pin in INPUTS]
    return make_cell(TABLE, parameters, {"A": inputs}, {"Y": pins[OUTPUT]})


def _lut4(cell: Mapping[str, Any]) -> dict[str, Any]:
    pins = cell["connections"]
    rows = 1 << len(pins["A"])
    table = cell["parameters"]["LUT"].replace("x", "0").zfill(rows)[-rows:]
    return make_lut4(table * (_ROWS // rows), dict(zip(INPUTS, pins["A"], strict=False)), pins["Y"][0])
