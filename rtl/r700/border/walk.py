"""The walk of a unit over the pixels of a slice, one in each cycle."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.interface import Interface


class PixelWalk(Interface):
    """The port of a unit that finds an element for each of `pixels` pixels, seen from the unit.

    Pixels are walked in order, and an element is found at most once for each. The class of the unit says what an
    element is, how many cycles a walk takes, and for which pixels there is none.

    Members
    -------
    start : ``In(1)``
        High from the first cycle of a walk to that of `done`; the unit is idle while it is low.
    wanted : ``Out(range(pixels))``
        The pixel whose operands the unit reads from its other inputs in the same cycle.
    valid : ``Out(1)``
        An element was found.
    pixel : ``Out(range(pixels))``
        The pixel whose element it is.
    element : ``Out(WORDS)``
        The element, from the lowest bit on.
    done : ``Out(1)``
        The last cycle of the walk, which may still be `valid`.
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

    Another pixel is `wanted` in each cycle, and is the `valid` `pixel` `latency` cycles later. A walk takes a cycle for
    each pixel and `latency` more.
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
