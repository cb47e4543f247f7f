"""The design of a board in three modules: pins, board and memory controller."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctm.rtl.board.board import Board, bridge_config
from ctm.rtl.board.startup import Step
from ctm.rtl.board.top import BOARD, MEMORY_BYTES, Top
from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.core_module import CoreInstance
from ctm.sim.boards.controller import generate
from ctm.sim.boards.target import Target
from ctm.sim.compiled.machine import rtlil
from ctm.sim.compiled.verilog import without_collection


@dataclass(frozen=True, kw_only=True)
class Pins:
    """Module `Target.top` in RTLIL, which has all other modules, and nextpnr's constraints of pins and clock."""

    text: str
    constraints: str


@dataclass(frozen=True, kw_only=True)
class Design:
    """A board: its pins, the board's logic as RTLIL, the memory controller as Verilog; the clock in Hz."""

    target: Target
    pins: Pins
    board: str
    controller: str
    frequency: int

    @property
    def is_divided(self) -> bool:
        """Whether the clock is another one than the oscillator's."""
        return self.frequency != self.target.oscillator


def design(target: Target, config: MachineConfig, *, baud: int, frequency: int | None = None) -> Design:
    """A board with a machine, and a serial line of so many bits per second; its clock is the board's own, or this.

    Raises
    ------
    ToolchainError
        amaranth-boards or LiteDRAM is missing or failed.
    ValueError
        The machine has more than one memory port; the board cannot have this clock, or it not the line.
    """
    clock = target.clock(frequency)
    # Illegal settings are errors before anything is made.
    bridge_config(config, frequency=clock, baud=baud, memory_bytes=MEMORY_BYTES)
    data_bits = config.memory.data_bits
    controller = generate(frequency=clock, data_bits=data_bits, input_cycles=target.input_cycles)
    board = Board(config, frequency=clock, baud=baud, memory_bytes=MEMORY_BYTES, core=CoreInstance)
    return Design(
        target=target, pins=pins(target, data_bits=data_bits, frequency=clock, steps=controller.steps),
        board=rtlil(board, config, BOARD), controller=controller.verilog, frequency=clock,
    )  # fmt: skip


def pins(target: Target, *, data_bits: int, frequency: int, steps: Sequence[Step]) -> Pins:
    """The pins of a board; memory starts by `steps`. Error if amaranth-boards is missing."""
    with without_collection():
        top = Top(target.resources, data_bits=data_bits, frequency=frequency, steps=steps)
        plan = target.platform().prepare(top, target.top, emit_src=False)
    suffixes = (".il", Path(target.packing.constraints).suffix)
    text, constraints = (plan.files[f"{target.top}{suffix}"] for suffix in suffixes)
    return Pins(text=text, constraints=constraints)
