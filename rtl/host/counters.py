"""Counters for the host."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.host import COUNTERS
from ctm.rtl.isa.limits import WORD_BITS

_PER_LANE = ("PROCESSORS", "LANES_ALU", "LANES_TEX", "LANES_FC")
_PER_CORE = (
    *("ISSUED_ALU", "ISSUED_TEX", "ISSUED_FC", "INPUT_HITS", "INPUT_MISSES"),
    *(name for name in COUNTERS if name.startswith("STALL_")),
)
_PER_BANK = ("SHARED_HITS", "SHARED_MISSES")
_PER_PORT = ("LOCAL_READ_BEATS", "LOCAL_WRITE_BEATS")


def counter_steps(config: MachineConfig) -> data.StructLayout:
    """The increments of all counters in a cycle."""
    cores = config.array.cores
    most = dict.fromkeys(COUNTERS, 1)
    most |= dict.fromkeys(_PER_CORE, cores) | dict.fromkeys(_PER_LANE, cores * config.array.group)
    most |= dict.fromkeys(_PER_BANK, config.shared_cache.banks) | dict.fromkeys(_PER_PORT, config.memory.local_ports)
    most["OUTPUT_LINES"] = config.output_cache.banks
    return data.StructLayout({name: range(count + 1) for name, count in most.items()})


class Counters(wiring.Component):
    """All counters; they wrap.

    Members
    -------
    steps : ``In(counter_steps(config))``
    clear : ``In(1)``
    values : ``Out(32)`` for each, in the order of `COUNTERS`
    """

    def __init__(self, config: MachineConfig) -> None:
        super().__init__(
            {
                "steps": In(counter_steps(config)),
                "clear": In(1),
                "values": Out(data.ArrayLayout(WORD_BITS, len(COUNTERS))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        steps = Signal.like(self.steps)
        m.d.sync += steps.eq(self.steps)
        for name, value in zip(COUNTERS, self.values, strict=True):
            m.d.sync += value.eq(value + Value.cast(steps[name]))
        with m.If(self.clear):
            m.d.sync += [self.values.eq(0), steps.eq(0)]
        return m
