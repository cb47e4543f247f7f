"""A component whose ports have names that stay what they are in C++."""

from collections.abc import Sequence
from typing import Any

from amaranth import ClockDomain, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.sim.compiled.verilog import Port


class Numbered(wiring.Component):
    """A component, its ports renamed to `port_0`, `port_1`, ..., because Verilator changes some names for C++.

    There always are a clock and a reset, even if the component uses none. `listed` are the component's ports as
    `ctm.sim.compiled.verilog.ports` gives them.
    """

    def __init__(self, component: wiring.Component, listed: Sequence[Port]) -> None:
        self._component, self._ports = component, listed
        members = {port_name(number): (In if port.is_input else Out)(port.width) for number, port in enumerate(listed)}
        super().__init__({"clk": In(1), "rst": In(1), **members})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        sync: Any = ClockDomain()
        m.domains.sync = sync
        m.d.comb += [sync.clk.eq(self.clk), sync.rst.eq(self.rst)]
        m.submodules.component = self._component
        for number, port in enumerate(self._ports):
            numbered: Value = getattr(self, port_name(number))
            m.d.comb += port.value.eq(numbered) if port.is_input else numbered.eq(port.value)
        return m


def port_name(number: int) -> str:
    """The name of a port by its index."""
    return f"port_{number}"
