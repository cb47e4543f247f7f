"""From a board's design to what its FPGA is loaded with: by Yosys, nextpnr and a packer, all from Python packages."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

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
from ctm.sim.synthesis.placing import place
from ctm.sim.synthesis.report import Placement
from ctm.sim.synthesis.synthesis import Synthesis
from ctm.sim.synthesis.tool import command, side_by_side

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
    """Refuse to begin where a package for a board is missing, as `Package.require` does."""
    for package in (*target.packages, LITEDRAM, FPGA_YOSYS, _nextpnr(target).package, *target.packing.packages):
        package.require()


def _nextpnr(target: Target) -> Nextpnr:
    found = DEVICES[target.device].nextpnr
    assert found is not None, "a board's FPGA can be placed"
    return found


def bitstream(
    design: Design,
    *,
    seed: int,
    folder: Path,
    allow_slow: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> Bitstream:
    """Synthesise a design unit by unit, place and route it, and pack what comes out.

    `folder` keeps what the tools write. `progress` is told what is being done; it takes an hour or more.

    Raises
    ------
    BitstreamError
        The FPGA is too small, or the clock is slower than the board's, unless `allow_slow`.
    ToolchainError
        A tool is missing or failed, as nextpnr does where it finds no way for a net.
    """
    target = design.target
    require_packages(target)
    device, packing = DEVICES[target.device], target.packing
    family = device.family
    wanted = design.frequency / HERTZ
    with side_by_side() as tools:
        parts = [*units(design.board, BOARD), _controller(design, folder)]
        boxes = "".join(part.box for part in parts if part.top in (BOARD, CONTROLLER))
        parts.append(Unit(module=f"\\{target.top}", count=1, text=design.pins.text + boxes))
        synthesis = Synthesis(folder, tools, packing.mapped_for, family)
        found = zip(parts, synthesis.run(parts, progress), strict=True)
        cells = sum((each * part.count for part, each in found), Cells())
        if missing := cells.lacks(device.room):
            lacking = " and ".join(f"{count} {family.kinds[kind]}" for kind, count in missing.items())
            raise BitstreamError(f"the board's FPGA is too small: {lacking} too many")
        write_file(folder / packing.constraints, design.pins.constraints.encode())
        placement = place(
            synthesis.netlist(target.top), target.top, nextpnr=_nextpnr(target), frequency=wanted, seed=seed,
            folder=folder, progress=progress, options=packing.options,
        )  # fmt: skip
    reached = placement.frequency
    if reached < wanted and not allow_slow:
        raise BitstreamError(
            f"with seed {seed} the clock is {wanted - reached:.2f} MHz too slow: {reached:.2f} of "
            f"{wanted:g} MHz; try another --seed, a lower --frequency, or take it with --allow-slow"
        )
    progress("packing")
    run(list(packing.command), folder, name=packing.name)
    content = (folder / packing.bitstream).read_bytes()
    return Bitstream(content=content, cells=cells, wanted=wanted, placement=placement)


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
