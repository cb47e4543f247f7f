"""The walk of a unit over the pixels of a slice, one in each cycle."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.interface import Interface


class PixelWalk(Interface):
    """The port of a unit that finds an element for each of so many pixels, seen from the unit.

    Members
    -------
    start : ``In(1)``
        High until `done`.
    wanted : ``Out(range(pixels))``
        A pixel, whose operands are the unit's inputs of the same cycle.
    valid, pixel, element : ``Out``
        A pixel, and the element that was found for it, from the lowest bit on.
    done : ``Out(1)``
    """

    def __init__(self, pixels: int) -> None:
        self.pixels = pixels
        super().__init__(
            {
                "start": In(1),
                "wanted": Out(range(pixels)),
                "valid": Out(1),
                "pixel": Out(range(pixels)),
                "element": Out(WORDS),
                "done": Out(1),
            }
        )


def count_walk(m: Module, walk: wiring.PureInterface, latency: int) -> None:
    """Drive `wanted`, `valid`, `pixel` and `done` of a `PixelWalk` while its `start` is high.

    A pixel is `wanted` in each cycle, and is the `pixel` that is `valid` `latency` cycles later; the last one is
    `done`.
    """
    pixels = walk.signature.pixels
    count = Signal(range(pixels + latency))
    m.d.sync += count.eq(Mux(walk.start & ~walk.done, count + 1, 0))
    m.d.comb += [
        walk.wanted.eq(count),
        walk.done.eq(count == pixels + latency - 1),
        walk.valid.eq(walk.start & (count >= latency)),
        walk.pixel.eq(count - latency),
    ]
