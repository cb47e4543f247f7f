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
    settings: Mapping[str, int] = field(default_factory=dict)


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
    # Tiles around what a net connects, in which a way for it is looked for: by itself nextpnr takes 3.
    settings={"router2/bbMargin/x": 9, "router2/bbMargin/y": 9},
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
