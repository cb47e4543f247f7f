"""The machine with a register at each input, so that a compiled model computes nothing when an input changes.

A model computes logic that depends on unregistered inputs twice: when they change, and after the edge. As the reset is
an input, that is most of the next state. An engine knows the inputs of a cycle before the edge at which it begins. With
registers, all logic is computed once: after the edge, or, in gated units (`ctm.rtl.lib.clock_gating`), when the clock
falls.
"""

from typing import Any

from amaranth import ClockDomain, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Flow, In

from ctm.rtl.config import MachineConfig
from ctm.rtl.ctm import Ctm
from ctm.rtl.dpp.array import CoreMaker


class Sampled(wiring.Component):
    """`Ctm`, all of whose inputs take effect at the next rising edge of `clk`.

    The reset's register starts as 1, so that the first edge resets.

    Members
    -------
    clk, rst : ``In(1)``
    irq and so on
        As those of `Ctm`.
    """

    def __init__(self, config: MachineConfig, core: CoreMaker) -> None:
        self.ctm = Ctm(config, core)
        self.reset = Signal(init=1)
        super().__init__({"clk": In(1), "rst": In(1), **self.ctm.signature.members})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        sync: Any = ClockDomain()
        inputs: Any = ClockDomain(reset_less=True)
        m.domains.sync, m.domains.inputs = sync, inputs
        m.d.inputs += self.reset.eq(self.rst)
        m.d.comb += [sync.clk.eq(self.clk), inputs.clk.eq(self.clk), sync.rst.eq(self.reset)]
        m.submodules.ctm = self.ctm
        for name, member in self.ctm.signature.members.items():
            outer, inner = getattr(self, name), getattr(self.ctm, name)
            if member.flow is Flow.In:
                m.d.inputs += inner.eq(outer)
            else:
                m.d.comb += outer.eq(inner)
        return m
