"""From a board's design to what its FPGA is loaded with: by Yosys, nextpnr and a packer, all from Python packages."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from ctm.rtl.board.top import BOARD, CONTROLLER
from ctm.sim.boards.design import Design
from ctm.sim.boards.target import Target
from ctm.sim.compiled.tools.package import FPGA_YOSYS, LITEDRAM
from ctm.sim.compiled.tools.programs import run
from ctm.sim.files import write_file
from ctm.sim.synthesis.cells import Cells
from ctm.sim.synthesis.devices import DEVICES, Nextpnr
from ctm.sim.synthesis.families.ecp5 import ECP5
from ctm.sim.synthesis.hierarchy import Unit, units
from ctm.sim.synthesis.placing import Placer, UnroutedError
from ctm.sim.synthesis.report import Placement
from ctm.sim.synthesis.synthesis import Synthesis
from ctm.sim.synthesis.tool import command, side_by_side
from ctm.sim.synthesis.whole import FREQUENCY

_VERILOG, _RTLIL = "controller.v", "controller.il"
_CELLS = "lattice_cells.v"
HERTZ = 1_000_000
"""In a MHz."""


class BitstreamError(Exception):
    """The design cannot be had on the board; the message says by how much."""


@dataclass(frozen=True, kw_only=True)
class Bitstream:
    """What an FPGA is loaded with, the cells that are used, the clock that was wanted, in MHz, and what came out."""

    content: bytes
    cells: Cells
    wanted: float
    placement: Placement


def require_packages(target: Target) -> None:
    """Raise an error if a package for a board is missing, as `Package.require` does."""
    for package in (*target.packages, LITEDRAM, FPGA_YOSYS, _nextpnr(target).package, *target.packing.packages):
        package.require()


def _nextpnr(target: Target) -> Nextpnr:
    found = DEVICES[target.device].nextpnr
    assert found is not None, "a board's FPGA can be placed"
    return found


def bitstream(
    design: Design,
    *,
    seeds: Iterable[int],
    folder: Path,
    allow_slow: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> Bitstream:
    """Synthesise a design unit by unit, place and route it, and pack the result.

    A placement is the first of `seeds` that can be routed without hold violations and has the board's clock, with
    `allow_slow` any clock. `folder` keeps the tools' files. `progress` is called with the title of each step; all take
    half an hour or more.

    Raises
    ------
    BitstreamError
        The FPGA is too small, or no seed does.
    ToolchainError
        A tool is missing or failed.
    """
    target = design.target
    require_packages(target)
    device, packing = DEVICES[target.device], target.packing
    family = device.family
    wanted = design.frequency / HERTZ
    with side_by_side() as tools:
        design_units = [*units(design.board, BOARD), _controller(design, folder)]
        boxes = "".join(unit.box for unit in design_units if unit.top in (BOARD, CONTROLLER))
        design_units.append(Unit(module=f"\\{target.top}", count=1, text=design.pins.text + boxes))
        synthesis = Synthesis(folder, tools, FREQUENCY, family)
        found = zip(design_units, synthesis.run(design_units, progress), strict=True)
        cells = sum((each * unit.count for unit, each in found), Cells())
        if missing := cells.lacks(device.capacity):
            lacking = " and ".join(f"{count} {family.kinds[kind]}" for kind, count in missing.items())
            raise BitstreamError(f"the board's FPGA is too small: {lacking} too many")
        netlist = synthesis.netlist(target.top)
    write_file(folder / packing.constraints, design.pins.constraints.encode())
    placement = placed(design, netlist, seeds, folder, 0.0 if allow_slow else wanted, progress)
    progress("packing")
    run(list(packing.command), folder, name=packing.name)
    content = (folder / packing.bitstream).read_bytes()
    return Bitstream(content=content, cells=cells, wanted=wanted, placement=placement)


def placed(
    design: Design,
    netlist: Mapping[str, Mapping[str, Any]],
    seeds: Iterable[int],
    folder: Path,
    slowest: float,
    progress: Callable[[str], None],
) -> Placement:
    """The placement by the first seed that is routed with a clock of at least `slowest`, in MHz, and no hold violation.

    Raises
    ------
    BitstreamError
        None is; the message says why of each.
    """
    target, wanted = design.target, design.frequency / HERTZ
    options = (*target.packing.options, *(target.packing.divided if design.is_divided else ()))
    placer = Placer(nextpnr=_nextpnr(target), frequency=wanted, folder=folder, progress=progress, options=options)
    failures = []
    for seed in seeds:
        try:
            found = placer.place(placer.with_sites(netlist, target.top, seed), target.top, seed)
        except UnroutedError as error:
            failures.append(f"with seed {seed} {error}")
            continue
        reached = found.frequency
        if found.hold_violations:
            failures.append(f"with seed {seed} {found.hold_violations} paths are too short at any clock (hold time)")
        elif reached >= slowest:
            return found
        else:
            failures.append(
                f"with seed {seed} the clock is {wanted - reached:.2f} MHz too slow: {reached:.2f} of {wanted:g} MHz"
            )
    reasons = "\n".join(failures)
    raise BitstreamError(f"{reasons}\ntry another --seed, a lower --frequency, or take a slow one with --allow-slow")


def _controller(design: Design, folder: Path) -> Unit:
    """The memory controller as a unit.

    Its pins are cells of an ECP5, for which LiteDRAM writes it: elsewhere what they do is made of what is there.
    """
    write_file(folder / _VERILOG, design.controller.encode())
    read = f"read_verilog {_VERILOG}"
    if DEVICES[design.target.device].family is not ECP5:
        write_file(folder / _CELLS, resources.files("ctm.sim.boards").joinpath(_CELLS).read_bytes())
        read = f"{read} {_CELLS}; hierarchy -top {CONTROLLER}; proc; flatten"
    script = f"{read}; proc; opt_clean; write_rtlil {_RTLIL}"
    run(command(FPGA_YOSYS, "run_yosys", "-q", "-p", script), folder, name=FPGA_YOSYS.distribution)
    return Unit(module=f"\\{CONTROLLER}", count=1, text=(folder / _RTLIL).read_text())
