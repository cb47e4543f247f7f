"""A Sipeed Tang Mega 138K in its Neo dock, with Sipeed's SDRAM module in connector J13, as Amaranth sees boards.

amaranth-boards does not have it. Sources: Sipeed's schematics of board, dock and module.
"""

from typing import Any

from amaranth.build import Attrs, Clock, Pins, PinsN, Resource, Subsignal
from amaranth.vendor import GowinPlatform

_LEVELS = Attrs(IO_TYPE="LVCMOS33")


class TangMega138kPlatform(GowinPlatform):
    """The resources of the board that are used; the module holds its chip's clock enable at 1."""

    part = "GW5AST-LV138PG484AC1/I0"
    family = "GW5AST-138C"
    default_clk: Any = "clk50"
    resources: Any = [
        Resource("clk50", 0, Pins("V22", dir="i"), Clock(50e6), _LEVELS),
        Resource("button", 0, PinsN("AA13", dir="i"), Attrs(IO_TYPE="LVCMOS33", PULL_MODE="UP")),
        Resource("uart", 0, Subsignal("rx", Pins("V14", dir="i")), Subsignal("tx", Pins("U15", dir="o")), _LEVELS),
        Resource(
            "sdram",
            0,
            Subsignal("clk", Pins("B17", dir="o")),
            Subsignal("a", Pins("D19 E19 C19 C18 E16 D15 D14 A19 A18 C17 D20 D17 B18", dir="o")),
            Subsignal("ba", Pins("F15 C20", dir="o")),
            Subsignal("cs", PinsN("F19", dir="o")),
            Subsignal("ras", PinsN("F16", dir="o")),
            Subsignal("cas", PinsN("E17", dir="o")),
            Subsignal("we", PinsN("D16", dir="o")),
            Subsignal("dqm", Pins("F14 F13", dir="o")),
            Subsignal("dq", Pins("E14 E13 C15 C14 B13 C13 A14 A13 B21 A21 B20 A20 A15 A16 B15 B16", dir="io")),
            _LEVELS,
        ),
    ]
    connectors: Any = []

    def parse_part(self) -> None:
        """Take the part number as it is: Amaranth can compose those of older series only."""
        self.series = "GW5AST"
