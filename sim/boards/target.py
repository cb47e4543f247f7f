"""Boards: what each of them is made of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ctm.rtl.board.clock import ecp5_clocks, ecp5_frequency, gowin_clocks, gowin_frequency
from ctm.rtl.board.top import BoardResources
from ctm.sim.boards import packing
from ctm.sim.boards.packing import Packing
from ctm.sim.boards.tang_mega_138k import TangMega138kPlatform
from ctm.sim.compiled.tools.package import BOARDS, Package


@dataclass(frozen=True, kw_only=True)
class Target:
    """A board with serial line and memory.

    `top` is the module of all, `platform` makes Amaranth's description of the board, `device` is one of `DEVICES`,
    `packing` makes a bitstream of it. `preset` is its default machine, `usual` its default clock in Hz where that is
    not the oscillator's. ``frequency(wanted, oscillator)`` is its clock in Hz, or raises `ValueError`. `loads` says how
    a bitstream is loaded. `packages` are those that know the board. `input_cycles` is by how many clock cycles words
    come later from the registers at the memory's data pins than from those of an ECP5.
    """

    top: str
    platform: Callable[[], Any]
    resources: BoardResources
    device: str
    packing: Packing
    preset: str
    frequency: Callable[[int | None, int], int]
    loads: str
    packages: tuple[Package, ...] = ()
    usual: int | None = None
    input_cycles: int = 0

    @property
    def oscillator(self) -> int:
        """The frequency of the board's oscillator in Hz; errors as `clock` has where a package is missing."""
        return int(self.platform().default_clk_frequency)

    def clock(self, wanted: int | None) -> int:
        """The clock of the board in Hz: its own, or the one that is wanted.

        Raises
        ------
        ToolchainError
            A package that knows the board is missing.
        ValueError
            The board cannot have this clock.
        """
        return self.frequency(self.usual if wanted is None else wanted, self.oscillator)


def _ulx3s() -> Any:
    BOARDS.require()
    from amaranth_boards.ulx3s import ULX3S_85F_Platform

    return ULX3S_85F_Platform()


ULX3S = Target(
    top="ulx3s",
    platform=_ulx3s,
    resources=BoardResources(clocks=ecp5_clocks, button="button_fire", led="led"),
    device="85k",
    packing=packing.ECP5,
    preset="compact",
    # Routing reaches 44.3 MHz: a tenth is to spare, so that the first seed will do.
    usual=40_000_000,
    frequency=ecp5_frequency,
    loads="openFPGALoader -b ulx3s",
    packages=(BOARDS,),
)
TANG_MEGA_138K = Target(
    top="tang_mega_138k",
    platform=TangMega138kPlatform,
    resources=BoardResources(clocks=gowin_clocks, button="button"),
    device="gw5ast138",
    packing=packing.GW5AST_138,
    preset="small",
    frequency=gowin_frequency,
    loads="openFPGALoader -b tangmega138k",
    input_cycles=1,
)
TARGETS = {"ulx3s": ULX3S, "tang-mega-138k": TANG_MEGA_138K}
"""The boards by the names that users give them."""
