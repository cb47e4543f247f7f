"""Counts the instructions of each wavefront, for the watchdog."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.ram import LazyTable
from ctm.rtl.lib.views import record


class Watchdog(wiring.Component):
    """Counts what the wavefront of each wave slot executes.

    Each port has counters of its own, so that every counter has one writer and fits distributed RAM. A wavefront's
    count is their sum. It is known a cycle after an instruction whether the next one is the last, so that `expires` is
    a bit of a register.

    Members
    -------
    most : ``In(32)``
        Instructions that a wavefront may execute, 0 = any.
    begin : ``In({valid, wave})``
        A wavefront that has executed none; not in a cycle in which its wave slot's executes one.
    executed : ``In({valid, wave})`` for each port
        A wavefront has executed one more; no two of one wave slot in a cycle, nor in two consecutive ones.
    expires : ``Out(1)`` for each port
        That was the last one that it may execute, in its cycle. Undefined unless its `executed` is valid.
    """

    def __init__(self, config: ArrayConfig, ports: int) -> None:
        self._threads, self._ports = config.threads, ports
        at_wave = data.StructLayout({"valid": 1, "wave": wave_bits(config)})
        super().__init__(
            {
                "most": In(WORD_BITS),
                "begin": In(at_wave),
                "executed": In(at_wave).array(ports),
                "expires": Out(1).array(ports),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        counts = [LazyTable(WORD_BITS, self._threads) for _ in range(self._ports)]
        last = Signal(self._threads)
        """Wave slots whose next instruction is the last one."""
        for port, table in enumerate(counts):
            m.submodules[f"counts_{port}"] = table
            table.start(m, self.begin.wave, self.begin.valid)
        for port, executed in enumerate(self.executed):
            m.d.comb += self.expires[port].eq(last.bit_select(executed.wave, 1))
            counted: data.View = record(executed.shape(), name=f"counted_{port}")
            m.d.sync += counted.eq(executed)
            # Another wavefront may begin in the wave slot in the cycle after the last instruction of this one.
            counts_on = counted.valid & ~(self.begin.valid & (self.begin.wave == counted.wave))
            before = [table.read(m, counted.wave) for table in counts]
            counts[port].write(m, counted.wave, (before[port] + 1)[:WORD_BITS], counts_on)
            following = Value.cast(sum(before) + 2)[:WORD_BITS]
            with m.If(counts_on):
                m.d.sync += last.bit_select(counted.wave, 1).eq((self.most != 0) & (following == self.most))
        with m.If(self.begin.valid):
            m.d.sync += last.bit_select(self.begin.wave, 1).eq(self.most == 1)
        return m
