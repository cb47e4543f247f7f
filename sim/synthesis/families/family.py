"""What synthesis has to know of a family of FPGAs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from ctm.sim.synthesis.cells import KINDS, Cells


@dataclass(frozen=True, kw_only=True)
class Joining:
    """How netlists of units become one module, in which Yosys optimises what lies across their borders.

    `libraries` are Yosys's files with the family's cells, `merged` the types of cells of which two that do the same may
    become one. `known` is a module with cells of Yosys's own where it has the same, `cells` the way back.
    """

    libraries: tuple[str, ...]
    merged: tuple[str, ...]
    known: Callable[[Mapping[str, Any]], dict[str, Any]]
    cells: Callable[[Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Family:
    """FPGAs of the same cells.

    `kinds` are the fields of `Cells`, and what people call one of each; `sites` are the types of cells that a
    netlist has of each, and how many one of them takes. `mapped` are Yosys's commands from modules of which one is
    the top to cells, where a path may take so many picoseconds; `mapped_otherwise` are the same with ABC in place of
    ABC9, which ends without a word in some units of many registers and little logic. `improved` is a unit's netlist
    with the same function and fewer cells, where Yosys leaves some that the family can do without. `files` are what
    both read, by their names. `joining` says how the units of a design become one netlist; without it nextpnr puts
    them together. `placeable` is a module of it as nextpnr can deal with it, if it knows the family at all, with the
    same function. `has_levels` says whether `sim/synthesis/levels` knows its cells.
    """

    kinds: Mapping[str, str]
    sites: Mapping[str, Mapping[str, int | Fraction]]
    mapped: Callable[[str, int], str]
    mapped_otherwise: Callable[[str], str]
    improved: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    joining: Joining | None = None
    placeable: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
    files: tuple[str, ...] = ()
    has_levels: bool = False

    def counted(self, types: Mapping[str, int]) -> Cells:
        """What a netlist of so many cells of each type takes."""
        return Cells(
            **{kind: ceil(sum(types.get(name, 0) * each for name, each in self.sites[kind].items())) for kind in KINDS}
        )
