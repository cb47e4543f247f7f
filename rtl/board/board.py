"""A board's FPGA without its clock and its memory's controller."""

from typing import Any

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from ctm.rtl.board.bounds import MemoryBounds
from ctm.rtl.board.bridge import Bridge, BridgeConfig
from ctm.rtl.board.identity import fingerprint
from ctm.rtl.config import MachineConfig
from ctm.rtl.ctm import connect_memory, memory_members
from ctm.rtl.dpp.array import CoreMaker
from ctm.rtl.dpp.core_module import CoreModule
from ctm.rtl.machine import Machine

MACHINE, HOST = "m_axi_machine", "m_axi_host"
"""The memory ports: that of the machine, and that of the bridge."""


def bridge_config(config: MachineConfig, *, frequency: int, baud: int, memory_bytes: int) -> BridgeConfig:
    """The bridge of a board with this machine; `ValueError` if the machine has not one memory port."""
    memory = config.memory
    if len(memory.ports) != 1:
        raise ValueError(f"a board has one memory: memory.split and memory.local_ports give {len(memory.ports)}")
    return BridgeConfig(
        frequency=frequency, baud=baud, memory_bytes=memory_bytes, data_bits=memory.data_bits,
        fingerprint=fingerprint(config),
    )  # fmt: skip


class Board(wiring.Component):
    """The machine, with one memory port, and a bridge from a serial line to it.

    Both memory ports have to reach the same memory, which begins at address 0. Requests beyond it do not leave.

    Members
    -------
    receive : ``In(1)``
    transmit : ``Out(1)``
    m_axi_machine_*, m_axi_host_* : AXI4 manager ports, see docs/integration.md
    """

    def __init__(
        self, config: MachineConfig, *, frequency: int, baud: int, memory_bytes: int, core: CoreMaker = CoreModule
    ) -> None:
        bridge = bridge_config(config, frequency=frequency, baud=baud, memory_bytes=memory_bytes)
        self._data_bits = data_bits = config.memory.data_bits
        self._bridge = Bridge(bridge)
        self._machine = Machine(config, core)
        self._bounds = {prefix: MemoryBounds(memory_bytes, data_bits) for prefix in (MACHINE, HOST)}
        members: dict[str, Any] = {"receive": In(1), "transmit": Out(1)}
        for prefix in self._bounds:
            members |= memory_members(prefix, data_bits)
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.machine = machine = self._machine
        m.submodules.bridge = bridge = self._bridge
        connect(m, bridge.control, machine.control)
        for name, prefix, bus in (("machine", MACHINE, machine.buses[0]), ("host", HOST, bridge.bus)):
            m.submodules[f"{name}_bounds"] = bounds = self._bounds[prefix]
            connect(m, bus, bounds.inner)
            connect_memory(m, self, prefix, bounds.outer, self._data_bits)
        written = self._bounds[MACHINE].outer.aw
        m.d.comb += [
            bridge.receive.eq(self.receive),
            self.transmit.eq(bridge.transmit),
            bridge.write.valid.eq(written.valid & written.ready),
            bridge.write.address.eq(written.payload.address),
        ]
        return m
