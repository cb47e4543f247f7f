"""Netlists in which no constant needs a wire.

nextpnr gives each constant that a cell cannot be told one driver on the whole FPGA, and wires from there to all cells;
in a machine these are thousands, the longest there are. It leaves pins of LUT4s and ones at carry cells alone.
"""

from collections.abc import Mapping
from itertools import count
from typing import Any

from ctm.sim.synthesis.families.lookup_tables import INPUTS, make_lut4
from ctm.sim.synthesis.families.netlist import OPEN, make_cell, nets, with_pins

_CONSTANTS = ("0", "1")
_CARRY_INPUTS = tuple(f"{name}{half}" for half in (0, 1) for name in INPUTS)
_GENERATES = {"0": "0" * 16, "1": "1000".zfill(16)}
"""A half of a carry cell with all inputs 1 whose carry is this, whatever comes in: it does not propagate."""
_PROPAGATES = "1" * 16
_RAM_BITS = 64


def without_wired_constants(module: Mapping[str, Any]) -> dict[str, Any]:
    """A module as Yosys writes it, with the same function and constants where they need no wire.

    * Rows of distributed memory that are not used: bits of the address that are the same for reads and writes stay
      open at both.
    * Carries that begin with a constant: the cell that nextpnr would put there, made without inputs.
    * Flip-flops that take a constant: a LUT4 of their own, which shares their site.
    """
    cells: dict[str, Any] = {}
    bits = count(1 + max(nets(module), default=1))
    for name, cell in module["cells"].items():
        pins = cell["connections"]
        match cell["type"]:
            case "TRELLIS_DPR16X4" if "1" not in cell["parameters"].get("INITVAL", ""):
                # Other rows than before may be in use, and rows that were not are unknown at first.
                cell = with_pins(cell, _rows(pins["RAD"], pins["WAD"]))
                cell["parameters"] = {**cell["parameters"], "INITVAL": "0" * _RAM_BITS}
            case "CCU2C" if pins["CIN"][0] in _CONSTANTS:
                carry = next(bits)
                cells[f"{name}_begin"] = _beginning(pins["CIN"][0], carry)
                cell = with_pins(cell, {"CIN": [carry]})
            case "TRELLIS_FF" if pins["DI"][0] in _CONSTANTS:
                constant = next(bits)
                cells[f"{name}_constant"] = _constant(pins["DI"][0], constant)
                cell = with_pins(cell, {"DI": [constant]})
        cells[name] = cell
    return {**module, "cells": cells}


def _rows(read: list[Any], write: list[Any]) -> dict[str, Any]:
    """Addresses of a memory of zeros, open where both are the same constant."""
    same = [one in _CONSTANTS and one == other for one, other in zip(read, write, strict=True)]
    return {
        name: [OPEN if is_same else bit for bit, is_same in zip(address, same, strict=True)]
        for name, address in (("RAD", read), ("WAD", write))
    }


def _beginning(constant: str, carry: int) -> dict[str, Any]:
    outputs = {"COUT": [carry]}
    inputs = {name: ["1"] for name in _CARRY_INPUTS} | {"CIN": [OPEN]}
    parameters = {"INIT0": _GENERATES[constant], "INIT1": _PROPAGATES, "INJECT1_0": "NO", "INJECT1_1": "NO"}
    return make_cell("CCU2C", parameters, inputs, outputs)


def _constant(constant: str, bit: int) -> dict[str, Any]:
    return make_lut4(constant * 16, dict.fromkeys(INPUTS, OPEN), bit)
