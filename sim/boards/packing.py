"""Converts a routed FPGA to a bitstream."""

import sys
from dataclasses import dataclass

from ctm.sim.compiled.tools.package import APYCULA, FPGA_NEXTPNR, Package
from ctm.sim.synthesis.placing import ROUTED
from ctm.sim.synthesis.tool import command


@dataclass(frozen=True, kw_only=True)
class Packing:
    """Files in nextpnr's folder: of its `constraints`, and of the `bitstream` that `command` makes.

    `options` are nextpnr's for both, `divided` more of them for a clock that is not the oscillator's. `packages` bring
    the packer, which errors call `name`.
    """

    constraints: str
    options: tuple[str, ...]
    name: str
    packages: tuple[Package, ...]
    command: tuple[str, ...]
    bitstream: str
    divided: tuple[str, ...] = ()


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
    options=("--vopt", "cst=board.cst"),
    # A clock that flip-flops divide has a buffer only with this option, and the oscillator's only without it: a clock
    # that general wires carry arrives at neighbours up to 4 ns apart.
    divided=("--vopt", "disable_gp_clock_routing"),
    name="gowin_pack",
    packages=(APYCULA,),
    command=(
        *(sys.executable, "-m", "ctm.sim.boards.gowin_packer"),
        *("-d", "GW5AST-138C", "-o", "board.fs", ROUTED),
    ),
    bitstream="board.fs",
)
