"""Units synthesised one by one, as many in parallel as there are tools."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from ctm.sim.compiled.tools.package import FPGA_YOSYS
from ctm.sim.compiled.tools.programs import Result, Tools, check
from ctm.sim.files import write_file
from ctm.sim.synthesis.cells import Cells
from ctm.sim.synthesis.families.ecp5 import ECP5
from ctm.sim.synthesis.families.family import Family
from ctm.sim.synthesis.hierarchy import Unit
from ctm.sim.synthesis.joining import join
from ctm.sim.synthesis.levels.paths import most_levels
from ctm.sim.synthesis.tool import command, read_json

_LOGIC_SHARE = 0.5
"""The share of a clock's period for logic; routing takes the other half."""
_DEEP = 9
"""Levels beyond which a unit is mapped once more, for faster paths.

ABC9 counts a LUT as if it took no wire, so of what it maps for half a period of 60 MHz paths have up to 18 levels.
"""
_FAST = (4000, 4700)
"""Picoseconds of a path in a unit that is mapped for speed: hardly any can be faster, and mostly nine levels."""
_PICOSECONDS = 1_000_000
"""In a period of 1 MHz."""
_NETLIST = "netlist.json"


@dataclass(frozen=True, kw_only=True)
class _Mapped:
    """A unit's netlist: the folder that has it, its cells and its levels."""

    folder: Path
    cells: Cells
    levels: int

    def rank(self) -> tuple[int, int]:
        """Smaller for a better netlist."""
        return max(self.levels, _DEEP), self.cells.luts


class Synthesis:
    """Synthesises units, each in a folder of its own; `frequency` is the target clock in MHz."""

    def __init__(self, folder: Path, tools: Tools, frequency: float, family: Family = ECP5) -> None:
        self._folder, self._tools, self._family = folder, tools, family
        self._delay = round(_PICOSECONDS / frequency * _LOGIC_SHARE)
        files = resources.files("ctm.sim.synthesis.families")
        self._files = {name: files.joinpath(name).read_bytes() for name in family.files}
        self._netlists: list[tuple[Unit, Path]] = []

    def modules(self) -> dict[str, Mapping[str, Any]]:
        """The netlists of all units so far, by the names of their modules."""
        return {unit.top: read_json(file)["modules"][unit.top] for unit, file in self._netlists}

    def netlist(self, top: str) -> dict[str, Mapping[str, Any]]:
        """The netlist of a design of all units so far, of which `top` is one, in a form that nextpnr reads.

        Modules by their names: `top` alone, if the family's units can be joined.

        Raises
        ------
        ToolchainError
            Yosys failed.
        """
        modules = self.modules()
        if self._family.joining is not None:
            joined = join(modules, top, joining=self._family.joining, folder=self._folder, tools=self._tools)
            modules = {top: joined}
        return {name: self._family.placeable(module) for name, module in modules.items()}

    def run(self, units: Sequence[Unit], progress: Callable[[str], None]) -> Iterator[Cells]:
        """Synthesise units in parallel; the cells of each, in their order.

        A unit with deep logic is mapped again for speed. Of its netlists the one with the fewest levels is kept, and of
        those, or of those with few, the one with the fewest LUTs.

        Raises
        ------
        ToolchainError
            Yosys failed.
        """
        first = len(self._netlists)
        folders = [self._folder / str(first + number) for number in range(len(units))]
        runs = [self._start(unit, folder, self._delay) for unit, folder in zip(units, folders, strict=True)]
        found: list[list[_Mapped]] = []
        faster: list[list[tuple[Path, Future[Result]]]] = []
        for number, (unit, folder, run) in enumerate(zip(units, folders, runs, strict=True)):
            progress(f"{unit.name}, {number + 1} of {len(runs)}")
            mapped = self._finish(unit, folder, run)
            found.append([mapped])
            faster.append(self._start_faster(unit, folder) if mapped.levels > _DEEP else [])
        for unit, netlists, again in zip(units, found, faster, strict=True):
            for folder, run in again:
                progress(f"{unit.name}, for speed")
                netlists.append(self._finish(unit, folder, run))
            best = min(netlists, key=_Mapped.rank)
            self._netlists.append((unit, best.folder / _NETLIST))
            yield best.cells

    def _start(self, unit: Unit, folder: Path, delay: int) -> Future[Result]:
        folder.mkdir()
        for name, content in (("unit.il", unit.text.encode()), *self._files.items()):
            write_file(folder / name, content)
        return self._tools.start(_yosys(unit, self._family.mapped(unit.top, delay)), folder)

    def _start_faster(self, unit: Unit, folder: Path) -> list[tuple[Path, Future[Result]]]:
        folders = {delay: folder / str(delay) for delay in _FAST if delay < self._delay}
        return [(own, self._start(unit, own, delay)) for delay, own in folders.items()]

    def _finish(self, unit: Unit, folder: Path, run: Future[Result]) -> "_Mapped":
        """What a run gives once it has ended; if it failed, another run without ABC9."""
        if run.result().returncode:
            run = self._tools.start(_yosys(unit, self._family.mapped_otherwise(unit.top)), folder)
            check(run.result(), FPGA_YOSYS.distribution)
        if self._family.improved is not None:
            types = _improved(self._family.improved, unit, folder / _NETLIST)
        else:
            types = Counter(read_json(folder / "stat.json")["modules"][unit.module].get("num_cells_by_type", {}))
        return _Mapped(folder=folder, cells=self._family.counted(types), levels=self._levels(unit, folder))

    def _levels(self, unit: Unit, folder: Path) -> int:
        """The most levels of a unit by itself; 0 in a family without levels."""
        if not self._family.has_levels:
            return 0
        return most_levels(read_json(folder / _NETLIST)["modules"], unit.top)


def _yosys(unit: Unit, mapped: str) -> list[str]:
    """The command of Yosys that writes counts and a netlist, without boxes, some of which JSON cannot hold."""
    written = f"tee -q -o stat.json stat -json; select {unit.top}; write_json -selected {_NETLIST}"
    return command(FPGA_YOSYS, "run_yosys", "-q", "-p", f"read_rtlil unit.il; {mapped}; {written}")


def _improved(improve: Callable[[Mapping[str, Any]], dict[str, Any]], unit: Unit, file: Path) -> Counter[str]:
    """Improve a netlist; how many cells of each type it then has."""
    netlist = read_json(file)
    module = improve(netlist["modules"][unit.top])
    write_file(file, json.dumps({**netlist, "modules": {unit.top: module}}).encode())
    return Counter(cell["type"] for cell in module["cells"].values())
