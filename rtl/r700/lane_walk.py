"""The walk of a unit over the lanes of a wavefront, one in each cycle."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS


def walk_members(lanes: int) -> dict[str, wiring.Member]:
    """Members of a unit that walks over so many lanes; see `walk`.

    Members
    -------
    start : ``In(1)``
        High until `done`.
    wanted : ``Out(range(lanes))``
        A lane, whose operands are the unit's inputs of the same cycle.
    valid, pixel, element : ``Out``
        A lane, and what was found for it in the low bits of the element.
    done : ``Out(1)``
    """
    return {
        "start": In(1),
        "wanted": Out(range(lanes)),
        "valid": Out(1),
        "pixel": Out(range(lanes)),
        "element": Out(WORDS),
        "done": Out(1),
    }


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
