"""Modules of a netlist as Yosys writes them, and the cells that are in them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

Bit = int | str
"""A net by its number, or a constant."""
OPEN = "x"
"""A pin at which nothing is."""
ALONE = 2
"""Ends of a bit that one cell gives and one other takes."""


def nets(module: Mapping[str, Any]) -> set[int]:
    """The numbers of a module's nets."""
    lists = [port["bits"] for port in module["ports"].values()]
    lists += [bits for cell in module["cells"].values() for bits in cell["connections"].values()]
    return {bit for bits in lists for bit in bits if isinstance(bit, int)}


def ends(module: Mapping[str, Any]) -> Counter[Bit]:
    """At how many pins and ports of a module each bit is."""
    found = Counter(bit for port in module["ports"].values() for bit in port["bits"])
    for cell in module["cells"].values():
        found.update(bit for bits in cell["connections"].values() for bit in bits)
    return found


def make_cell(
    kind: str, parameters: Mapping[str, str], inputs: Mapping[str, Any], outputs: Mapping[str, Any]
) -> dict[str, Any]:
    """A cell with these pins."""
    directions = dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output")
    return {
        "hide_name": 1, "type": kind, "parameters": parameters, "attributes": {}, "port_directions": directions,
        "connections": {**inputs, **outputs},
    }  # fmt: skip


def with_pins(cell: Mapping[str, Any], pins: Mapping[str, Any]) -> dict[str, Any]:
    """A cell with something else at some of its pins."""
    return {**cell, "connections": {**cell["connections"], **pins}}
