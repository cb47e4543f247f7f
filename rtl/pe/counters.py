"""The performance counters: clocks, and clocks in which the array works. Source: CTM Guide pp. 5 and 12."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.isa.limits import WORD_BITS


class CounterControl(Interface):
    """The commands and the values of the performance counters, seen from the unit that commands.

    A command takes effect in the following cycle. At most one of them is high in a cycle, `keep` aside.

    Members
    -------
    initialise : ``Out(1)``
        Enable or disable the counters, as `enable` says.
    enable : ``Out(1)``
    start : ``Out(1)``
        Clear and run.
    stop : ``Out(1)``
    keep : ``Out(1)``
        Remember whether the counters are enabled and run.
    restore : ``Out(1)``
        Enabled and running as remembered. The numbers stay.
    enabled : ``In(1)``
    clocks, active : ``In(32)``
    """

    def __init__(self) -> None:
        commands = ("initialise", "enable", "start", "stop", "keep", "restore")
        values = {"enabled": In(1), "clocks": In(WORD_BITS), "active": In(WORD_BITS)}
        super().__init__({**dict.fromkeys(commands, Out(1)), **values})


class PerformanceCounters(wiring.Component):
    """Counts from `start` to `stop`, 32 bits that wrap; while not enabled neither does anything, and nothing counts.

    Members
    -------
    control : ``In(CounterControl())``
    works : ``In(1)``
        The array works in this cycle.
    """

    control: In(CounterControl())
    works: In(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        control = self.control
        runs, kept_enabled, kept_runs = Signal(), Signal(), Signal()
        with m.If(runs):
            m.d.sync += [control.clocks.eq(control.clocks + 1), control.active.eq(control.active + self.works)]
        with m.If(control.initialise):
            m.d.sync += [control.enabled.eq(control.enable), runs.eq(runs & control.enable)]
        with m.Elif(control.start & control.enabled):
            m.d.sync += [runs.eq(1), control.clocks.eq(0), control.active.eq(0)]
        with m.Elif(control.stop):
            m.d.sync += runs.eq(0)
        with m.Elif(control.restore):
            m.d.sync += [control.enabled.eq(kept_enabled), runs.eq(kept_runs)]
        with m.If(control.keep):
            m.d.sync += [kept_enabled.eq(control.enabled), kept_runs.eq(runs)]
        return m
