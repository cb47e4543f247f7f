"""Components as Verilog for simulation: each module once, and clocks that stop."""

from amaranth.lib import wiring

from ctm.rtl.lib.clock_gating import ClockGating
from ctm.sim.compiled.rewriting.repeated import merge
from ctm.sim.compiled.verilog import convert_to_rtlil, from_rtlil


def merged(component: wiring.Component, top: str, *, platform: object = None) -> str:
    """Module `top`, and the modules that it is made of, of those that are the same only one; errors as `from_rtlil`.

    Tools read and compile less of it than of what `convert` gives; only names inside are others.
    """
    return from_rtlil(merge(convert_to_rtlil(component, top=top, platform=platform, is_shared=True), top))


def gated(component: wiring.Component, top: str) -> str:
    """The same with clocks that stop."""
    return merged(component, top, platform=ClockGating())
