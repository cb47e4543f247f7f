"""Registers around a unit, so that whatever is measured lies between two registers."""

from typing import Any

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.sim.compiled.verilog import ports

ENCLOSURE = "enclosure"
"""An attribute of the enclosure's registers, by which they are known in a netlist."""
OPERAND, RESULT = "operand_", "result_"
"""How the names of these registers begin."""


class Enclosure(wiring.Component):
    """A unit with one register on each bit of its ports; ports are `port_0`, `port_1`, ... in the unit's order.

    The registers have no reset. They are called ``operand_<port>`` and ``result_<port>``, the unit itself `unit`.
    """

    def __init__(self, unit: wiring.Component) -> None:
        self._unit, self._ports = unit, list(ports(unit))
        super().__init__(
            {f"port_{number}": (In if port.is_input else Out)(port.width) for number, port in enumerate(self._ports)}
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.unit = self._unit
        for number, port in enumerate(self._ports):
            outer: Any = getattr(self, f"port_{number}")
            kind = OPERAND if port.is_input else RESULT
            # Where a net has several names Yosys drops some, but none with "keep".
            attributes = {ENCLOSURE: 1, "keep": 1}
            register = Signal(port.width, name=kind + port.name, reset_less=True, attrs=attributes)
            m.d.sync += register.eq(outer if port.is_input else port.value)
            m.d.comb += port.value.eq(register) if port.is_input else outer.eq(register)
        return m
