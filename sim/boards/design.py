"""The design of a board, in the parts that tools take: pins, board and memory controller."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ctm.rtl.board.board import Board, bridge_config
from ctm.rtl.board.clock import check_frequency
from ctm.rtl.board.startup import Step
from ctm.rtl.board.ulx3s import BOARD, MEMORY_BYTES, Ulx3s
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.core_module import CoreInstance
from ctm.sim.boards.controller import generate
from ctm.sim.compiled.machine import rtlil
from ctm.sim.compiled.tools.package import BOARDS
from ctm.sim.compiled.verilog import without_collection

TOP = "ulx3s"


@dataclass(frozen=True, kw_only=True)
class Pins:
    """Module `TOP` in RTLIL, which names the modules behind it, and what nextpnr reads of pins and clock."""

    text: str
    constraints: str


@dataclass(frozen=True, kw_only=True)
class Design:
    """A board: its pins, what is behind them as RTLIL, the memory's controller as Verilog; the clock in Hz."""

    pins: Pins
    board: str
    controller: str
    frequency: int


def ulx3s(config: MachineConfig, *, baud: int, frequency: int | None = None) -> Design:
    """A ULX3S with an LFE5U-85F, and a serial line of so many bits per second; its clock is the oscillator's, or this.

    Raises
    ------
    ToolchainError
        amaranth-boards or LiteDRAM is missing or failed.
    ValueError
        The machine has more than one memory port; neither oscillator nor PLL gives the clock, or it not the line.
    """
    clock = oscillator() if frequency is None else check_frequency(frequency, oscillator())
    # What cannot be is refused before anything is made.
    bridge_config(config, frequency=clock, baud=baud, memory_bytes=MEMORY_BYTES)
    data_bits = config.memory.data_bits
    controller = generate(frequency=clock, data_bits=data_bits)
    board = Board(config, frequency=clock, baud=baud, memory_bytes=MEMORY_BYTES, core=CoreInstance)
    return Design(
        pins=pins(data_bits=data_bits, frequency=clock, steps=controller.steps), board=rtlil(board, config, BOARD),
        controller=controller.verilog, frequency=clock,
    )  # fmt: skip


def oscillator() -> int:
    """The frequency of the board's oscillator, in Hz; error if amaranth-boards is missing."""
    return int(_platform().default_clk_frequency)


def pins(*, data_bits: int, frequency: int, steps: Sequence[Step]) -> Pins:
    """The pins of a ULX3S; memory starts by `steps`. Error if amaranth-boards is missing."""
    with without_collection():
        plan = _platform().prepare(Ulx3s(data_bits=data_bits, frequency=frequency, steps=steps), TOP, emit_src=False)
    text, constraints = (plan.files[f"{TOP}.{kind}"] for kind in ("il", "lpf"))
    return Pins(text=text, constraints=constraints)


def _platform() -> Any:
    BOARDS.require()
    from amaranth_boards.ulx3s import ULX3S_85F_Platform

    return ULX3S_85F_Platform()
