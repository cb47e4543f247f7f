"""What synthesis has to know of a family of FPGAs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ctm.sim.synthesis.cells import Cells


@dataclass(frozen=True, kw_only=True)
class Family:
    """FPGAs of the same cells.

    `kinds` are the fields of `Cells`, and what people call one of each. `mapped` are Yosys's commands from modules of
    which one is the top to cells, where a path may take so many picoseconds; `mapped_otherwise` are the same with ABC
    in place of ABC9, which ends without a word in some units of many registers and little logic. `files` are what both
    read, by their names; `counted` are the cells of a number of each type. `placeable` is a module of the netlist as
    nextpnr can deal with it, if it knows the family at all, with the same function.
    """

    kinds: Mapping[str, str]
    mapped: Callable[[str, int], str]
    mapped_otherwise: Callable[[str], str]
    counted: Callable[[Mapping[str, int]], Cells]
    placeable: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
    files: tuple[str, ...] = ()


def together(types: Mapping[str, int], places: Mapping[str, int]) -> int:
    """Of cells of these types, each so many places, all together."""
    return sum(types.get(name, 0) * each for name, each in places.items())
