"""Rings: memory in which programs pass vertices on.

Source: docs/draws.md, rings.
"""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.border.shading import DWORD_BITS, ITEM_BITS, RING_WRITE
from ctm.rtl.isa.draws import LEAST_RING_ITEMS, Ring
from ctm.rtl.isa.limits import WORD_BITS


class RingFit(Interface):
    """How many items of a draw fit into each ring, seen from the rings.

    Members
    -------
    ready : ``Out(1)``
        `most` is known.
    most : ``Out(range(most + 1))`` for each ring
        Items that fit, up to the most that can be used.
    """

    def __init__(self, most: int) -> None:
        super().__init__({"ready": Out(1), "most": Out(data.ArrayLayout(range(most + 1), len(Ring)))})


class Rings(wiring.Component):
    """Keeps where rings are, and finds how many items of a draw fit into each.

    Members
    -------
    write : ``In(RING_WRITE)``
        A command sets a ring; not during a draw.
    items : ``In(ITEM_BITS)`` for each ring
        Dwords of an item; constant from `begin` to the end of the draw.
    begin : ``In(1)``
        A draw begins.
    fit : ``Out(RingFit(most))``
        Ready up to `most` + 1 cycles after `begin`.
    dwords : ``Out(30)`` for each ring
        The first dword of each.
    is_small : ``Out(1)``
        The items of a wavefront do not fit into their ring. Combinational.
    """

    def __init__(self, lanes: int, most: int) -> None:
        self._least, self._most = max(lanes, LEAST_RING_ITEMS), most
        rings = len(Ring)
        super().__init__(
            {
                "write": In(RING_WRITE),
                "items": In(data.ArrayLayout(ITEM_BITS, rings)),
                "begin": In(1),
                "fit": Out(RingFit(most)),
                "dwords": Out(data.ArrayLayout(DWORD_BITS, rings)),
                "is_small": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        ready, small = [], []
        for number, (item, most, dword) in enumerate(zip(self.items, self.fit.most, self.dwords, strict=True)):
            size = Signal(WORD_BITS, name=f"size_{number}")
            used = Signal(ITEM_BITS + len(most), name=f"used_{number}")
            with m.If(self.write.valid & (self.write.number == number)):
                m.d.sync += [size.eq(self.write.dwords), dword.eq(self.write.dword)]
            small.append(item * self._least > size)
            done = (most == self._most) | (used + item > size)
            with m.If(self.begin):
                m.d.sync += [most.eq(0), used.eq(0)]
            with m.Elif(~done):
                m.d.sync += [most.eq(most + 1), used.eq(used + item)]
            ready.append(done)
        m.d.comb += [self.fit.ready.eq(Cat(ready).all() & ~self.begin), self.is_small.eq(Cat(small).any())]
        return m
