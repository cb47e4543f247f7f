"""Counters for the host."""

from amaranth import Array, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.host import COUNTERS, DRAW_COUNTERS
from ctm.rtl.isa.limits import QUAD, WORD_BITS
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.rings import next_index

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
    most |= dict.fromkeys(_PER_CORE, cores) | dict.fromkeys(_PER_LANE, cores * config.array.wavefront_lanes)
    most |= dict.fromkeys(_PER_BANK, config.shared_cache.banks) | dict.fromkeys(_PER_PORT, config.memory.local_ports)
    most["OUTPUT_LINES"] = config.output_cache.banks
    return data.StructLayout({name: range(count + 1) for name, count in most.items()})


def draw_steps(config: MachineConfig) -> data.StructLayout:
    """The increments of all counters of draws in a cycle."""
    lanes = config.array.wavefront_lanes
    most = dict.fromkeys(DRAW_COUNTERS, 1) | {"DRAW_PIXELS": lanes, "DRAW_QUADS": max(1, lanes // QUAD)}
    return data.StructLayout({name: range(count + 1) for name, count in most.items()})


class Counters(wiring.Component):
    """Counters that wrap, one for each field of `steps`.

    Recent steps of a counter are in an accumulator of a few bits. In each cycle one accumulator, round-robin, is added
    to its total, a row of distributed memory. `value` is the sum of both: that of all steps up to the last cycle's.

    Members
    -------
    steps : ``In(steps)``
    clear : ``In(1)``
    index : ``In(range(len(steps)))``
        A counter's index among the fields.
    value : ``Out(32)``
        That counter, combinationally.
    """

    def __init__(self, steps: data.StructLayout) -> None:
        self._names = [str(name) for name, _ in steps]
        count = len(self._names)
        super().__init__(
            {
                "steps": In(steps),
                "clear": In(1),
                "index": In(range(count)),
                "value": Out(WORD_BITS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        count, steps = len(self._names), Signal.like(self.steps)
        m.submodules.totals = totals = DistributedRam(WORD_BITS, count)
        # Rows have no reset: until its first addition a counter's total is 0, whatever its row holds.
        oldest, begun = Signal(range(count)), Signal(count)
        recent: list[Value] = []
        for number, name in enumerate(self._names):
            step = Value.cast(steps[name])
            accumulator = Signal(range(((1 << len(step)) - 1) * count + 1), name=f"recent_{name}")
            m.d.sync += accumulator.eq(Mux(oldest == number, 0, accumulator) + step)
            with m.If(self.clear):
                m.d.sync += accumulator.eq(0)
            recent.append(accumulator)

        def sum_of(index: Value) -> Value:
            total = Mux(begun.bit_select(index, 1), totals.read(m, index), 0)
            return Value.cast(total + Array(recent)[index])[:WORD_BITS]

        totals.write(m, oldest, sum_of(oldest), Const(1))
        m.d.comb += self.value.eq(sum_of(self.index))
        m.d.sync += [
            steps.eq(self.steps),
            oldest.eq(next_index(oldest, count)),
            begun.bit_select(oldest, 1).eq(1),
        ]
        with m.If(self.clear):
            m.d.sync += [steps.eq(0), begun.eq(0)]
        return m
