"""A family of FPGAs, as synthesis sees it."""

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
    become one. `known` replaces a module's cells by Yosys's own where these do the same, `cells` is its inverse.
    """

    libraries: tuple[str, ...]
    merged: tuple[str, ...]
    known: Callable[[Mapping[str, Any]], dict[str, Any]]
    cells: Callable[[Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Family:
    """FPGAs of the same cells.

    `kinds` are the fields of `Cells` with their common names; `sites` has, for each of them, the types of a netlist's
    cells and how many sites one takes. ``mapped(top, delay)`` gives Yosys's commands from modules to cells, for paths
    of `delay` picoseconds. ``mapped_otherwise(top)`` gives the same with ABC, because ABC9 fails silently in some units
    of many registers and little logic. ``improved(netlist)`` has the same function and fewer cells. `files` are names
    of the files that both read. `joining` says how the units of a design become one netlist; without it nextpnr links
    them. ``placeable(module)`` has the same function in a form that nextpnr accepts. `has_levels` says whether
    `sim/synthesis/levels` supports the cells.
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
        """The sites that a netlist takes; `types` has the number of its cells of each type."""
        return Cells(
            **{kind: ceil(sum(types.get(name, 0) * each for name, each in self.sites[kind].items())) for kind in KINDS}
        )
