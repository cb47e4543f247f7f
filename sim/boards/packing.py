"""What turns a routed FPGA into what it is loaded with."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from ctm.sim.compiled.tools.package import APYCULA, FPGA_NEXTPNR, Package
from ctm.sim.synthesis.tool import command
from ctm.sim.synthesis.whole import FREQUENCY


@dataclass(frozen=True, kw_only=True)
class Packing:
    """Files in nextpnr's folder: of its `constraints`, and of the `bitstream` that `command` makes.

    `options` are nextpnr's for both. `packages` bring the packer, which errors call `name`. `mapped_for` is the clock
    in MHz that cells are mapped for, `settings` are nextpnr's that have no option.
    """

    constraints: str
    options: tuple[str, ...]
    name: str
    packages: tuple[Package, ...]
    command: tuple[str, ...]
    bitstream: str
    mapped_for: float
    settings: Mapping[str, float] = field(default_factory=dict)


_PATIENT: Mapping[str, float] = {
    # Tiles around what a net connects, in which a way for it is looked for; by itself nextpnr takes 3.
    "router2/bbMargin/x": 8,
    "router2/bbMargin/y": 8,
    # Below 1 the search looks further for the shortest way, of which there are 1.5 % less of all wires (1.25).
    "router2/estimateWeight": 0.8,
    # What a wire costs more that is wanted twice: by so much more each time (2), and for ever where it was so (1).
    # Grown slowly, and soon forgotten, it lets nets come back to where they have gone from.
    "router2/currCongWeightMult": 1.2,
    "router2/histCongWeight": 0.25,
}
"""Settings of nextpnr's second router with which a full FPGA is routed, and what it takes by itself."""
ECP5 = Packing(
    constraints="board.lpf",
    options=(
        *("--no-tmdriv", "--placer-heap-alpha", "0.05", "--router", "router2"),
        *("--lpf", "board.lpf", "--textcfg", "board.config"),
    ),
    name="ecppack",
    packages=(FPGA_NEXTPNR,),
    command=(
        *command(FPGA_NEXTPNR, "run_ecppack"),
        *("--compress", "--input", "board.config", "--bit", "board.bit"),
    ),
    bitstream="board.bit",
    # Wires are what a machine has too few of, not time: few cells.
    mapped_for=25.0,
    settings=_PATIENT,
)
GW5AST_138 = Packing(
    constraints="board.cst",
    # Without the option the only buffer of clocks is the oscillator's, of which two flip-flops have need.
    options=("--vopt", "cst=board.cst", "--vopt", "disable_gp_clock_routing", "--write", "routed.json"),
    name="gowin_pack",
    packages=(APYCULA,),
    command=(
        *(sys.executable, "-m", "ctm.sim.boards.gowin_packer"),
        *("-d", "GW5AST-138C", "-o", "board.fs", "routed.json"),
    ),
    bitstream="board.fs",
    # What is faster than the board's clock is also routed more easily.
    mapped_for=FREQUENCY,
)
