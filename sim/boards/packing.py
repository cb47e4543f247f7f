"""Converts a routed FPGA to a bitstream."""

import sys
from dataclasses import dataclass

from ctm.sim.compiled.tools.package import APYCULA, FPGA_NEXTPNR, Package
from ctm.sim.synthesis.placing import ROUTED
from ctm.sim.synthesis.tool import command


@dataclass(frozen=True, kw_only=True)
class Packing:
    """Files in nextpnr's folder: of its `constraints`, and of the `bitstream` that `command` makes.

    `options` are nextpnr's for both. `packages` bring the packer, which errors call `name`.
    """

    constraints: str
    options: tuple[str, ...]
    name: str
    packages: tuple[Package, ...]
    command: tuple[str, ...]
    bitstream: str


ECP5 = Packing(
    constraints="board.lpf",
    options=("--lpf", "board.lpf", "--textcfg", "board.config"),
    name="ecppack",
    packages=(FPGA_NEXTPNR,),
    command=(
        *command(FPGA_NEXTPNR, "run_ecppack"),
        *("--compress", "--input", "board.config", "--bit", "board.bit"),
    ),
    bitstream="board.bit",
)
GW5AST_138 = Packing(
    constraints="board.cst",
    # Without the option the only buffer of clocks is the oscillator's, of which two flip-flops have need.
    options=("--vopt", "cst=board.cst", "--vopt", "disable_gp_clock_routing"),
    name="gowin_pack",
    packages=(APYCULA,),
    command=(
        *(sys.executable, "-m", "ctm.sim.boards.gowin_packer"),
        *("-d", "GW5AST-138C", "-o", "board.fs", ROUTED),
    ),
    bitstream="board.fs",
)
