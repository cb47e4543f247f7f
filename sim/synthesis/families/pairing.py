"""Netlists for an FPGA of Gowin's in which each flip-flop has a LUT of its own in front of it.

A flip-flop shares its site with a LUT, and takes what comes from there. nextpnr puts a pair of both where it likes,
but one alone where a LUT is free, for which it looks when all LUTs have been placed: in a machine it never ends.
"""

from collections.abc import Mapping
from itertools import count
from typing import Any

from ctm.sim.synthesis.families.netlist import OPEN, make_cell, nets, with_pins

FLIP_FLOPS = ("DFFRE", "DFFSE", "DFFCE", "DFFPE")
_PASSES = "10"
_LUT = "LUT"


def with_paired_flip_flops(module: Mapping[str, Any]) -> dict[str, Any]:
    """A module as Yosys writes it, with the same function: a LUT that passes its input where there was none to pair."""
    cells: dict[str, Any] = {}
    bits = count(1 + max(nets(module), default=1))
    free = {
        bit for cell in module["cells"].values() if cell["type"].startswith(_LUT) for bit in cell["connections"]["F"]
    }
    for name, cell in module["cells"].items():
        if cell["type"] in FLIP_FLOPS:
            (given,) = cell["connections"]["D"]
            if given in free:
                free.remove(given)
            else:
                passed = next(bits)
                cells[f"{name}_passed"] = _lut(given, passed)
                cell = with_pins(cell, {"D": [passed]})
        cells[name] = cell
    return {**module, "cells": cells}


def _lut(given: int | str, passed: int) -> dict[str, Any]:
    """A LUT that gives what it takes, or a constant."""
    init, pin = (given * 2, OPEN) if isinstance(given, str) else (_PASSES, given)
    return make_cell("LUT1", {"INIT": init}, {"I0": [pin]}, {"F": [passed]})
