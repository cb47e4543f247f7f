"""Components as Verilog for simulation: clocks that stop, and each module once."""

from amaranth.lib import wiring

from ctm.rtl.lib.clock_gating import ClockGating
from ctm.sim.compiled.rewriting.repeated import merge
from ctm.sim.compiled.verilog import convert_to_rtlil, from_rtlil


def gated(component: wiring.Component, top: str) -> str:
    """Module `top`, and the modules that it is made of; errors as `from_rtlil`."""
    return from_rtlil(merge(convert_to_rtlil(component, top=top, platform=ClockGating(), is_shared=True), top))
