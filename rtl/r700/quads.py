"""Quads of a wavefront's pixels."""

from amaranth import Module, Signal


def whole_quads(m: Module, mask: Signal) -> Signal:
    """Every pixel of the quads of which any is in `mask`."""
    result = Signal(len(mask), name="whole_quads")
    for first in range(0, len(mask), 4):
        m.d.comb += result[first : first + 4].eq(mask[first : first + 4].any().replicate(4))
    return result
