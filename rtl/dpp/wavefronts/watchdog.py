"""Counts the instructions of each wavefront, for the watchdog."""

from amaranth import Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.ram import LazyTable


class Watchdog(wiring.Component):
    """Counts what the wavefront of each wave slot executes. Combinational but for the counts.

    Each port has counters of its own, so that every counter has one writer and fits distributed RAM. A wavefront's
    count is their sum.

    Members
    -------
    most : ``In(32)``
        Instructions that a wavefront may execute, 0 = any.
    begin : ``In({valid, wave})``
        A wavefront that has executed none; not in a cycle in which it executes one.
    executed : ``In({valid, wave})`` for each port
        A wavefront has executed one more; no two of one wave slot in a cycle.
    expires : ``Out(1)`` for each port
        That was the last one that it may execute. Undefined unless its `executed` is valid.
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
        for port, table in enumerate(counts):
            m.submodules[f"counts_{port}"] = table
            table.start(m, self.begin.wave, self.begin.valid)
        for port, executed in enumerate(self.executed):
            before = [table.read(m, executed.wave) for table in counts]
            counts[port].write(m, executed.wave, (before[port] + 1)[:WORD_BITS], executed.valid)
            now = Value.cast(sum(before) + 1)[:WORD_BITS]
            m.d.comb += self.expires[port].eq((self.most != 0) & (now == self.most))
        return m
