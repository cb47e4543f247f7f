"""The walk of a unit over the lanes of a wavefront, one in each cycle."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring


def walk(m: Module, unit: wiring.Component, lanes: int, latency: int) -> None:
    """Drive a unit's `wanted`, `valid`, `pixel` and `done` while its `start` is high.

    A lane is `wanted` in each cycle, and is the `pixel` that is `valid` `latency` cycles later; the last one is `done`.
    """
    count = Signal(range(lanes + latency))
    m.d.sync += count.eq(Mux(unit.start & ~unit.done, count + 1, 0))
    m.d.comb += [
        unit.wanted.eq(count),
        unit.done.eq(count == lanes + latency - 1),
        unit.valid.eq(unit.start & (count >= latency)),
        unit.pixel.eq(count - latency),
    ]
