"""A board without a machine, whose synthesis takes a minute: bridge and memory, and registers without a target."""

from typing import Any

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.board.board import HOST, MACHINE
from ctm.rtl.board.bridge import Bridge, BridgeConfig
from ctm.rtl.board.top import BOARD, MEMORY_BYTES
from ctm.rtl.config import PRESETS
from ctm.rtl.ctm import connect_memory, memory_members
from ctm.rtl.isa.link import BAUD
from ctm.sim.boards.controller import generate
from ctm.sim.boards.design import Design, pins
from ctm.sim.boards.target import ULX3S, Target
from ctm.sim.compiled.verilog import convert_to_rtlil

DATA_BITS = PRESETS[ULX3S.preset].memory.data_bits


class MemoryBoard(wiring.Component):
    """Has the members of a `Board`."""

    def __init__(self, frequency: int, baud: int) -> None:
        self._bridge = Bridge(
            BridgeConfig(
                frequency=frequency, baud=baud, memory_bytes=MEMORY_BYTES, data_bits=DATA_BITS, fingerprint=0
            )
        )  # fmt: skip
        members: dict[str, Any] = {"receive": In(1), "transmit": Out(1)}
        for prefix in (MACHINE, HOST):
            members |= memory_members(prefix, DATA_BITS)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.bridge = bridge = self._bridge
        connect_memory(m, self, HOST, bridge.bus, DATA_BITS)
        # An input without a driver is open on an FPGA, and then 1.
        for name, member in memory_members(MACHINE, DATA_BITS).items():
            if member.flow is Out:
                m.d.comb += getattr(self, name).eq(0)
        m.d.comb += [bridge.receive.eq(self.receive), self.transmit.eq(bridge.transmit)]
        return m


def memory_design(frequency: int | None = None, target: Target = ULX3S, *, baud: int = BAUD) -> Design:
    """A board with its memory and a bridge to it."""
    clock = target.clock(frequency)
    controller = generate(frequency=clock, data_bits=DATA_BITS, input_cycles=target.input_cycles)
    return Design(
        target=target, pins=pins(target, data_bits=DATA_BITS, frequency=clock, steps=controller.steps),
        frequency=clock, board=convert_to_rtlil(MemoryBoard(clock, baud), top=BOARD), controller=controller.verilog,
    )  # fmt: skip
