"""The performance counters: clocks, and clocks in which the array works. Source: CTM Guide pp. 5 and 12."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import WORD_BITS


class PerformanceCounters(wiring.Component):
    """Counts from `start` to `stop`, 32 bits that wrap; while not enabled neither does anything, and nothing counts.

    A command takes effect in the following cycle. At most one of the commands is high in a cycle.

    Members
    -------
    initialise : ``In(1)``
        Enable or disable, as `enable` says.
    enable : ``In(1)``
    start : ``In(1)``
        Clear and run.
    stop : ``In(1)``
    keep : ``In(1)``
        Remember whether the counters are enabled and run.
    restore : ``In(1)``
        Enabled and running as remembered. The numbers stay.
    works : ``In(1)``
        The array works in this cycle.
    enabled : ``Out(1)``
    clocks, active : ``Out(32)``
    """

    initialise: In(1)
    enable: In(1)
    start: In(1)
    stop: In(1)
    keep: In(1)
    restore: In(1)
    works: In(1)
    enabled: Out(1)
    clocks: Out(WORD_BITS)
    active: Out(WORD_BITS)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        runs, kept_enabled, kept_runs = Signal(), Signal(), Signal()
        with m.If(runs):
            m.d.sync += [self.clocks.eq(self.clocks + 1), self.active.eq(self.active + self.works)]
        with m.If(self.initialise):
            m.d.sync += [self.enabled.eq(self.enable), runs.eq(runs & self.enable)]
        with m.Elif(self.start & self.enabled):
            m.d.sync += [runs.eq(1), self.clocks.eq(0), self.active.eq(0)]
        with m.Elif(self.stop):
            m.d.sync += runs.eq(0)
        with m.Elif(self.restore):
            m.d.sync += [self.enabled.eq(kept_enabled), runs.eq(kept_runs)]
        with m.If(self.keep):
            m.d.sync += [kept_enabled.eq(self.enabled), kept_runs.eq(runs)]
        return m
